"""Test the encoder against a reference implementation of its layers with scalar loops."""

import pytest
import torch
from torch.testing import assert_close

from tests.helpers.reference_loops import encoder_layer_by_loops, norm_by_loops, pre_norm_encoder_layer_by_loops
from tests.helpers.torch_parity import drawn
from transformer_lab.attention.masks import padding_mask
from transformer_lab.models.encoder import Encoder, PreNormEncoder

BATCH, N, D_MODEL, N_HEADS, D_FF, N_LAYERS, VOCAB_SIZE, MAX_LENGTH, PAD = 2, 5, 12, 3, 17, 2, 13, 7, 4
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, PAD, PAD]])

encoders = pytest.mark.parametrize("encoder", [Encoder, PreNormEncoder])


def small(encoder: type[Encoder], **others: object) -> Encoder:
    return encoder(VOCAB_SIZE, D_MODEL, N_HEADS, D_FF, N_LAYERS, MAX_LENGTH, **others)


@encoders
def test_encoder_runs_its_layers_in_order(encoder):
    ours, mask = drawn(small(encoder)), padding_mask(TOKENS, PAD)
    by_loops = pre_norm_encoder_layer_by_loops if encoder is PreNormEncoder else encoder_layer_by_loops
    x = ours.embed(TOKENS)
    for layer in ours.layers:
        x = by_loops(layer, x, mask)
    assert_close(ours(TOKENS, mask), norm_by_loops(ours.norm, x) if encoder is PreNormEncoder else x)
