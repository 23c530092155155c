"""Test that changing any option of a published language model matches ``transformers`` or is rejected."""

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig

from tests.helpers.thoroughness import one_in
from tests.transformer_lab.pretrained.small_checkpoints import (
    GEMMA3,
    GPT2,
    LLAMA,
    LLAMA3_ROPE,
    PAD,
    Published,
    difference,
    drawn,
    logits,
)
from transformer_lab.attention.positions import LinearScaling, Llama3Scaling
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.pretrained.load import load_language_model, save_pretrained

Changes = dict[str, list[Any]]

WITHOUT_EFFECT: Changes = {
    "initializer_range": [0.5], "use_cache": [False], "pad_token_id": [5], "bos_token_id": [7],
    "eos_token_id": [[7, 8], None],
}  # fmt: skip
ROTARY = [
    {"rope_type": "default", "rope_theta": 30.0},
    {"rope_theta": 30.0},
    {"rope_type": "linear", "rope_theta": 30.0, "factor": 3.0},
    LLAMA3_ROPE,
    {name: value for name, value in LLAMA3_ROPE.items() if name != "original_max_position_embeddings"},
]
OTHER_ROTARY = [
    {"rope_type": "dynamic", "rope_theta": 30.0, "factor": 2.0},
    {"rope_type": "yarn", "rope_theta": 30.0, "factor": 2.0, "original_max_position_embeddings": 29},
    {"rope_type": "longrope", "rope_theta": 30.0, "factor": 2.0, "long_factor": [2.0, 2.0], "short_factor": [1.0, 1.0],
     "original_max_position_embeddings": 29},
]  # fmt: skip
SHARED: Changes = WITHOUT_EFFECT | {
    "vocab_size": [41], "hidden_size": [36], "intermediate_size": [23], "num_hidden_layers": [1, 3],
    "num_attention_heads": [12, 3], "num_key_value_heads": [6, 1, 2], "hidden_act": ["swish", "gelu_pytorch_tanh"],
    "max_position_embeddings": [31], "rms_norm_eps": [0.1], "tie_word_embeddings": [True], "rope_parameters": ROTARY,
    "attention_dropout": [0.3, 1],
}  # fmt: skip
WINDOWS: Changes = {
    "use_sliding_window": [True],
    "sliding_window": [3],
    "max_window_layers": [1],
    "layer_types": [["full_attention", "full_attention"]],
}
UNSUPPORTED_SHARED: Changes = {"hidden_act": ["gelu", "relu"], "rope_parameters": OTHER_ROTARY}
GATED = {name: SHARED[name] for name in SHARED if name != "hidden_act"} | {"hidden_activation": ["gelu_new", "silu"]}
SUPPORTED: dict[str, Changes] = {
    "GPT2Config": WITHOUT_EFFECT | {
        "vocab_size": [41], "n_positions": [31], "n_embd": [36], "n_layer": [1, 3], "n_head": [3],
        "n_inner": [23, None], "activation_function": ["relu", "silu", "gelu"], "attn_pdrop": [0.3],
        "layer_norm_epsilon": [0.1], "tie_word_embeddings": [False], "reorder_and_upcast_attn": [True],
        "summary_type": ["mean"], "summary_use_proj": [False], "summary_activation": ["tanh"],
        "summary_proj_to_labels": [False], "summary_first_dropout": [0.3],
    },
    "LlamaConfig": SHARED | {"head_dim": [6, 10, None], "attention_bias": [True], "pretraining_tp": [2]},
    "MistralConfig": SHARED | {"head_dim": [6, 10, None], "sliding_window": [3, 1, None]},
    "Qwen2Config": SHARED | WINDOWS,
    "Qwen3Config": SHARED | WINDOWS | {"head_dim": [4, 6], "attention_bias": [True]},
    "Gemma3TextConfig": GATED | {
        "tie_word_embeddings": [False], "attention_bias": [True], "sliding_window": [3, 1],
        "layer_types": [["full_attention", "sliding_attention"], ["full_attention"] * 2, ["sliding_attention"] * 2],
        "rope_parameters": [
            {"full_attention": rope, "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}}
            for rope in ROTARY
        ],
    },
}  # fmt: skip
UNSUPPORTED: dict[str, Changes] = {
    "GPT2Config": {
        "activation_function": ["quick_gelu"], "resid_pdrop": [0.3], "embd_pdrop": [0.3], "scale_attn_weights": [False],
        "scale_attn_by_inverse_layer_idx": [True], "add_cross_attention": [True],
    },
    "LlamaConfig": UNSUPPORTED_SHARED | {"mlp_bias": [True]},
    "MistralConfig": UNSUPPORTED_SHARED,
    "Qwen2Config": UNSUPPORTED_SHARED | {"layer_types": [["full_attention", "sliding_attention"]]},
    "Qwen3Config": UNSUPPORTED_SHARED | {"layer_types": [["full_attention", "sliding_attention"]]},
    "Gemma3TextConfig": {
        "hidden_activation": ["gelu", "relu"], "query_pre_attn_scalar": [8], "head_dim": [6],
        "final_logit_softcapping": [30.0], "attn_logit_softcapping": [50.0], "use_bidirectional_attention": [True],
        "rope_parameters": [
            {"full_attention": OTHER_ROTARY[1]},
            {"full_attention": ROTARY[0], "sliding_attention": ROTARY[2]},
        ],
    },
}  # fmt: skip
COMBINATIONS: dict[str, list[dict[str, Any]]] = {
    "LlamaConfig": [
        {"rope_theta": 30.0, "rope_scaling": {"type": "linear", "factor": 3.0}, "rope_parameters": None},
        {"rope_theta": 30.0, "rope_scaling": LLAMA3_ROPE | {"rope_theta": 30.0}, "rope_parameters": None},
    ],
    "Qwen2Config": [
        {"use_sliding_window": True, "sliding_window": size, "max_window_layers": 1} for size in (1, 3, 29)
    ],
    "Qwen3Config": [
        {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 0},
        {"use_sliding_window": True, "sliding_window": 3, "layer_types": ["sliding_attention", "full_attention"]},
        {"attention_bias": True, "tie_word_embeddings": True, "head_dim": 10},
    ],
    "Gemma3TextConfig": [
        {"head_dim": 10, "query_pre_attn_scalar": 10},
        {"num_hidden_layers": 3, "rope_theta": 30.0, "rope_local_base_freq": 20.0,
         "rope_parameters": None, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        {"num_hidden_layers": 7, "sliding_window_pattern": None},
    ],
}  # fmt: skip


def usual(kind: str) -> dict[str, Any]:
    """Return the options of a small model in the format of ``config.json``."""
    sizes = {"GPT2Config": GPT2, "Gemma3TextConfig": GEMMA3}.get(kind, LLAMA)
    extra = {"head_dim": 8} if kind == "Qwen3Config" else {"sliding_window": 4} if kind == "MistralConfig" else {}
    return {"model_type": getattr(transformers, kind).model_type, **sizes, **extra}


def cases(changes: dict[str, Changes]) -> list[Any]:
    return [
        pytest.param(kind, name, value, id=f"{kind}, {name}={str(value)[:60]}")
        for kind, options in changes.items()
        for name, values in options.items()
        for value in values
    ]


def publish(options: dict[str, Any], folder: Path) -> transformers.PreTrainedModel:
    """Write a folder whose configuration contains only these options, and return the model from ``transformers``."""
    (folder / "config.json").write_text(json.dumps(options))
    config = AutoConfig.from_pretrained(folder)
    kind = type(AutoModelForCausalLM.from_config(config))
    theirs = drawn(Published(kind, config))
    theirs.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(options))
    return theirs


@pytest.mark.parametrize("kind", SUPPORTED)
def test_every_option_is_covered(kind: str):
    theirs = {field.name for field in dataclasses.fields(getattr(transformers, kind))}
    common = {field.name for field in dataclasses.fields(PretrainedConfig)}
    assert theirs - common <= SUPPORTED[kind].keys() | UNSUPPORTED[kind].keys()


@pytest.mark.parametrize("kind, name, value", one_in(3, cases(SUPPORTED)))  # five kinds of models share most options
def test_supported_option_matches_transformers_logits(kind: str, name: str, value: object, tmp_path: Path):
    theirs = publish(usual(kind) | {name: value}, tmp_path)
    ours = load_language_model(tmp_path)
    assert difference(ours, theirs) < 5e-5 and logits(ours).std() > 0.5


@pytest.mark.parametrize("kind, name, value", cases(UNSUPPORTED))
def test_rejects_unsupported_option_by_name(kind: str, name: str, value: object, tmp_path: Path):
    (tmp_path / "config.json").write_text(json.dumps(usual(kind) | {name: value}))
    with pytest.raises(ValueError, match=rf"config.json.*{name}"):
        load_language_model(tmp_path)


@pytest.mark.parametrize(
    "kind, options", [(kind, options) for kind, combined in COMBINATIONS.items() for options in combined], ids=str
)
def test_combined_options_match_transformers_logits(kind: str, options: dict[str, Any], tmp_path: Path):
    theirs = publish({name: value for name, value in (usual(kind) | options).items() if value is not None}, tmp_path)
    ours = load_language_model(tmp_path)
    assert difference(ours, theirs) < 2e-4 and logits(ours).std() > 0.5  # with seven layers, they differ by 8e-5


# Settings of our models

SETTINGS: Changes = {
    "vocab_size": [41], "d_model": [36], "n_heads": [3, 12], "n_kv_heads": [1, 2, None], "d_k": [6], "d_ff": [23],
    "n_layers": [1, 3], "max_length": [31], "dropout": [0.3], "attention_dropout": [0.3],
    "positions": ["learned", "sinusoidal", "rotary", "alibi", "none"], "rotary_base": [30.0],
    "rotary_scaling": [LinearScaling(3.0), Llama3Scaling(4.0, 19)],
    "window": [SlidingWindow(3), SlidingWindow(3, (False, True)), SlidingWindow(3, (False, True), 20.0)],
    "norm": ["layer", "rms"], "norm_eps": [0.1], "norm_placement": ["before", "after", "both"], "qk_norm": [True],
    "feed_forward": ["relu", "gelu", "silu", "swiglu", "geglu"], "bias": [True, False], "qkv_bias": [True, False],
    "tie_embeddings": [True, False], "scaled_embeddings": [True],
    "pad_id": [PAD],  # PAD must not occur in a text, because transformers masks padding only if it gets a mask
}  # fmt: skip
SMALL = {"d_model": 24, "n_heads": 6, "d_ff": 19, "n_layers": 2, "max_length": 29}
GEMMA = {
    "norm_placement": "both",
    "qk_norm": True,
    "scaled_embeddings": True,
    "feed_forward": "geglu",
    "tie_embeddings": True,
}
OURS = {
    "gpt2": LanguageModelConfig(37, **SMALL),
    "llama": LanguageModelConfig.llama(37, **SMALL),
    "gemma": LanguageModelConfig.llama(37, **SMALL | GEMMA),
}
CHANGED = [
    pytest.param(replace(config, **{name: value}), id=f"{kind}, {name}={value}")
    for kind, config in OURS.items()
    for name, values in SETTINGS.items()
    for value in values
]


def test_every_setting_is_covered():
    assert SETTINGS.keys() == {field.name for field in dataclasses.fields(LanguageModelConfig)}


@pytest.mark.parametrize("config", one_in(3, CHANGED))
def test_model_is_saved_with_all_settings_or_rejected(config: LanguageModelConfig, tmp_path: Path):
    ours = LanguageModel(config).eval()
    for name, parameter in ours.named_parameters():
        torch.nn.init.normal_(parameter, mean=float("norm" in name and "weight" in name), std=0.3)
    try:
        save_pretrained(ours, tmp_path / "saved")
    except ValueError as error:
        assert str(error).startswith("no published layout matches this model: gpt2 needs ")
        assert not (tmp_path / "saved").exists()
        return
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "saved").eval()
    assert difference(ours, theirs) < 5e-5 and logits(ours).std() > 0.3
    assert difference(ours, load_language_model(tmp_path / "saved", config.pad_id)) < 5e-5
