"""Test decoder layers against a reference implementation with scalar loops and against torch."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.helpers.reference_loops import decoder_layer_by_loops, norm_by_loops, pre_norm_decoder_layer_by_loops
from tests.helpers.torch_parity import assert_twins, drawn, either_way, make_twins, vectors
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer

BATCH, N, N_SOURCE, D_MODEL, N_HEADS, D_FF = 2, 5, 7, 12, 3, 17
PAD, SOURCE_PAD = 4, 9
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, PAD, PAD]])
SOURCE = torch.tensor([[1, 2, SOURCE_PAD, 4, 5, 6, 7], [PAD, 8, 3, 2, SOURCE_PAD, SOURCE_PAD, SOURCE_PAD]])
MASK, MEMORY_MASK = decoder_mask(TOKENS, PAD), padding_mask(SOURCE, SOURCE_PAD)

layers = pytest.mark.parametrize("layer", [DecoderLayer, PreNormDecoderLayer])


@pytest.mark.parametrize(
    "layer, by_loops",
    [(DecoderLayer, decoder_layer_by_loops), (PreNormDecoderLayer, pre_norm_decoder_layer_by_loops)],
)
def test_layer_matches_plain_loops(layer, by_loops):
    layer = drawn(layer(D_MODEL, N_HEADS, D_FF))
    x, memory = vectors(*TOKENS.shape, D_MODEL), vectors(*SOURCE.shape, D_MODEL)
    assert_close(layer(x, memory, MASK, MEMORY_MASK), by_loops(layer, x, memory, MASK, MEMORY_MASK))


@either_way
@layers
@pytest.mark.parametrize("masked", [False, True])
def test_layer_matches_torch(layer, copied_from, masked):
    ours = layer(D_MODEL, N_HEADS, D_FF)
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, N_HEADS, D_FF, dropout=0, batch_first=True, norm_first=layer is PreNormDecoderLayer
    )
    make_twins(ours, theirs, copied_from)
    x, memory = vectors(BATCH, N, D_MODEL), vectors(BATCH, N_SOURCE, D_MODEL)
    if masked:
        output = ours(x, memory, MASK, MEMORY_MASK)
        hidden = {"tgt_key_padding_mask": TOKENS == PAD, "memory_key_padding_mask": SOURCE == SOURCE_PAD}
        their_output = theirs(x, memory, tgt_mask=~causal_mask(N), **hidden)
    else:
        output, their_output = ours(x, memory), theirs(x, memory)
    assert_twins(ours, theirs, output, their_output, x, memory)


@layers
def test_zero_sublayers_pass_the_input_through(layer):
    ours, x = layer(D_MODEL, N_HEADS, D_FF).double(), vectors(BATCH, N, D_MODEL)
    for last in [ours.self_attention.w_o, ours.cross_attention.w_o, ours.feed_forward.w_2]:
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    output = ours(x, vectors(BATCH, N_SOURCE, D_MODEL))
    if layer is PreNormDecoderLayer:
        assert torch.equal(output, x)
    else:
        for norm in [ours.norm_1, ours.norm_2, ours.norm_3]:
            x = norm_by_loops(norm, x)
        assert_close(output, x)


@layers
def test_dropout_applies_to_sublayer_outputs(layer):
    ours = layer(D_MODEL, N_HEADS, D_FF, dropout=0.5).double()
    x, memory = vectors(BATCH, N, D_MODEL), vectors(BATCH, N_SOURCE, D_MODEL)
    inputs, outputs, sublayer_outputs = [], [], []
    ours.dropout.register_forward_hook(lambda module, args, output: inputs.append(args[0]) or outputs.append(output))
    for sublayer in [ours.self_attention, ours.cross_attention, ours.feed_forward]:
        sublayer.register_forward_hook(lambda module, args, output: sublayer_outputs.append(output))
    ours.train()(x, memory)
    assert len(inputs) == len(sublayer_outputs) == 3
    assert all(x is y for x, y in zip(inputs, sublayer_outputs, strict=True))
    assert all(0 < (output == 0).sum() < output.numel() for output in outputs)
    assert torch.equal(ours.eval()(x, memory), ours(x, memory))


@layers
def test_rejects_vectors_with_the_wrong_width(layer):
    with pytest.raises(ValueError, match=r"must have shape \(batch, n, d_model=12\); got shape \(2, 5, 13\)"):
        layer(D_MODEL, N_HEADS, D_FF)(torch.ones(2, 5, 13), torch.ones(2, 7, 13))
