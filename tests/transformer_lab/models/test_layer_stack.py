"""Tests for the embeddings, positions and layer options in the base class of the encoder and decoder."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.helpers.torch_parity import drawn
from transformer_lab.layers.feed_forward import FeedForward, GELUFeedForward
from transformer_lab.models.decoder import Decoder, PreNormDecoder
from transformer_lab.models.encoder import Encoder, PreNormEncoder
from transformer_lab.models.layer_stack import LayerStack

D_MODEL, MAX_LENGTH = 12, 7
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, 4, 4]])
stacks = pytest.mark.parametrize("stack", [Encoder, PreNormEncoder, Decoder, PreNormDecoder])
either_positions = pytest.mark.parametrize("learned", [False, True], ids=["sinusoids", "learned"])


def small(stack: type[LayerStack], **others: object) -> LayerStack:
    return stack(13, D_MODEL, n_heads=3, d_ff=17, n_layers=2, max_length=MAX_LENGTH, **others)


@stacks
@either_positions
def test_embed_scales_tokens_and_adds_positions(stack, learned):
    ours = drawn(small(stack, learned_positions=learned))
    x = torch.empty(*TOKENS.shape, D_MODEL, dtype=torch.float64)
    for (sentence, t), token in zip(((s, t) for s in range(2) for t in range(5)), TOKENS.flatten(), strict=True):
        for i in range(D_MODEL):
            wave = math.sin if i % 2 == 0 else math.cos
            position = ours.positions[t, i] if learned else wave(t / 10000 ** (i // 2 * 2 / D_MODEL))
            x[sentence, t, i] = ours.embedding.weight[token, i] * math.sqrt(D_MODEL) + position
    assert_close(ours.embed(TOKENS), x, atol=1e-6, rtol=1e-6)  # the sinusoids are stored in float32


@stacks
@either_positions
def test_only_learned_positions_are_saved_parameters(stack, learned):
    ours = small(stack, learned_positions=learned)
    assert ours.positions.shape == (MAX_LENGTH, D_MODEL)
    assert ("positions" in dict(ours.named_parameters())) is learned
    assert ("positions" in dict(ours.named_buffers())) is not learned
    assert ("positions" in ours.state_dict()) is learned


@stacks
def test_sinusoids_are_the_same_in_a_longer_model(stack):
    short, long = drawn(small(stack)), stack(13, D_MODEL, n_heads=3, d_ff=17, n_layers=2, max_length=40).double()
    long.load_state_dict(short.state_dict())
    assert_close(long.embed(TOKENS), short.embed(TOKENS))


@stacks
def test_dropout_applies_to_embeddings_with_positions(stack):
    ours = small(stack, dropout=0.5)
    embedded, kept = ours.train().embed(TOKENS), ours.eval().embed(TOKENS)
    dropped = embedded == 0
    assert 0 < dropped.sum() < dropped.numel()
    assert_close(embedded[~dropped], 2 * kept[~dropped])


@stacks
def test_options_reach_every_layer(stack):
    ours = small(stack, dropout=0.25, attention_dropout=0.5, activation="gelu")
    assert len(ours.layers) == len(set(ours.layers)) == 2
    for layer in ours.layers:
        assert type(layer) is stack.layer
        assert type(layer.feed_forward) is GELUFeedForward
        assert layer.dropout.p == 0.25
        assert layer.self_attention.dropout == 0.5
    assert type(small(stack).layers[0].feed_forward) is FeedForward


@stacks
def test_accepts_maximum_length_and_empty_batch(stack):
    ours = small(stack)
    assert ours.embed(torch.ones(1, MAX_LENGTH, dtype=torch.long)).shape == (1, MAX_LENGTH, D_MODEL)
    assert ours.embed(torch.ones(0, 3, dtype=torch.long)).shape == (0, 3, D_MODEL)
    assert torch.equal(ours.embed(TOKENS.int()), ours.embed(TOKENS))


@stacks
def test_rejects_text_that_is_too_long(stack):
    with pytest.raises(ValueError, match=r"1 to 7 tokens \(max_length\); got 8"):
        small(stack).embed(torch.ones(1, MAX_LENGTH + 1, dtype=torch.long))
