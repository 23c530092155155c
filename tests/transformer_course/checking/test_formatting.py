"""Tests for formatting values, names and long texts in messages."""

import pytest
import torch

from transformer_course.checking.formatting import format_both, format_value, listed, listed_layers, readable


def test_formats_numbers_with_few_digits_and_unsigned_zero():
    assert format_value(torch.tensor([[1 / 3, -0.0], [12345.678, torch.nan]])) == "[[0.3333, 0], [1.235e+04, nan]]"
    assert format_value([1, True, None, "a", [0.5]]) == "[1, True, None, 'a', [0.5]]"


def test_formats_tuples_as_in_python():
    assert format_value(((), (3,), (3, -0.0))) == "((), (3,), (3, 0))"


def test_truncates_long_texts_and_replaces_surrogates():
    assert readable("a" * 5000) == "a" * 2000 + " …"
    assert readable("a" * 5000, max_characters=3) == "aaa …"
    assert readable("\ud800é") == "?é"


def test_formats_two_values_with_enough_digits():
    assert format_both(1.50321, 1.50341) == ("1.50321", "1.50341")
    assert format_both(1.5, 2.25) == ("1.5", "2.25")


@pytest.mark.parametrize(
    ("names", "message"),
    [([], "none"), (["a"], "`a`"), (["a", "b"], "`a` and `b`"), (["a", "b", "c"], "`a`, `b` and `c`")],
)
def test_lists_names_as_code(names, message):
    assert listed(names) == message


def test_lists_some_layers_and_counts_remaining_layers():
    assert listed_layers(["w_q.weight", "w_q.bias", "eps"]) == "`w_q` and `eps`"
    assert listed_layers([f"layers.{i}.weight" for i in range(6)]) == (
        "`layers.0`, `layers.1`, `layers.2`, `layers.3` and 2 more"
    )
