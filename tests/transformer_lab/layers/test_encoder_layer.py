"""Test encoder layers against a reference implementation with scalar loops and against torch."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.helpers.reference_loops import encoder_layer_by_loops, norm_by_loops, pre_norm_encoder_layer_by_loops
from tests.helpers.torch_parity import assert_twins, drawn, either_way, make_twins, vectors
from transformer_lab.attention.masks import padding_mask
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer

BATCH, N, D_MODEL, N_HEADS, D_FF, PAD = 2, 5, 12, 3, 17, 4
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, PAD, PAD]])

layers = pytest.mark.parametrize("layer", [EncoderLayer, PreNormEncoderLayer])


@pytest.mark.parametrize(
    "layer, by_loops",
    [(EncoderLayer, encoder_layer_by_loops), (PreNormEncoderLayer, pre_norm_encoder_layer_by_loops)],
)
def test_layer_matches_plain_loops(layer, by_loops):
    layer, mask = drawn(layer(D_MODEL, N_HEADS, D_FF)), padding_mask(TOKENS, PAD)
    x = vectors(*TOKENS.shape, D_MODEL)
    assert_close(layer(x, mask), by_loops(layer, x, mask))


@either_way
@layers
@pytest.mark.parametrize("padded", [False, True])
def test_layer_matches_torch(layer, copied_from, padded):
    ours = layer(D_MODEL, N_HEADS, D_FF)
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, N_HEADS, D_FF, dropout=0, batch_first=True, norm_first=layer is PreNormEncoderLayer
    )
    make_twins(ours, theirs, copied_from)
    x = vectors(BATCH, N, D_MODEL)
    output = ours(x, padding_mask(TOKENS, PAD) if padded else None)
    assert_twins(ours, theirs, output, theirs(x, src_key_padding_mask=TOKENS == PAD if padded else None), x)


@layers
def test_zero_sublayers_pass_the_input_through(layer):
    ours, x = layer(D_MODEL, N_HEADS, D_FF).double(), vectors(BATCH, N, D_MODEL)
    for last in [ours.self_attention.w_o, ours.feed_forward.w_2]:
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    if layer is PreNormEncoderLayer:
        assert torch.equal(ours(x), x)
    else:
        assert_close(ours(x), norm_by_loops(ours.norm_2, norm_by_loops(ours.norm_1, x)))


@layers
def test_dropout_applies_to_sublayer_outputs(layer):
    ours, x = layer(D_MODEL, N_HEADS, D_FF, dropout=0.5).double(), vectors(BATCH, N, D_MODEL)
    inputs_and_outputs: list[Tensor] = []
    ours.dropout.register_forward_hook(lambda module, args, output: inputs_and_outputs.extend([args[0], output]))
    contexts, network_outputs = [], []
    ours.self_attention.register_forward_hook(lambda module, args, output: contexts.append(output))
    ours.feed_forward.register_forward_hook(lambda module, args, output: network_outputs.append(output))
    assert not torch.equal(ours.train()(x), ours(x))
    assert torch.equal(ours.eval()(x), ours(x))
    assert inputs_and_outputs[0] is contexts[0]
    assert inputs_and_outputs[2] is network_outputs[0]
    assert (inputs_and_outputs[1] == 0).any()


@layers
def test_rejects_vectors_with_the_wrong_width(layer):
    with pytest.raises(ValueError, match=r"must have shape \(batch, n, d_model=12\); got shape \(2, 5, 7\)"):
        layer(D_MODEL, N_HEADS, D_FF)(torch.ones(2, 5, 7))
