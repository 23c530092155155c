"""Names are those of the course's exercises: parameters load by name into what a learner writes."""

from inspect import signature

import pytest
from torch import nn

from transformer_lab.attention import additive, dot_product, grouped_query, masks, multi_head, positions
from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.layers import norms
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer
from transformer_lab.layers.feed_forward import FeedForward, SwiGLU
from transformer_lab.models.decoder import Decoder
from transformer_lab.models.encoder import Encoder

STACK = ["vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_length"]
LAYER = ["d_model", "n_heads", "d_ff"]
PROJECTIONS = {"w_q", "w_k", "w_v", "w_o"}
ENCODER_LAYER = {"self_attention", "feed_forward", "norm_1", "norm_2"}

CLASSES = {
    MultiHeadAttention: (["d_model", "n_heads"], PROJECTIONS, ["query", "key", "value", "mask"]),
    GroupedQueryAttention: (["d_model", "n_heads", "n_kv_heads"], PROJECTIONS, ["x", "mask"]),
    FeedForward: (["d_model", "d_ff"], {"w_1", "w_2"}, ["x"]),
    SwiGLU: (["d_model", "d_ff"], {"w_gate", "w_up", "w_down"}, ["x"]),
    EncoderLayer: (LAYER, ENCODER_LAYER, ["x", "mask"]),
    PreNormEncoderLayer: (LAYER, ENCODER_LAYER, ["x", "mask"]),
    Encoder: (STACK, {"embedding", "layers"}, ["tokens", "mask"]),
    DecoderLayer: (LAYER, ENCODER_LAYER | {"cross_attention", "norm_3"}, ["x", "memory", "mask", "memory_mask"]),
    Decoder: (STACK, {"embedding", "layers"}, ["tokens", "memory", "mask", "memory_mask"]),
}
FUNCTIONS = {
    dot_product.soft_lookup: ["query", "keys", "values"],
    additive.additive_scores: ["queries", "keys", "w_q", "w_k", "w"],
    multi_head.split_heads: ["x", "n_heads"],
    multi_head.merge_heads: ["x"],
    grouped_query.repeat_kv: ["x", "n_repeats"],
    masks.padding_mask: ["tokens", "pad_id"],
    masks.decoder_mask: ["tokens", "pad_id"],
    positions.sinusoidal_encoding: ["length", "d_model", "base"],
    positions.apply_rotary: ["x", "positions", "base"],
    positions.alibi_bias: ["n_heads", "n_query", "n_key"],
    norms.layer_norm: ["x", "weight", "bias", "eps"],
    norms.rms_norm: ["x", "weight", "eps"],
}


def assert_takes(function: object, names: list[str]) -> None:
    """It takes arguments of these names, in this order; whatever else it takes has a default."""
    parameters = [p for p in signature(function).parameters.values() if p.name != "self"]
    assert [p.name for p in parameters[: len(names)]] == names
    assert all(p.default is not p.empty for p in parameters[len(names) :])


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_are_made_and_called_like_those_of_the_exercises(cls):
    made_of, attributes, called_with = CLASSES[cls]
    assert_takes(cls, made_of)
    assert_takes(cls.forward, called_with)
    sizes = {"vocab_size": 13, "d_model": 12, "n_heads": 6, "n_kv_heads": 3, "d_ff": 7, "n_layers": 2, "max_length": 11}
    module = cls(**{name: sizes[name] for name in made_of})
    children = {name for name, child in module.named_children() if not isinstance(child, nn.Dropout | nn.Identity)}
    assert children == attributes
    assert {name for name, _ in module.named_buffers()} == ({"positions"} if made_of == STACK else set())
    owners = {name.split(".")[0] for name, _ in module.named_parameters()}
    assert owners == attributes


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_are_called_like_those_of_the_exercises(function):
    assert_takes(function, FUNCTIONS[function])
