"""Test that padding never changes a sentence's output, for every Transformer configuration."""

from typing import get_args

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from tests.helpers.strategies import generators
from transformer_lab.layers.feed_forward import Activation
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

configs = st.builds(
    TransformerConfig,
    vocab_size=st.just(13),
    source_vocab_size=st.sampled_from([None, 11]),
    d_model=st.just(12),
    n_heads=st.sampled_from([1, 2, 3]),
    d_ff=st.just(7),
    n_layers=st.sampled_from([1, 2]),
    max_length=st.just(9),
    dropout=st.just(0.0),
    pre_norm=st.booleans(),
    learned_positions=st.booleans(),
    source_pad_id=st.sampled_from([0, 10]),
    target_pad_id=st.sampled_from([0, 5]),
    feed_forward=st.sampled_from(get_args(Activation)),
    output_bias=st.booleans(),
    hide_target_padding=st.booleans(),
)
sentences = st.lists(st.integers(1, 9).filter((5).__ne__), min_size=1, max_size=6)
pairs = st.lists(st.tuples(sentences, sentences), min_size=2, max_size=3)


def drawn(model: nn.Module, rng: torch.Generator) -> nn.Module:
    for parameter in model.double().parameters():
        nn.init.normal_(parameter, std=0.5, generator=rng)
    return model


def padded(sentences: list[list[int]], pad_id: int, more: int) -> Tensor:
    n = max(map(len, sentences)) + more
    return torch.tensor([sentence + [pad_id] * (n - len(sentence)) for sentence in sentences])


@given(config=configs, pairs=pairs, rng=generators(), more=st.integers(0, 2))
def test_padded_pair_matches_the_pair_alone(config, pairs, rng, more):
    model = drawn(Transformer(config), rng)
    sources, targets = ([list(sentence) for sentence in side] for side in zip(*pairs, strict=True))
    logits = model(padded(sources, config.source_pad_id, more), padded(targets, config.target_pad_id, 2 - more))
    for row, source, target in zip(logits, sources, targets, strict=True):
        assert_close(row[: len(target)], model(torch.tensor([source]), torch.tensor([target]))[0])


@given(config=configs, sentences=st.lists(sentences, min_size=2, max_size=3), rng=generators(), more=st.integers(0, 2))
def test_padded_sentence_matches_the_sentence_alone(config, sentences, rng, more):
    model = drawn(Transformer(config), rng)
    memory = model.encode(padded(sentences, config.source_pad_id, more))
    for row, sentence in zip(memory, sentences, strict=True):
        assert_close(row[: len(sentence)], model.encode(torch.tensor([sentence]))[0])
