"""Tests that the folder converted from a GGUF file gives the same logits and token IDs as the original model."""

import json

import gguf
import pytest
import torch
from torch.testing import assert_close

from tests.transformer_course.published_models.small_gguf import SPECIAL, TEXTS, make_model, make_tokenizer, write_gguf
from transformer_course.published_models.gguf_folder import convert_gguf
from transformer_lab.pretrained.load import load_language_model
from transformer_lab.text.text_generator import TextGenerator

TOKENIZER = make_tokenizer()
KINDS = {kind.name: kind for kind in gguf.GGMLQuantizationType}


def converted(folder, model, **options):
    write_gguf(folder / "model.gguf", model, TOKENIZER, **options)
    convert_gguf(folder / "model.gguf", folder / "model")
    return folder / "model"


@torch.no_grad()
@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0", "Q4_1"])
@pytest.mark.parametrize("tied", [True, False])
def test_logits_match_transformers(tmp_path, kind, tied):
    theirs = make_model(TOKENIZER.get_vocab_size(), tied)
    ours = load_language_model(converted(tmp_path, theirs, quantization=KINDS[kind]))
    tokens = torch.randint(3, TOKENIZER.get_vocab_size(), (3, 29))
    assert_close(ours(tokens), theirs(tokens).logits, atol=1e-3, rtol=1e-3)


def test_token_ids_match_original_tokenizer(tmp_path):
    text = TextGenerator.load(converted(tmp_path, make_model(TOKENIZER.get_vocab_size())))
    for prompt in [*TEXTS, "".join(SPECIAL), f"<|im_start|>user\n{TEXTS[0]}<|im_end|>\n", "12345 \n\n  日本 😀"]:
        ids = TOKENIZER.encode(prompt).ids
        assert text.tokenizer.encode(prompt).ids == ids
        assert text.tokenizer.decode(ids) == TOKENIZER.decode(ids)
    assert text.bos_id == 1
    assert text.eos_ids == [2]


def test_options_match_original_config(tmp_path):
    theirs = make_model(TOKENIZER.get_vocab_size())
    folder = converted(tmp_path, theirs)
    options = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    expected = theirs.config.to_dict() | {"architectures": ["LlamaForCausalLM"], "rope_theta": 50.0}
    assert {name: expected[name] for name in options} == options
    assert (folder / "chat_template.jinja").read_text(encoding="utf-8") == "{{ messages }}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": "gemma"}, "architecture llama; got 'gemma'"),
        ({"pre": "llama-bpe"}, "must be 'gpt2' with 'gpt-2' or 'smollm'; got 'gpt2' with 'llama-bpe'"),
        ({"extra": ("rope_freqs.weight",)}, "contains the tensor rope_freqs.weight, which this library's Llama models"),
    ],
    ids=["architecture", "tokenizer", "tensor"],
)
def test_rejects_unsupported_files(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        converted(tmp_path, make_model(TOKENIZER.get_vocab_size()), **options)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kept", [0, 3, 100, 5000])
def test_rejects_truncated_file(tmp_path, kept):
    path = tmp_path / "model.gguf"
    write_gguf(path, make_model(TOKENIZER.get_vocab_size()), TOKENIZER)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"model.gguf is not a valid GGUF file"):
        convert_gguf(path, tmp_path / "model")
