"""The decoder: its layers one after another, each against one number at a time, and what holds for all of it."""

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
def test_layers_are_as_many_as_asked_for_and_share_nothing(decoder):
    ours = small(decoder)
    a_layer = 2 * 4 * (D_MODEL**2 + D_MODEL) + (2 * D_MODEL * D_FF + D_FF + D_MODEL) + 3 * 2 * D_MODEL
    final_norm = 2 * D_MODEL if decoder is PreNormDecoder else 0
    assert len(ours.layers) == N_LAYERS
    assert sum(p.numel() for p in ours.parameters()) == VOCAB_SIZE * D_MODEL + N_LAYERS * a_layer + final_norm


@decoders
def test_a_source_that_is_all_padding_says_nothing_and_gives_finite_gradients(decoder):
    ours, memory = drawn(small(decoder)), vectors(BATCH, N_SOURCE, D_MODEL)
    hidden = torch.zeros_like(MEMORY_MASK)
    output = ours(TOKENS, memory, MASK, hidden)
    assert_close(output, ours(TOKENS, vectors(BATCH, N_SOURCE, D_MODEL), MASK, hidden))
    output.sum().backward()
    assert (memory.grad == 0).all()
    assert all(parameter.grad.isfinite().all() for parameter in ours.parameters())


@decoders
def test_without_dropout_training_and_evaluation_agree(decoder):
    ours, memory = drawn(small(decoder)), vectors(BATCH, N_SOURCE, D_MODEL)
    assert torch.equal(ours.train()(TOKENS, memory, MASK), ours.eval()(TOKENS, memory, MASK))


@decoders
@torch.no_grad()
def test_a_cache_holds_what_each_layer_made_of_the_memory(decoder):
    ours, memory = drawn(small(decoder)), vectors(BATCH, N_SOURCE, D_MODEL)
    cache = ours.new_cache(memory, max_length=5)
    for layer, kept in zip(ours.layers, cache.layers, strict=True):
        k, v = layer.cross_attention.project_kv(memory, memory)
        assert torch.equal(kept.source.k, k)
        assert torch.equal(kept.source.v, v)
        assert kept.self_attention.max_length == 5
    assert_close(ours(TOKENS, memory, MASK, MEMORY_MASK, cache), ours(TOKENS, memory, MASK, MEMORY_MASK))
