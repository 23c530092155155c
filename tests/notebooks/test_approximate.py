"""Tests for comparing outputs by their words and their approximate numbers."""

import pytest

from tests.notebooks.approximate import Approximate, WordsOnly, comparison


@pytest.mark.parametrize(
    ("stored", "new", "are_close"),
    [
        ("loss 0.52", "loss 0.57", True),
        ("loss 0.52", "loss 0.7", False),
        ("loss 0.52", "gain 0.52", False),
        ("right: 0.00", "right: 0.04", True),
        ("right: 0.1", "right: 0.2", True),
        ("right: 0.1", "right: 0.3", False),
        ("change -0.02", "change +0.01", True),
        ("right: 100%", "right: 97%", True),
        ("right: 100%", "right: 60%", False),
        ("from 2.1e+08 to −3", "from 2e+08 to −3", True),
        ("from 2.1e+08 to −3", "from 2.1e+08 to 3", False),
        ("2e-08", "3e-08", True),
        ("2e-08", "5e-08", False),
        ("0e+00", "0e+00", True),
        ("4,194,304 products", "4,100,000 products", True),
        ("seed 2: 0.50", "seed 3: 0.50", False),
        ("1 to 0.98", "1.0 to 0.97", True),
        ("a  1.0\nb  0.9", "a   10.0\nb    0.9", False),
        ("a   9.9\nb   0.9", "a  10.0\nb   0.9", True),
        ("0.5 0.5", "0.5", False),
        ("measured 0.999 (nearest of the choices: 1)", "measured 1", True),
        ("measured 0.51 (nearest of the choices: 0.6)", "measured 0.55 (nearest of the choices: 0.6)", True),
        ("measured 0.69 (nearest of the choices: 0.5)", "measured 0.71 (nearest of the choices: 0.9)", False),
        ("head_1", "head_2", False),
    ],
)
def test_approximate_texts_need_equal_words_and_close_numbers(stored: str, new: str, are_close: bool) -> None:
    assert (Approximate(stored) == Approximate(new)) is are_close
    assert (Approximate(stored) != Approximate(new)) is not are_close


def test_words_only_comparison_ignores_numbers() -> None:
    assert WordsOnly("attention: 3.6 ms") == WordsOnly("attention: 140 ms")
    assert WordsOnly("attention: 3.6 ms") != WordsOnly("convolution: 3.6 ms")


def test_text_is_unequal_to_other_types() -> None:
    assert Approximate("1") != 1


def test_cell_tags_select_the_comparison() -> None:
    assert comparison([]) is str
    assert comparison(["hide-input", "approximate"]) is Approximate
    assert comparison(["words-only"]) is WordsOnly
