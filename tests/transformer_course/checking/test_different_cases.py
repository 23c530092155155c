"""Tests for recognizing two mistakes that affect different cases."""

from dataclasses import replace

import torch
from torch import nn

from tests.transformer_course.checking.test_mistake_recognition import (
    HINTS,
    TWICE,
    Twice,
    known,
    module_cases,
    verdict_on,
)
from transformer_course.exercise import Exercise, Mistake


class SecondStartsAtZero(Twice):
    def __init__(self, d):
        super().__init__(d)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)


def cases_with_initial_parameters(seed):
    """Return the usual cases and a further case in which the second layer keeps its initial parameters."""
    initial = replace(module_cases(seed + 1)[0], not_loaded=("second.weight", "second.bias"))
    return [*module_cases(seed), initial]


def compare_initial_output_with_zero(output, case):
    is_initial = bool(case.not_loaded) and isinstance(output, torch.Tensor)
    return {"all are 0": not output.any()} if is_initial else output


def test_recognizes_mistakes_in_constructor_and_forward():
    mistakes = [
        Mistake("second_starts_at_zero", SecondStartsAtZero, message="The second layer starts at 0."),
        known("no_relu", TWICE.but(active=lambda hidden: hidden), summary="there is no ReLU"),
    ]
    cases, normalize = cases_with_initial_parameters, compare_initial_output_with_zero
    exercise = Exercise(Twice, cases, mistakes, HINTS, 1, "Right.", steps=TWICE, normalize=normalize)

    class Both(SecondStartsAtZero):
        def forward(self, x):
            return self.second(self.first(x))

    verdict = verdict_on(Both, exercise)
    assert verdict.mistakes == ("second_starts_at_zero", "no_relu")
    assert verdict.message.splitlines()[1:3] == ["1. The second layer starts at 0.", "2. There is no ReLU."]

    class ThreeMistakes(SecondStartsAtZero):
        def forward(self, x):
            return self.second(self.first(x)) + 1

    assert verdict_on(ThreeMistakes, exercise).mistakes == ()
