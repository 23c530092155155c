"""Tests that pairs of mistakes that fit the observations are tried first, and that their number is limited."""

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
    """Return the first part of each mistake's name."""
    return [tuple(single.mistake.name.partition("_")[0] for single in pair) for pair in pairs]


def test_mistake_without_changed_step_forms_no_pair():
    singles = written(MISTAKES, STEPS)
    assert [(single.mistake.name, single.number, single.rank) for single in singles] == [
        ("negative", 0, 0), ("negative", 1, 1), ("doubled", 0, 2),
    ]  # fmt: skip
    pairs = in_order(itertools.combinations(singles, 2))
    assert [pair.mistakes[-1].name for pair in pairs] == ["negative", "doubled", "negative"]
    assert pairs[1].variant.attempt(ROWS, WEIGHTS).tolist() == [-5.0, -8.5, -15.5]


def pairs_for(letters, observed):
    """Return the pairs that are tried, in order, for mistakes a, b, c, … with these letters for each case."""
    singles = [single(name, rank) for rank, name in enumerate("abcdef"[: len(letters)])]
    return ["".join(pair) for pair in names(likely(singles, dict(zip(singles, letters, strict=True)), observed))]


def test_sampler_case_letters_depend_on_token_frequencies():
    right, observed, other = ({"frequencies": torch.tensor([p, 1 - p]), "n_samples": 1000} for p in (0.5, 0.9, 0.2))
    assert list(case_letters([right, observed, other], right, observed)) == [RIGHT, OBSERVED, OTHER]


def test_assigns_nothing_letter_to_nonfinite_or_missing_outputs():
    right, observed = {"output": torch.ones(2)}, {"output": torch.zeros(2)}
    crash = {"error": {"type": "ValueError", "message": ""}}
    found = case_letters([right, observed, {"output": torch.full((2,), torch.nan)}, crash], right, observed)
    assert list(found) == [RIGHT, OBSERVED, NOTHING, NOTHING]


def test_paired_mistakes_pass_cases_that_attempt_passes():
    assert pairs_for(["or", "oo", "oo", "or"], "sr")[0] == "ad"


def test_one_mistake_explains_case_unaffected_by_second_mistake():
    assert pairs_for(["ro", "oo", "ro", "so"], "ss")[:3] == ["ad", "bd", "cd"]


def test_non_finite_output_combines_with_any_output():
    assert pairs_for(["ro", "no", "oo"], "ss")[:2] == ["ab", "bc"]


def test_pairs_with_mismatched_forms_come_last():
    found = pairs_for(["", "o", "o", "o"], "s")
    assert found == ["bc", "bd", "cd", "ab", "ac", "ad"]


def test_limits_number_of_pairs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mistake_pairs, "MAX_PAIRS", 4)
    monkeypatch.setattr(mistake_pairs, "MAX_UNLIKELY_PAIRS", 2)
    assert pairs_for(["", "o", "o", "o"], "s") == ["bc", "bd", "ab", "ac"]


def test_likely_and_unlikely_precede_two_moderate_mistakes():
    singles = [single(name, rank) for name, rank in (("a", 0), ("b", 50), ("c", 50), ("d", 200))]
    assert names(likely(singles, dict.fromkeys(singles, "o"), "s"))[2] == ("a", "d")


def test_two_handwritten_mistakes_are_not_a_generated_pair():
    singles = [single("a", 0, is_generated=False), single("b", 1, is_generated=False), single("c", 2)]
    assert names(likely(singles, {}, "s")) == [("a", "c"), ("b", "c")]


def test_generated_mistake_with_message_ranks_like_handwritten_mistake():
    def doubled(rank, **keywords):
        mistake = GeneratedMistake(AnswerEdit("shares", "doubled", code={"shares": "2 * weights"}), STEPS)
        return Single(mistake, 0, rank, is_generated=True, **keywords)

    negative, plain, with_message = written(MISTAKES[:1], STEPS)[0], doubled(1), doubled(2, has_own_words=True)
    ranked = in_order([(negative, plain), (negative, with_message)])
    assert [pair.n_generated for pair in ranked] == [0, 1]
    assert with_message.mistake in ranked[0].mistakes
