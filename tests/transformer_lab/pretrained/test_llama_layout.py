"""Tests for local layers and contradictory options in the layout that Llama, Mistral, Qwen and Gemma share."""

import pytest

from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.llama import GEMMA_3, LLAMA, MISTRAL, QWEN_2, QWEN_3

SIZES = {"hidden_size": 24, "num_attention_heads": 6, "num_key_value_heads": 3, "num_hidden_layers": 7}
GEMMA_SIZES = SIZES | {"head_dim": 4, "query_pre_attn_scalar": 4}
LOCAL, FULL = "sliding_attention", "full_attention"


def window_of(layout, options):
    sizes = GEMMA_SIZES if layout is GEMMA_3 else SIZES
    return layout.config_of(Options(sizes | options, "config.json")).window


@pytest.mark.parametrize(
    "layout, options, window",
    [
        (LLAMA, {"sliding_window": 5}, None),  # Llama ignores this option, as in transformers
        (MISTRAL, {}, SlidingWindow(4096)),
        (MISTRAL, {"sliding_window": None}, None),
        (QWEN_2, {"sliding_window": 5, "max_window_layers": 0}, None),
        (QWEN_3, {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 7}, None),
        (QWEN_3, {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 0}, SlidingWindow(5)),
        (
            QWEN_2,
            {"use_sliding_window": True, "max_window_layers": 5},
            SlidingWindow(4096, (*[False] * 5, True, True)),
        ),
        (GEMMA_3, {"sliding_window": 5}, SlidingWindow(5, (*[True] * 5, False, True), 1e4)),
        (GEMMA_3, {"rope_theta": 7.0, "rope_local_base_freq": 7.0}, SlidingWindow(4096, (*[True] * 5, False, True))),
        (GEMMA_3, {"layer_types": [FULL] * 7, "sliding_window": None}, None),
    ],
)
def test_options_determine_the_local_layers(layout, options, window):
    assert window_of(layout, options) == window


@pytest.mark.parametrize(
    "layout, options, message",
    [
        (MISTRAL, {"sliding_window": 0}, "sliding_window must be a positive number of tokens; got 0"),
        (LLAMA, {"layer_types": [FULL] * 7}, r"layer_types=\[.*; only layer_types=None"),
        (MISTRAL, {"layer_types": [LOCAL] * 7}, r"layer_types=\[.*; only layer_types=None"),
        (GEMMA_3, {"sliding_window": None}, "sliding_window must be a positive number of tokens; got None"),
        (GEMMA_3, {"layer_types": [FULL] * 6}, r"layer_types must be num_hidden_layers=7 times .*; got \["),
        (QWEN_3, {"layer_types": [FULL] * 6 + ["chunked_attention"]}, "layer_types must be .*chunked_attention"),
        (QWEN_2, {"layer_types": [LOCAL] * 7}, r"use_sliding_window=False contradicts layer_types=\["),
        (GEMMA_3, {"head_dim": 8}, "query_pre_attn_scalar=4, head_dim=8; only query_pre_attn_scalar = head_dim"),
    ],
)
def test_rejects_unsupported_or_contradictory_options(layout, options, message):
    with pytest.raises(ValueError, match=f"^config.json: .*{message}"):
        window_of(layout, options)


def test_incompatibilities_list_the_required_options():
    config = LanguageModelConfig(37, positions="alibi", bias=True)
    assert QWEN_2.incompatibilities(config) == [
        *("positions='rotary'", "norm='rms'", "bias=False", "feed_forward='swiglu' or 'geglu'")
    ]
