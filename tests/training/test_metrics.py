"""Scores, against values worked out by hand."""

import math

import pytest

from transformer_lab.training.metrics import bleu, chrf, exact_match


def test_exact_match_counts_what_is_right_to_the_last_character():
    assert exact_match(["a", "b ", "c", "D"], ["a", "b", "c", "d"]) == 50
    assert exact_match(["a"], ["a"]) == 100


def test_bleu_is_a_geometric_mean_of_precisions_with_a_brevity_penalty():
    # 6 words of 6; 4 of 5 pairs, 3 of 4 triples and 2 of 3 quadruples of words occur in the reference of 7.
    expected = math.exp(1 - 7 / 6) * (6 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert bleu(["the cat sat on mat the"], ["the cat sat on mat and the"]) == pytest.approx(100 * expected)


def test_bleu_is_of_the_corpus_and_not_a_mean_of_sentences():
    one, two = (["a b c d e"], ["a b c d e"]), (["a b c x y z"], ["a b c d e f"])
    assert bleu(one[0] + two[0], one[1] + two[1]) != pytest.approx((bleu(*one) + bleu(*two)) / 2)


def test_chrf_looks_at_characters():
    assert chrf(["abcdefgh"], ["abcdefgh"]) == pytest.approx(100)
    assert 0 < chrf(["translates"], ["translated"]) < 100
    assert bleu(["translates"], ["translated"]) == 0


@pytest.mark.parametrize("score", [exact_match, bleu, chrf])
def test_what_cannot_be_scored_is_refused(score):
    with pytest.raises(ValueError, match="got 0 translations and 0 references"):
        score([], [])
    with pytest.raises(ValueError, match="got 2 translations and 1 references"):
        score(["a", "b"], ["a"])
