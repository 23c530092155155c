"""Pairs of mistakes that fit the observations are tried first, up to a limit."""

import itertools

import pytest
import torch

from tests.transformer_course.generated_mistakes.answer import ROWS, STEPS, WEIGHTS
from transformer_course.checking import mistake_pairs
from transformer_course.checking.mistake_pairs import (
    NOTHING,
    OBSERVED,
    OTHER,
    RIGHT,
    Single,
    case_letters,
    in_order,
    likely,
    written,
)
from transformer_course.exercise import Mistake
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, GeneratedMistake

MISTAKES = [
    Mistake(
        "negative", STEPS.but(rows=lambda rows: -rows), STEPS.but(mean=lambda mean: -mean), summary="it is negative"
    ),
    Mistake("whole", lambda rows, weights, scale=None: rows, message="Rows are no mean."),
    Mistake("doubled", STEPS.but(shares=lambda shares: 2 * shares), summary="the shares are doubled"),
]


def single(name, rank, *, is_generated=True):
    mistake = GeneratedMistake(AnswerEdit("shares", name, code={"shares": "weights"}), STEPS)
    return Single(mistake, 0, rank, is_generated=is_generated)


def names(pairs):
    return [(one.mistake.name.partition("_")[0], other.mistake.name.partition("_")[0]) for one, other in pairs]


def test_mistake_without_changed_step_forms_no_pair():
    singles = written(MISTAKES, STEPS)
    assert [(one.mistake.name, one.number, one.rank) for one in singles] == [
        ("negative", 0, 0), ("negative", 1, 1), ("doubled", 0, 2),
    ]  # fmt: skip
    pairs = in_order(itertools.combinations(singles, 2))
    assert [pair.mistakes[-1].name for pair in pairs] == ["negative", "doubled", "negative"]
    assert pairs[1].variant.attempt(ROWS, WEIGHTS).tolist() == [-5.0, -8.5, -15.5]


def tried(displayed, observed):
    """Return, in order, the pairs tried for mistakes with the given letters."""
    some = [single(name, rank) for rank, name in enumerate("abcdef"[: len(displayed)])]
    return ["".join(pair) for pair in names(likely(some, dict(zip(some, displayed, strict=True)), observed))]


def test_sampler_letters_compare_token_frequencies():
    right, observed, other = ({"frequencies": torch.tensor([a, 1 - a]), "n_samples": 1000} for a in (0.5, 0.9, 0.2))
    assert list(case_letters([right, observed, other], right, observed)) == [RIGHT, OBSERVED, OTHER]


def test_non_finite_and_missing_outputs_get_letter_nothing():
    right, observed = {"output": torch.ones(2)}, {"output": torch.zeros(2)}
    crash = {"error": {"type": "ValueError", "message": ""}}
    found = case_letters([right, observed, {"output": torch.full((2,), torch.nan)}, crash], right, observed)
    assert list(found) == [RIGHT, OBSERVED, NOTHING, NOTHING]


def test_both_mistakes_are_correct_where_attempt_is():
    assert tried(["or", "oo", "oo", "or"], "sr")[0] == "ad"


def test_one_mistake_explains_attempt_where_other_is_correct():
    assert tried(["ro", "oo", "ro", "so"], "ss")[:3] == ["ad", "bd", "cd"]


def test_unreadable_output_may_combine_with_anything():
    assert tried(["ro", "no", "oo"], "ss")[:2] == ["ab", "bc"]


def test_tries_all_pairs_with_unexpected_forms_last():
    found = tried(["", "o", "o", "o"], "s")
    assert found == ["bc", "bd", "cd", "ab", "ac", "ad"]


def test_limits_number_of_pairs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mistake_pairs, "MAX_PAIRS", 4)
    monkeypatch.setattr(mistake_pairs, "MAX_UNLIKELY_PAIRS", 2)
    assert tried(["", "o", "o", "o"], "s") == ["bc", "bd", "ab", "ac"]


def test_likely_with_far_fetched_precedes_two_moderate_mistakes():
    some = [single(name, rank) for name, rank in (("a", 0), ("b", 50), ("c", 50), ("d", 200))]
    assert names(likely(some, dict.fromkeys(some, "o"), "s"))[2] == ("a", "d")


def test_two_written_mistakes_are_not_a_generated_pair():
    some = [single("a", 0, is_generated=False), single("b", 1, is_generated=False), single("c", 2)]
    assert names(likely(some, {}, "s")) == [("a", "c"), ("b", "c")]


def test_ranks_wordings_with_written_mistakes():
    def doubled(rank, **kinds):
        mistake = GeneratedMistake(AnswerEdit("shares", "doubled", code={"shares": "2 * weights"}), STEPS)
        return Single(mistake, 0, rank, is_generated=True, **kinds)

    negative, plain, worded = written(MISTAKES[:1], STEPS)[0], doubled(1), doubled(2, has_own_words=True)
    ranked = in_order([(negative, plain), (negative, worded)])
    assert [pair.n_generated for pair in ranked] == [0, 1]
    assert worded.mistake in ranked[0].mistakes
