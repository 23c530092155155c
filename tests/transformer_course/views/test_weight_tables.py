"""Tests for the accepted formats, the encoding and the errors of weight tables."""

import numpy as np
import pytest
import torch

from transformer_course.views.weight_tables import HIDDEN, pack, weight_tables

WEIGHTS = torch.softmax(torch.randn(2, 3, 5, 7), dim=-1)  # (batch, n_heads, n_query, n_key)
QUERIES, KEYS = [list("abcde"), list("fghij")], [list("klmnopq"), list("rstuvwx")]


def tables(weights, queries=QUERIES, keys=KEYS):
    return weight_tables(weights, queries, keys, "layer 0")


def test_batch_list_and_single_sentences_give_equal_tables():
    for i, [one, two] in enumerate(zip(tables(WEIGHTS), tables(list(WEIGHTS)), strict=True)):
        [alone] = tables(WEIGHTS[i], QUERIES[i], KEYS[i])
        for table in (one, two, alone):
            assert torch.equal(table.weights, WEIGHTS[i])
            assert (table.queries, table.keys) == (tuple(QUERIES[i]), tuple(KEYS[i]))
    [one_head] = tables(WEIGHTS[0, 0], QUERIES[0], KEYS[0])
    assert torch.equal(one_head.weights, WEIGHTS[0, :1])


def test_keys_default_to_queries():
    [table] = weight_tables(torch.eye(3), list("abc"), None, "layer 0")
    assert table.keys == ("a", "b", "c")


def test_only_weights_of_exactly_zero_are_hidden():
    [table] = weight_tables(torch.tensor([[1.0, 0.0], [1.0, 1e-9]]), list("ab"), None, "layer 0")
    assert table.hidden.tolist() == [[[False, True], [False, False]]]


@pytest.mark.parametrize(
    ("queries", "keys", "first"),
    [("bc", "abcd", 1), ("d", "abcd", 3), ("abcd", "abcd", 0), ("xy", "abcd", 0), ("a", "abca", 0), ("abcd", "bc", 0)],
)
def test_queries_that_slice_the_keys_have_key_positions(queries, keys, first):
    [table] = tables(torch.zeros(len(queries), len(keys)), queries, keys)
    assert table.first == first
    assert table.names()[0] == [f"{token}{'₀₁₂₃₄'[i]}" for i, token in enumerate(queries, first)]
    index, _ = pack({"one": [table]})
    assert index["tables"][0][0]["first"] == first


def test_encoding_round_trips_and_separates_hidden_weights():
    weights = WEIGHTS.clone()
    weights[0, 1, 2, 3], weights[1, 0, 0, 0] = 0.0, 1e-9
    index, data = pack({"one": tables(weights), "two": tables(WEIGHTS[:, :1])})
    numbers = np.frombuffer(data, dtype="<u2")
    assert (index["layers"], len(index["sequences"])) == (["one", "two"], 4)
    for layer, original in enumerate((weights, WEIGHTS[:, :1])):
        for sentence, table in enumerate(index["tables"][layer]):
            size = original[sentence].numel()
            levels = numbers[table["start"] : table["start"] + size].reshape(original[sentence].shape)
            assert np.array_equal(levels == HIDDEN, original[sentence].numpy() == 0)
            read = np.where(levels == HIDDEN, 0, levels / (HIDDEN - 1))
            assert np.abs(read - original[sentence].numpy()).max() < 1e-5
            assert index["sequences"][table["keys"]] == KEYS[sentence]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"weights": WEIGHTS[:1]},
            "each sentence must have weights and queries; got weights for 1 and queries for 2 sentences",
        ),
        (
            {"weights": WEIGHTS[..., :6]},
            "one token for each of 5 queries and 6 keys; got 5 query tokens and 7 key tokens",
        ),
        ({"weights": WEIGHTS[..., None]}, r"\(n_heads, n_query, n_key\) per sentence; got \(3, 5, 7, 1\)"),
        ({"weights": 2 * WEIGHTS.clamp(min=0.6)}, r"between 0 and 1; got 1.2 to "),
    ],
)
def test_rejects_mismatched_weights_and_tokens(change, error):
    with pytest.raises(ValueError, match=f"^layer 0: .*{error}"):
        tables(**{"weights": WEIGHTS, **change})
