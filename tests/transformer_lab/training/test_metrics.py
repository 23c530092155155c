"""Test metrics against hand-computed values."""

import math

import pytest

from transformer_lab.training.metrics import bits_per_byte, bleu, chrf, exact_match, perplexity


def test_exact_match_compares_every_character():
    assert exact_match(["a", "b ", "c", "D"], ["a", "b", "c", "d"]) == 50
    assert exact_match(["a"], ["a"]) == 100


def test_bleu_matches_its_formula():
    # The reference (7 words) contains 6 of 6 words, 4 of 5 bigrams, 3 of 4 trigrams and 2 of 3 4-grams.
    expected = math.exp(1 - 7 / 6) * (6 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert bleu(["the cat sat on mat the"], ["the cat sat on mat and the"]) == pytest.approx(100 * expected)


def test_computes_bleu_over_the_whole_corpus():
    first, second = (["a b c d e"], ["a b c d e"]), (["a b c x y z"], ["a b c d e f"])
    corpus_bleu = bleu(first[0] + second[0], first[1] + second[1])
    assert corpus_bleu != pytest.approx((bleu(*first) + bleu(*second)) / 2)


def test_chrf_compares_characters():
    assert chrf(["abcdefgh"], ["abcdefgh"]) == pytest.approx(100)
    assert 0 < chrf(["translates"], ["translated"]) < 100
    assert bleu(["translates"], ["translated"]) == 0


@pytest.mark.parametrize("score", [exact_match, bleu, chrf])
def test_rejects_empty_or_unpaired_translations(score):
    with pytest.raises(ValueError, match="got 0 translations and 0 references"):
        score([], [])
    with pytest.raises(ValueError, match="got 2 translations and 1 references"):
        score(["a", "b"], ["a"])


def test_perplexity_is_inverse_geometric_mean_probability():
    probabilities = [0.5, 0.1, 0.02]
    loss = -sum(map(math.log, probabilities)) / 3
    assert perplexity(loss) == pytest.approx(math.prod(probabilities) ** (-1 / 3))


def test_bits_per_byte_do_not_depend_on_tokenization():
    """If a two-byte token has the product of its bytes' probabilities, the bits per byte must not change."""
    bytes_ = [0.5, 0.25, 0.125, 0.125]
    loss = -sum(math.log2(p) for p in bytes_) / 4 * math.log(2)
    pairs = [bytes_[0] * bytes_[1], bytes_[2] * bytes_[3]]
    loss_of_pairs = -sum(math.log2(p) for p in pairs) / 2 * math.log(2)
    assert bits_per_byte(loss, 4, n_bytes=4) == pytest.approx(9 / 4)
    assert bits_per_byte(loss_of_pairs, 2, n_bytes=4) == pytest.approx(9 / 4)
    with pytest.raises(ValueError, match="n_bytes=0"):
        bits_per_byte(1.0, 1, 0)
