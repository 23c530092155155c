"""What is Llama's own: rotary positions that are scaled, and how older versions say things."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.transformer_lab.pretrained.small_checkpoints import LLAMA, VARIANTS, difference, drawn
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.llama import LLAMA as LLAMA_LAYOUT
from transformer_lab.pretrained.load import load_language_model

REFUSED = {
    "rope_parameters": (
        {"rope_type": "yarn", "factor": 8.0},
        "rope_parameters: .*rope_type='yarn'; only rope_type='default' or 'linear' or 'llama3'",
    ),
    "rope_scaling": ({"type": "dynamic", "factor": 2.0}, "rope_scaling: .*type='dynamic'; only"),
    "rope_scaling without a factor": ({"rope_type": "linear"}, "factor=0"),
    "rope_scaling of a part": ({"rope_type": "linear", "factor": 2.0, "partial_rotary_factor": 0.5}, "partial_rotary"),
    "layer_types": (["full_attention"] * 2, "layer_types=.*; only layer_types=None"),
    "rope_scaling of no type": ({"factor": 2.0}, "factor=2.0; only factor=1.0"),
    "rope_scaling of no kind": ("yarn", "rope_scaling must be an object; got 'yarn'"),
    "partial_rotary_factor": (0.5, "partial_rotary_factor=0.5; only"),
    "head_dim": (7, "even number of features in each head; got d_k=7"),
    "mlp_bias": (True, "mlp_bias=True; only mlp_bias=False"),
    "hidden_act": ("gelu", "hidden_act='gelu'; only hidden_act='silu' or 'swish' or"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_ours_lack_are_named(name):
    value, says = REFUSED[name]
    with pytest.raises(ValueError, match=f"{says}"):
        LLAMA_LAYOUT.config_of(Options(LLAMA | {name.split()[0]: value}, "config.json"))


@pytest.mark.parametrize(
    "options",
    [
        {"rope_theta": 30},
        {"rope_theta": 30.0, "rope_scaling": None},
        {"rope_parameters": {"rope_theta": 30.0, "rope_type": "default"}},
        {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 30.0}},
    ],
    ids=["beside the others", "not stretched", "in their own place", "in both, of which the new one counts"],
)
def test_the_base_of_rotary_positions_is_found_where_versions_keep_it(options):
    assert LLAMA_LAYOUT.config_of(Options(LLAMA | options, "config.json")).rotary_base == 30.0


def test_dropout_of_attention_is_taken_over_and_other_dropout_there_is_none():
    config = LLAMA_LAYOUT.config_of(Options(LLAMA | {"attention_dropout": 0.3}, "config.json"))
    assert (config.dropout, config.attention_dropout) == (0.0, 0.3)
    assert LLAMA_LAYOUT.options_of(config)["attention_dropout"] == 0.3


def test_frequencies_may_be_stored_and_the_base_said_the_old_way(tmp_path):
    theirs = drawn(VARIANTS["Llama, short waves"])
    theirs.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["rope_parameters"], config["head_dim"], config["attention_bias"], config["mlp_bias"]
    (tmp_path / "config.json").write_text(json.dumps(config | {"rope_theta": 30.0}))
    tensors = load_file(tmp_path / "model.safetensors")
    frequencies = {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(2) for i in range(2)}
    save_file(tensors | frequencies, tmp_path / "model.safetensors")
    assert difference(load_language_model(tmp_path), theirs) < 1e-4


def test_a_model_without_its_last_layer_is_refused(tmp_path):
    drawn(VARIANTS["Llama"]).model.save_pretrained(tmp_path)
    assert "layers.0.mlp.up_proj.weight" in load_file(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"does not fit its configuration: lm_head.weight is missing$"):
        load_language_model(tmp_path)
