"""Test the decoder against a reference implementation of its layers with scalar loops, and test its cache."""

import pytest
import torch
from torch.testing import assert_close

from tests.helpers.reference_loops import decoder_layer_by_loops, norm_by_loops, pre_norm_decoder_layer_by_loops
from tests.helpers.torch_parity import drawn, vectors
from transformer_lab.attention.masks import decoder_mask, padding_mask
from transformer_lab.models.decoder import Decoder, PreNormDecoder

BATCH, N_SOURCE, D_MODEL, N_HEADS, D_FF, N_LAYERS, VOCAB_SIZE, MAX_LENGTH = 2, 7, 12, 3, 17, 2, 13, 11
PAD, SOURCE_PAD = 4, 9
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, PAD, PAD]])
SOURCE = torch.tensor([[1, 2, SOURCE_PAD, 4, 5, 6, 7], [PAD, 8, 3, 2, SOURCE_PAD, SOURCE_PAD, SOURCE_PAD]])
MASK, MEMORY_MASK = decoder_mask(TOKENS, PAD), padding_mask(SOURCE, SOURCE_PAD)

decoders = pytest.mark.parametrize("decoder", [Decoder, PreNormDecoder])


def small(decoder: type[Decoder], **others: object) -> Decoder:
    return decoder(VOCAB_SIZE, D_MODEL, N_HEADS, D_FF, N_LAYERS, MAX_LENGTH, **others)


@decoders
def test_every_layer_reads_the_same_memory(decoder):
    ours, memory = drawn(small(decoder)), vectors(BATCH, N_SOURCE, D_MODEL)
    by_loops = pre_norm_decoder_layer_by_loops if decoder is PreNormDecoder else decoder_layer_by_loops
    x = ours.embed(TOKENS)
    for layer in ours.layers:
        x = by_loops(layer, x, memory, MASK, MEMORY_MASK)
    expected = norm_by_loops(ours.norm, x) if decoder is PreNormDecoder else x
    assert_close(ours(TOKENS, memory, MASK, MEMORY_MASK), expected)


@decoders
@torch.no_grad()
def test_cache_contains_memory_projections_for_each_layer(decoder):
    ours, memory = drawn(small(decoder)), vectors(BATCH, N_SOURCE, D_MODEL)
    cache = ours.new_cache(memory, max_length=5)
    for layer, kept in zip(ours.layers, cache.layers, strict=True):
        k, v = layer.cross_attention.project_kv(memory, memory)
        assert torch.equal(kept.source.k, k)
        assert torch.equal(kept.source.v, v)
        assert kept.self_attention.max_length == 5
    assert_close(ours(TOKENS, memory, MASK, MEMORY_MASK, cache), ours(TOKENS, memory, MASK, MEMORY_MASK))
