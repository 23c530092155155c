"""Tests that a library part with an exercise's name is the exercise's reference or behaves like it."""

import pytest
import torch
from torch.testing import assert_close

from tests.helpers.library_names import library
from transformer_course.checking.tolerance import observation_distance
from transformer_course.exercises import every_exercise
from transformer_course.running.observe import observe
from transformer_lab.attention.dot_product import scaled_dot_product_attention
from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.masks import causal_mask, decoder_mask, sliding_window_mask
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.attention.positions import apply_rotary
from transformer_lab.generation.beam_search import beam_search_from_state
from transformer_lab.generation.decode import generate_steps
from transformer_lab.generation.sampling import greedy, sample_next
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer
from transformer_lab.layers.feed_forward import FeedForward
from transformer_lab.models.decoder import Decoder
from transformer_lab.models.encoder import Encoder
from transformer_lab.training.fine_tuning import sequence_log_probability
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy


class UncachedState:
    """Decoding state for the library that keeps all tokens and runs the model on the whole text in each step."""

    def __init__(self, logits, n_rows):
        self.logits, self.rows, self.tokens = logits, torch.arange(n_rows), torch.empty(n_rows, 0, dtype=torch.int64)

    def next_logits(self, tokens):
        self.tokens = torch.cat([self.tokens, tokens], dim=1)
        return self.logits(self.rows, self.tokens)[:, -1]

    def reorder(self, rows):
        self.rows, self.tokens = self.rows[rows], self.tokens[rows]


def translation_state(model, source):
    """Return the decoding state for a model that also takes sources."""
    return UncachedState(lambda rows, tokens: model(source[rows], tokens), len(source))


def decode_greedily(model, source, bos_id, eos_id, max_length):
    begin = torch.full((len(source), 1), bos_id)
    steps = generate_steps(translation_state(model, source), begin, max_length, greedy, eos_id)
    return torch.stack(list(steps), dim=1)


def search(model, source, bos_id, eos_id, max_length, beam_size, length_penalty):
    begin = torch.full((len(source), 1), bos_id)
    state = translation_state(model, source)
    return beam_search_from_state(state, begin, max_length, eos_id, beam_size, length_penalty)[0]


def continue_texts(model, tokens, max_new_tokens, context_length, sample):
    state = UncachedState(lambda _, tokens: model(tokens[:, -context_length:]), len(tokens))
    return torch.cat([tokens, *(new[:, None] for new in generate_steps(state, tokens, max_new_tokens, sample))], dim=1)


def mean_cross_entropy(logits, targets, pad_id, smoothing):
    return smoothed_cross_entropy(logits, targets, pad_id, smoothing) / count_tokens(targets, pad_id)


def log_probability_without_padding(logits, targets, pad_id):
    """Prepend a token to the targets, because the library's logits at each position predict the next token."""
    tokens = torch.cat([targets[:, :1], targets], dim=1)
    return sequence_log_probability(torch.cat([logits, logits[:, :1]], dim=1), tokens, tokens != pad_id)


LIBRARY_IMPLEMENTATIONS = {
    "scaled_dot_product_attention": lambda *inputs: scaled_dot_product_attention(*inputs)[0],
    "masked_attention": lambda *inputs: scaled_dot_product_attention(*inputs)[0],
    "MultiHeadAttention": MultiHeadAttention,
    "causal_mask": causal_mask,
    "decoder_mask": decoder_mask,
    "sliding_window_mask": lambda n, window: sliding_window_mask(torch.arange(n), torch.arange(n), window),
    "apply_rotary": apply_rotary,
    "FeedForward": FeedForward,
    "EncoderLayer": EncoderLayer,
    "PreNormEncoderLayer": PreNormEncoderLayer,
    "Encoder": Encoder,
    "DecoderLayer": DecoderLayer,
    "Decoder": Decoder,
    "smoothed_cross_entropy": mean_cross_entropy,
    "greedy_decode": decode_greedily,
    "sequence_log_probability": log_probability_without_padding,
    "sample_next": sample_next,
    "generate": continue_texts,
    "beam_search": search,
    "GroupedQueryAttention": GroupedQueryAttention,
}
"""Library implementations for exercises with a simpler reference, adapted to the exercise's arguments."""


@pytest.mark.parametrize("name", LIBRARY_IMPLEMENTATIONS)
def test_simpler_reference_matches_library(name):
    exercise = every_exercise()[name]
    assert exercise.reference is not library().get(name), "the reference is the library part; remove the entry"
    for case in exercise.cases(0):
        found, right = (observe(attempt, case) for attempt in (LIBRARY_IMPLEMENTATIONS[name], exercise.reference))
        if case.kind == "sampler":
            assert observation_distance(found, right) <= 1
            continue
        assert_close(*(exercise.normalize(observed["output"], case) for observed in (found, right)))


@pytest.mark.parametrize("name", sorted(every_exercise().keys() & library().keys()))
def test_library_part_is_or_is_compared_with_reference(name):
    assert every_exercise()[name].reference is library()[name] or name in LIBRARY_IMPLEMENTATIONS
