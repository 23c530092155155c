"""Two mistakes that show in different cases are both found, even if no stepwise answer combines them."""

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


def cases_with_one_as_it_is_made(seed):
    made = replace(module_cases(seed + 1)[0], not_loaded=("second.weight", "second.bias"))
    return [*module_cases(seed), made]


def whether_zero(output, case):
    is_made = bool(case.not_loaded) and isinstance(output, torch.Tensor)
    return {"all are 0": not output.any()} if is_made else output


def test_names_constructor_mistake_and_forward_mistake():
    mistakes = [
        Mistake("second_starts_at_zero", SecondStartsAtZero, message="The second layer starts at 0."),
        known("no_relu", TWICE.but(active=lambda hidden: hidden), summary="there is no ReLU"),
    ]
    exercise = Exercise(
        Twice, cases_with_one_as_it_is_made, mistakes, HINTS, 1, "Right.", steps=TWICE, normalize=whether_zero
    )

    class Both(SecondStartsAtZero):
        def forward(self, x):
            return self.second(self.first(x))

    verdict = verdict_on(Both, exercise)
    assert verdict.mistakes == ("second_starts_at_zero", "no_relu")
    assert verdict.message.splitlines()[1:3] == ["1. The second layer starts at 0.", "2. There is no ReLU."]

    class More(SecondStartsAtZero):
        def forward(self, x):
            return self.second(self.first(x)) + 1

    assert verdict_on(More, exercise).mistakes == ()
