"""Tests that token stores return the written sequences in any order and keep them on disk."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_lab.data.token_store import TokenStore, TokenWriter


def store(path, sequences):
    with TokenWriter(path) as writer:
        for sequence in sequences:
            writer.add(sequence)
    return TokenStore(path)


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=5), max_size=9))
def test_written_sequences_round_trip(tmp_path_factory, sequences):
    read = store(tmp_path_factory.mktemp("store") / "x.tokens", sequences)
    assert len(read) == len(sequences)
    assert [sequence.tolist() for sequence in read] == sequences if sequences else True
    assert read.lengths.tolist() == [len(sequence) for sequence in sequences]


def test_sequences_are_int64_for_torch(tmp_path):
    assert store(tmp_path / "x.tokens", [[1, 2]])[0].dtype == np.int64


def test_tokens_stay_on_disk(tmp_path):
    """A store should use 12 bytes of memory per sequence, regardless of the sequence's length."""
    n = 20_000
    store(tmp_path / "x.tokens", [[7] * 50] * n)
    tracemalloc.start()
    try:
        read = TokenStore(tmp_path / "x.tokens")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(read) == n
    assert 12 * n <= held < 12.5 * n


def test_rejects_truncated_store(tmp_path):
    path = tmp_path / "x.tokens"
    with pytest.raises(KeyboardInterrupt), TokenWriter(path) as writer:
        writer.add([1, 2, 3])
        raise KeyboardInterrupt
    with pytest.raises(FileNotFoundError):
        TokenStore(path)
    store(path, [[1, 2, 3], [4]])
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=r"should contain 4 tokens of 4 bytes but has 12 bytes"):
        TokenStore(path)


def test_rewriting_replaces_the_old_contents(tmp_path):
    store(tmp_path / "x.tokens", [[1], [2]])
    assert [list(sequence) for sequence in store(tmp_path / "x.tokens", [[3]])] == [[3]]
