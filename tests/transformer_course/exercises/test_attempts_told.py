"""Attempts of which too little was told once: each is the right answer, with some lines done otherwise."""

import pytest

from tests.transformer_course.exercises.blind import Attempt, check
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

EXERCISES = every_exercise()
ATTEMPTS = {
    "top-k fills with zeros": (
        "sample_next", [("logits < smallest, -torch.inf", "logits < smallest, 0.0")], ["top_k_fills_with_zero"],
    ),
    "both matrices start at zero, and no scale": (
        "LoRALinear",
        [("self.scale * ", ""), ("        self.scale = ", "        nn.init.zeros_(self.a)\n        self.scale = ")],
        ["a_starts_at_zero", "left_out_scaled"],
    ),
    "bos counts, and one source alone is asked": (
        "beam_search",
        [("5 + len(found[0])", "6 + len(found[0])"), ("for sentence in source:", "for sentence in source[:1]:")],
        ["length_with_bos", "first_only_output"],
    ),
    "no penalty, and one text of the beam too many": (
        "beam_search",
        [("/ ((5 + len(found[0])) / 6) ** length_penalty", ""), ("[:beam_size]", "[: beam_size + 1]")],
        ["beam_too_wide", "no_length_penalty"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def session():
    return Session(EXERCISES)


@pytest.mark.parametrize("what", ATTEMPTS)
def test_what_is_wrong_is_told(what, session):
    name, edits, mistakes = ATTEMPTS[what]
    code = EXERCISES[name].solution
    for right, wrong in edits:
        assert right in code
        code = code.replace(right, wrong)
    verdict = check(Attempt(name, what, "one", code, frozenset()), session)
    assert list(verdict.mistakes) == mistakes, verdict.message
