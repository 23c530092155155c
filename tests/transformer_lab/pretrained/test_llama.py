"""Tests for loading Llama's attention dropout, and the rotary options and tensors of older versions."""

import json

import torch
from safetensors.torch import load_file, save_file

from tests.transformer_lab.pretrained.small_checkpoints import LLAMA, VARIANTS, difference, drawn
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.llama import LLAMA as LLAMA_LAYOUT
from transformer_lab.pretrained.load import load_language_model


def test_converts_attention_dropout():
    config = LLAMA_LAYOUT.config_of(Options(LLAMA | {"attention_dropout": 0.3}, "config.json"))
    assert (config.dropout, config.attention_dropout) == (0.0, 0.3)
    assert LLAMA_LAYOUT.options_of(config)["attention_dropout"] == 0.3


def test_accepts_stored_frequencies_and_old_rope_theta(tmp_path):
    theirs = drawn(VARIANTS["Llama, short waves"])
    theirs.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["rope_parameters"], config["head_dim"], config["attention_bias"], config["mlp_bias"]
    (tmp_path / "config.json").write_text(json.dumps(config | {"rope_theta": 30.0}))
    tensors = load_file(tmp_path / "model.safetensors")
    frequencies = {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(2) for i in range(2)}
    save_file(tensors | frequencies, tmp_path / "model.safetensors")
    assert difference(load_language_model(tmp_path), theirs) < 1e-4
