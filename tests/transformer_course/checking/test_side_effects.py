"""Tests for detecting detached gradients and changed arguments in answers with correct outputs."""

import pytest
import torch

from tests.transformer_course.checking.test_mistake_recognition import (
    EXERCISE,
    HINTS,
    Twice,
    mixture,
    module_cases,
    verdict_on,
)
from transformer_course.checking.general_mistakes import CHANGES_MODE
from transformer_course.checking.judge import judge
from transformer_course.checking.side_effects import describe_changes
from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises import every_exercise
from transformer_course.running.case import Case
from transformer_course.running.observe import observe
from transformer_course.steps import InSteps

MAY_DETACH = Exercise(mixture, EXERCISE.cases, EXERCISE.mistakes, HINTS, 1, "Right.", steps=EXERCISE.steps)
MAY_DETACH = Exercise(**{**vars(MAY_DETACH), "may_cut_gradients": True})


def attention_weights(queries, keys):
    return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1)


def detaches_weights(q, k, v):
    return attention_weights(q, k).detach() @ v


def detaches_half_of_the_keys(q, k, v):
    return torch.softmax((q / 2 @ k.mT + q / 2 @ k.data.mT) / k.shape[-1] ** 0.5, dim=-1) @ v


def without_gradients(q, k, v):
    with torch.no_grad():
        return mixture(q, k, v)


def test_reports_step_and_cause_of_detached_gradient():
    verdict = verdict_on(detaches_weights)
    assert (verdict.status, verdict.mistakes) == ("mistake", ("gradient_cut",))
    assert verdict.message == (
        "Your numbers are right, but no gradient reaches `queries` and `keys`. Backpropagation stops at or "
        "before the point where you take the softmax over the keys. `.detach()` cuts the gradient."
    )


def test_reports_partially_detached_gradient():
    message = verdict_on(detaches_half_of_the_keys).message
    assert message == (
        "Your numbers are right, but only part of the gradient reaches `keys`: one of its paths is cut. "
        "`.data` cuts the gradient."
    )


def test_does_not_report_detached_argument_as_step():
    def doubled(x):
        """double the numbers"""
        return 2 * x

    def total(doubled, y):
        """add both up"""
        return (doubled + y).sum(dim=-1)

    def reference(x, y):
        return (2 * x + y).sum(dim=-1)

    steps = InSteps(doubled, total, reference=reference)
    cases = [Case({"x": torch.ones(2, 3), "y": torch.ones(3)}, "")]
    exercise = Exercise(reference, lambda seed: cases, [], [], 1, "", steps=steps)
    of_x = verdict_on(lambda x, y: reference(x.detach(), y), exercise)
    assert "Backpropagation stops at or before the point where you double the numbers." in of_x.message
    of_y = verdict_on(lambda x, y: reference(x, y.detach()), exercise)
    assert of_y.message == "Your numbers are right, but no gradient reaches `y`. `.detach()` cuts the gradient."


def test_distinguishes_cached_result_from_detached_gradient():
    cache = {}

    def caches(q, k, v):
        return cache.setdefault((q.shape, k.shape), mixture(q, k, v))

    verdict = verdict_on(caches)
    assert verdict.mistakes == ("remembers_an_earlier_call",)
    assert "returns the tensor of the first call" in verdict.message


def test_accepts_fully_detached_gradients_only_if_allowed():
    verdict = verdict_on(without_gradients)
    assert verdict.mistakes == ("gradient_cut",)
    assert verdict.message.endswith("`torch.no_grad()` cuts the gradient.")
    assert verdict_on(without_gradients, MAY_DETACH).passed
    assert verdict_on(lambda q, k, v: torch.tensor(mixture(q, k, v).tolist()), MAY_DETACH).passed


def test_rejects_partially_detached_gradients():
    assert verdict_on(detaches_weights, MAY_DETACH).mistakes == ("gradient_cut",)


def test_distinguishes_partially_detached_gradient_from_plain_number():
    def mean(x, y):
        return (x * y).mean()

    plain_number = Mistake("a_plain_number", lambda x, y: mean(x, y).item(), message="No gradient passes.", hints=HINTS)
    x, y = torch.arange(3.0), torch.ones(3)
    exercise = Exercise(mean, lambda seed: [Case({"x": x, "y": y}, "3 numbers")], [plain_number], HINTS, 1, "Right.")
    assert verdict_on(plain_number.variants[0], exercise).mistakes == ("a_plain_number",)
    assert verdict_on(lambda x, y: mean(x.detach(), y), exercise).mistakes == ("gradient_cut",)


