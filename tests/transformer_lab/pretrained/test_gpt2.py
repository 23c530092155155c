"""Tests for loading GPT-2's dropout options, and the tensor names and dtypes in published files."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.transformer_lab.pretrained.small_checkpoints import GPT2, VARIANTS, difference, drawn
from transformer_lab.pretrained import gpt2
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.load import load_language_model


def test_converts_dropout():
    options = {"resid_pdrop": 0.2, "embd_pdrop": 0.2, "attn_pdrop": 0.3}
    config = gpt2.config_of(Options(GPT2 | options, "config.json"))
    assert (config.dropout, config.attention_dropout) == (0.2, 0.3)
    assert options.items() <= gpt2.options_of(config).items()


@pytest.fixture
def theirs(tmp_path):
    model = drawn(VARIANTS["GPT-2"])
    model.save_pretrained(tmp_path)
    return model


def edit(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path)


def test_accepts_names_without_prefix(theirs, tmp_path):
    edit(tmp_path, lambda tensors: {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()})
    assert difference(load_language_model(tmp_path), theirs) < 1e-4


def test_ignores_stored_masks(theirs, tmp_path):
    masks = {"transformer.h.1.attn.bias": torch.ones(1, 1, 29, 29), "transformer.h.1.attn.masked_bias": torch.ones(1)}
    edit(tmp_path, lambda tensors: tensors | masks)
    assert difference(load_language_model(tmp_path), theirs) < 1e-4


def test_tied_head_may_be_stored_twice_or_alone(theirs, tmp_path):
    embeddings, head = "transformer.wte.weight", "lm_head.weight"
    edit(tmp_path, lambda tensors: tensors | {head: tensors[embeddings].clone()})
    assert difference(load_language_model(tmp_path), theirs) < 1e-4
    edit(tmp_path, lambda tensors: {name: tensor for name, tensor in tensors.items() if name != embeddings})
    assert difference(load_language_model(tmp_path), theirs) < 1e-4


def test_rejects_tied_head_that_differs_from_the_embeddings(theirs, tmp_path):
    edit(tmp_path, lambda tensors: tensors | {"lm_head.weight": tensors["transformer.wte.weight"] + 1})
    with pytest.raises(ValueError, match=r"lm_head.weight and transformer.wte.weight differ but must be equal"):
        load_language_model(tmp_path)


def test_half_precision_becomes_float32(theirs, tmp_path):
    theirs.bfloat16()
    edit(tmp_path, lambda tensors: {name: tensor.bfloat16() for name, tensor in tensors.items()})
    ours = load_language_model(tmp_path)
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}
    assert difference(ours, theirs.float()) < 1e-4
