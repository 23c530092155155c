"""Encoder and decoder layers, one number at a time."""

from torch import Tensor

from tests.helpers.reference_loops import feed_forward_by_loops, heads_by_loops, norm_by_loops
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer


def post_norm_encoder_layer(layer: EncoderLayer, x: Tensor, mask: Tensor) -> Tensor:
    x = norm_by_loops(layer.norm_1, x + heads_by_loops(layer.self_attention, x, x, x, mask))
    return norm_by_loops(layer.norm_2, x + feed_forward_by_loops(layer.feed_forward, x))


def pre_norm_encoder_layer(layer: EncoderLayer, x: Tensor, mask: Tensor) -> Tensor:
    normed = norm_by_loops(layer.norm_1, x)
    x = x + heads_by_loops(layer.self_attention, normed, normed, normed, mask)
    return x + feed_forward_by_loops(layer.feed_forward, norm_by_loops(layer.norm_2, x))


def post_norm_decoder_layer(
    layer: DecoderLayer, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor
) -> Tensor:
    x = norm_by_loops(layer.norm_1, x + heads_by_loops(layer.self_attention, x, x, x, mask))
    x = norm_by_loops(layer.norm_2, x + heads_by_loops(layer.cross_attention, x, memory, memory, memory_mask))
    return norm_by_loops(layer.norm_3, x + feed_forward_by_loops(layer.feed_forward, x))


def pre_norm_decoder_layer(layer: DecoderLayer, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
    normed = norm_by_loops(layer.norm_1, x)
    x = x + heads_by_loops(layer.self_attention, normed, normed, normed, mask)
    normed = norm_by_loops(layer.norm_2, x)
    x = x + heads_by_loops(layer.cross_attention, normed, memory, memory, memory_mask)
    return x + feed_forward_by_loops(layer.feed_forward, norm_by_loops(layer.norm_3, x))
