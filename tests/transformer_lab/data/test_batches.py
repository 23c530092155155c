"""Tests that batches fit the token budget, cover each epoch, contain little padding and depend on the seed."""

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer_lab.data.batches import Batch, Batches, InMemory, TextBatch, WindowBatches, split_into_windows

PAD = 0


def corpus(lengths):
    """Return pairs with these lengths. Every token in a pair is the pair's number, counted from 1."""
    sides = []
    for side in (0, 1):
        sides.append(InMemory(np.full(pair[side], 1 + i, np.int64) for i, pair in enumerate(lengths)))
    return sides


LENGTHS = [tuple(pair) for pair in np.random.default_rng(0).integers(1, 30, (999, 2)).tolist()]
PAIRS = corpus(LENGTHS)


def epoch_of(batches, n_pairs):
    """Return the batches of the first epoch."""
    epoch, n_seen = [], 0
    for batch in batches:
        epoch.append(batch)
        n_seen += len(batch.source)
        if n_seen >= n_pairs:
            return epoch
    raise AssertionError


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=60), st.integers(20, 99))
def test_batches_respect_the_budget_and_cover_every_pair(lengths, n_tokens):
    batches = epoch_of(Batches(*corpus(lengths), n_tokens, PAD, seed=0).from_step(0), len(lengths))
    firsts = sorted(int(row[0]) for batch in batches for row in batch.source)
    assert firsts == list(range(1, len(lengths) + 1))
    for batch in batches:
        assert max(batch.source.numel(), batch.target.numel()) <= n_tokens
        for source, target in zip(batch.source, batch.target, strict=True):
            assert source[0] == target[0]  # source and target come from the same pair
            assert lengths[int(source[0]) - 1] == (int((source != PAD).sum()), int((target != PAD).sum()))


def test_fills_each_batch_before_the_next():
    batches = Batches(*PAIRS, 200, PAD, seed=0)
    assert len(batches.plan(0)) < 1.15 * sum(max(pair) for pair in LENGTHS) / 200


def test_sorting_avoids_most_padding():
    def padding(batches):
        longer = [max(batch.source.shape[1], batch.target.shape[1]) * len(batch.source) for batch in batches]
        return sum(longer) / sum(max(pair) for pair in LENGTHS) - 1

    batches = Batches(*PAIRS, 200, PAD, seed=0)
    assert padding(epoch_of(batches.from_step(0), 999)) < 0.05
    assert padding([batches.collate(range(i, min(i + 10, 999))) for i in range(0, 999, 10)]) > 0.25


def stream(seed):
    return list(islice(Batches(*PAIRS, 200, PAD, seed).from_step(0), 150))


def same(first, second):
    pairs = zip(first, second, strict=True)
    return all(torch.equal(a.source, b.source) and torch.equal(a.target, b.target) for a, b in pairs)


def test_seed_determines_the_batches():
    assert same(stream(1), stream(1))
    assert not same(stream(1), stream(2))


def test_every_epoch_shuffles_differently():
    batches = Batches(*PAIRS, 200, PAD, seed=0)
    assert [i.tolist() for i in batches.plan(0)] != [i.tolist() for i in batches.plan(1)]
    longest = [max(max(LENGTHS[i]) for i in indices) for indices in batches.plan(0)]
    assert longest != sorted(longest) and max(longest[: len(longest) // 4]) > 20 > min(longest[: len(longest) // 4])


def test_inputs_and_labels_are_shifted_targets():
    batch = Batch(torch.tensor([[5, 6]]), torch.tensor([[1, 7, 8, 2]]))
    assert [tokens.tolist() for tokens in batch.inputs] == [[[5, 6]], [[1, 7, 8]]]
    assert batch.labels.tolist() == [[7, 8, 2]]
    text = TextBatch(torch.tensor([[0, 7, 8, 9], [3, 0, -1, -1]]))
    assert [tokens.tolist() for tokens in text.inputs] == [[[0, 7, 8], [3, 0, 0]]]
    assert text.labels.tolist() == [[7, 8, 9], [0, -1, -1]]


@given(st.integers(0, 60), st.integers(1, 9))
def test_windows_predict_each_token_except_the_first_once(n, length):
    windows = list(split_into_windows(range(n), length))
    assert [token for window in windows for token in window[1:]] == list(range(1, n))
    assert all(window == list(range(window[0], window[-1] + 1)) for window in windows)
    assert all(len(window) == length + 1 for window in windows[:-1])


WINDOWS = InMemory(np.arange(7 * i, 7 * i + length) for i, length in enumerate([8] * 20 + [3]))


def test_window_epoch_covers_each_window_within_the_budget():
    batches = WindowBatches(WINDOWS, n_tokens=21, seed=0)
    plan = batches.plan(0)
    epoch = list(islice(batches.from_step(0), len(plan)))
    assert sorted(int(row[0]) for batch in epoch for row in batch.tokens) == [7 * i for i in range(21)]
    assert {batch.inputs[0].shape for batch in epoch} <= {
        (3, 7),
        (2, 7),
        (1, 7),
        (1, 2),
    }  # 3 windows of 7 tokens fill the budget
    assert sum(int((batch.labels != batches.pad_id).sum()) for batch in epoch) == 20 * 7 + 2
    again = WindowBatches(WINDOWS, n_tokens=21, seed=0).from_step(5)
    assert torch.equal(next(again).tokens, epoch[5].tokens)


def test_rejects_mismatched_empty_or_overlong_data():
    with pytest.raises(ValueError, match="2 sources and 1 targets"):
        Batches(InMemory([np.array([1]), np.array([1])]), InMemory([np.array([1])]), 9, PAD, 0)
    with pytest.raises(ValueError, match="0 sources and 0 targets"):
        Batches(InMemory(), InMemory(), 9, PAD, 0)
    with pytest.raises(ValueError, match="the longest pair has 11 tokens, more than a batch of n_tokens=10 can hold"):
        Batches(*corpus([(3, 4), (11, 2)]), 10, PAD, 0)
    with pytest.raises(ValueError, match="no text has at least two tokens"):
        WindowBatches(InMemory(), 9, 0)
    with pytest.raises(ValueError, match="the longest window has 7 tokens, more than a batch of n_tokens=6 can hold"):
        WindowBatches(WINDOWS, 6, 0)