def test_reports_mistake_and_detached_gradient():
    verdict = verdict_on(lambda q, k, v: torch.softmax(q @ k.mT, dim=-1).detach() @ v)
    assert verdict.mistakes == ("not_scaled", "gradient_cut")
    assert verdict.message == "It not_scaled.\nAlso, no gradient reaches `queries` and `keys`."


def test_accepts_alternative_path_to_same_gradient():
    def by_hand(q, k, v):
        scores = q @ k.mT / k.shape[-1] ** 0.5
        exponentials = torch.exp(scores - scores.amax(-1, keepdim=True).detach())  # the maximum cancels in the softmax
        return (exponentials / exponentials.sum(-1, keepdim=True)) @ v

    assert verdict_on(by_hand).passed


def test_explains_backward_that_fails_after_change_in_place():
    def in_place(q, k, v):
        weights = torch.exp(q @ k.mT / k.shape[-1] ** 0.5)
        total = weights.sum(-1, keepdim=True)
        weights /= total  # the backward pass of exp needs the unmodified output
        return weights @ v

    message = verdict_on(in_place).message
    assert message.startswith("Your numbers are right, but torch cannot compute the gradients: they depend on values")


def test_reports_changed_argument():
    def changes(q, k, v):
        q /= k.shape[-1] ** 0.5
        return torch.softmax(q @ k.mT, dim=-1) @ v

    verdict = verdict_on(changes)
    assert verdict.mistakes == ("changes_argument",)
    assert "changes `queries` in place" in verdict.message


def test_overwritten_argument_does_not_count_as_detached():
    def overwrites(q, k, v):
        with torch.no_grad():
            q /= k.shape[-1] ** 0.5
        return torch.softmax(q @ k.mT, dim=-1) @ v

    verdict = verdict_on(overwrites)
    assert verdict.mistakes == ("changes_argument", "gradient_cut")
    assert verdict.message.endswith("\nAlso, the gradient that reaches `queries` is wrong.")


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (["x", "y"], "your code changes `x` and `y` in place, although the caller may still need them"),
        (["model.training"], "your code leaves `model` in a different mode (training or eval) than it found it in"),
        (
            ["x", "model.training"],
            "your code changes `x` in place, although the caller may still need it, and it leaves `model` in a "
            "different mode (training or eval) than it found it in",
        ),
    ],
)
def test_distinguishes_changed_arguments_from_changed_modes(changed, text):
    assert describe_changes(changed) == text


def test_reports_layer_without_gradient():
    exercise = Exercise(Twice, module_cases, [], HINTS, 1, "Right.")

    class Frozen(Twice):
        def forward(self, x):
            return self.second(torch.relu(self.first(x)).data)

    message = verdict_on(Frozen, exercise).message
    assert message == "Your numbers are right, but no gradient reaches `x` and `first`. `.data` cuts the gradient."


def verdict_in(name, attempt):
    exercise = every_exercise()[name]
    return judge(exercise, 0, [observe(attempt, case) for case in exercise.cases(0)])


def test_answer_that_skips_frozen_parameters_is_repeatable():
    def gradient_norms(model):
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        return {name: 0.0 if p.grad is None else p.grad.norm().item() for name, p in trained.items()}

    assert "different output" not in verdict_in("gradient_norms", gradient_norms).message


def test_frozen_parameters_do_not_count_as_unused():
    class LoRALinear(every_exercise()["LoRALinear"].reference):
        def __init__(self, linear, rank, alpha):
            super().__init__(linear, rank, alpha)
            self.requires_grad_(False)

    verdict = verdict_in("LoRALinear", LoRALinear)
    assert "no effect" not in verdict.message


def test_cached_argument_does_not_count_as_unused():
    def soft_lookup(query, keys, values, cache={}):  # noqa: B006
        cache.setdefault(values.shape, values)
        return 2 * (keys @ query).softmax(dim=-1).square() @ cache[values.shape]

    verdict = verdict_in("soft_lookup", soft_lookup)
    assert not verdict.passed
    assert "no effect" not in verdict.message


def test_reports_changed_mode():
    def leaks_future(model, tokens):
        model.eval()
        return every_exercise()["leaks_future"].reference(model, tokens)

    assert verdict_in("leaks_future", leaks_future).mistakes == (CHANGES_MODE,)
