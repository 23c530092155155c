"""The decoder: against one number at a time, against torch's own, and by what its parts must do."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.helpers.contracts.layers import assert_decoder_layer
from tests.helpers.reference_loops import decoder_layer_by_loops, norm_by_loops, pre_norm_decoder_layer_by_loops
from tests.helpers.torch_parity import assert_twins, drawn, either_way, make_twins, vectors
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer
from transformer_lab.models.decoder import Decoder, PreNormDecoder

BATCH, N, N_SOURCE, D_MODEL, N_HEADS, D_FF, N_LAYERS, VOCAB_SIZE, MAX_LENGTH = 2, 5, 7, 12, 3, 17, 2, 13, 11
PAD, SOURCE_PAD = 4, 9
TOKENS = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 6, PAD, PAD]])
SOURCE = torch.tensor([[1, 2, SOURCE_PAD, 4, 5, 6, 7], [PAD, 8, 3, 2, SOURCE_PAD, SOURCE_PAD, SOURCE_PAD]])
MASK, MEMORY_MASK = decoder_mask(TOKENS, PAD), padding_mask(SOURCE, SOURCE_PAD)

layers = pytest.mark.parametrize("layer", [DecoderLayer, PreNormDecoderLayer])
decoders = pytest.mark.parametrize("decoder", [Decoder, PreNormDecoder])


def small(decoder: type[Decoder], **others: object) -> Decoder:
    return decoder(VOCAB_SIZE, D_MODEL, N_HEADS, D_FF, N_LAYERS, MAX_LENGTH, **others)


@pytest.mark.parametrize(
    "layer, by_loops",
    [(DecoderLayer, decoder_layer_by_loops), (PreNormDecoderLayer, pre_norm_decoder_layer_by_loops)],
)
def test_a_layer_is_what_loops_make_of_it(layer, by_loops):
    assert_decoder_layer(layer, by_loops)


@either_way
@layers
@pytest.mark.parametrize("masked", [False, True])
def test_a_layer_is_that_of_torch(layer, copied_from, masked):
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
def test_a_layer_whose_sublayers_say_nothing_hands_on_what_came_in(layer):
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


@layers
def test_dropout_is_on_what_each_sublayer_adds(layer):
    ours = layer(D_MODEL, N_HEADS, D_FF, dropout=0.5).double()
    x, memory = vectors(BATCH, N, D_MODEL), vectors(BATCH, N_SOURCE, D_MODEL)
    given, dropped, said = [], [], []
    ours.dropout.register_forward_hook(lambda module, args, output: given.append(args[0]) or dropped.append(output))
    for sublayer in [ours.self_attention, ours.cross_attention, ours.feed_forward]:
        sublayer.register_forward_hook(lambda module, args, output: said.append(output))
    ours.train()(x, memory)
    assert len(given) == len(said) == 3
    assert all(added is by_sublayer for added, by_sublayer in zip(given, said, strict=True))
    assert all(0 < (output == 0).sum() < output.numel() for output in dropped)
    assert torch.equal(ours.eval()(x, memory), ours(x, memory))


@decoders
def test_without_dropout_training_and_evaluation_agree(decoder):
    ours, memory = drawn(small(decoder)), vectors(BATCH, N_SOURCE, D_MODEL)
    assert torch.equal(ours.train()(TOKENS, memory, MASK), ours.eval()(TOKENS, memory, MASK))


@layers
def test_vectors_of_another_width_are_named(layer):
    with pytest.raises(ValueError, match=r"must be d_model=12 wide; got shape \(2, 5, 13\)"):
        layer(D_MODEL, N_HEADS, D_FF)(torch.ones(2, 5, 13), torch.ones(2, 7, 13))
