"""Right numbers are not all: gradients that are cut are told with their place, and arguments that are changed."""

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

MAY_CUT = Exercise(mixture, EXERCISE.cases, EXERCISE.mistakes, HINTS, 1, "Right.", steps=EXERCISE.steps)
MAY_CUT = Exercise(**{**vars(MAY_CUT), "may_cut_gradients": True})


def attention_weights(queries, keys):
    return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1)


def detaches_weights(q, k, v):
    return attention_weights(q, k).detach() @ v


def detaches_half_of_the_keys(q, k, v):
    return torch.softmax((q / 2 @ k.mT + q / 2 @ k.data.mT) / k.shape[-1] ** 0.5, dim=-1) @ v


def without_gradients(q, k, v):
    with torch.no_grad():
        return mixture(q, k, v)


def test_a_gradient_that_is_cut_is_told_with_what_it_does_not_reach_its_place_and_what_cuts_it():
    verdict = verdict_on(detaches_weights)
    assert (verdict.status, verdict.mistakes) == ("mistake", ("gradient_cut",))
    assert verdict.message == (
        "Your numbers are right, but no gradient reaches `queries` and `keys`. Backpropagation stops where, or "
        "before, you take the softmax over the keys. `.detach()` cuts the gradient."
    )


def test_a_gradient_that_is_cut_in_part_is_told_as_that():
    message = verdict_on(detaches_half_of_the_keys).message
    assert message == (
        "Your numbers are right, but only part of the gradient reaches `keys`: one of its paths is cut. "
        "`.data` cuts the gradient."
    )


def test_an_argument_that_is_cut_off_as_it_comes_in_is_not_told_as_a_cut_at_the_first_step():
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
    assert "Backpropagation stops where, or before, you double the numbers." in of_x.message
    of_y = verdict_on(lambda x, y: reference(x, y.detach()), exercise)
    assert of_y.message == "Your numbers are right, but no gradient reaches `y`. `.detach()` cuts the gradient."


def test_an_answer_from_an_earlier_call_is_told_as_that_and_not_as_a_cut():
    kept = {}

    def remembers(q, k, v):
        return kept.setdefault((q.shape, k.shape), mixture(q, k, v))

    verdict = verdict_on(remembers)
    assert verdict.mistakes == ("remembers_an_earlier_call",)
    assert "returns the tensor of the first call" in verdict.message


def test_an_answer_that_cuts_all_gradients_passes_only_where_that_is_allowed():
    verdict = verdict_on(without_gradients)
    assert verdict.mistakes == ("gradient_cut",)
    assert verdict.message.endswith("`torch.no_grad()` cuts the gradient.")
    assert verdict_on(without_gradients, MAY_CUT).passed
    assert verdict_on(lambda q, k, v: torch.tensor(mixture(q, k, v).tolist()), MAY_CUT).passed


def test_an_answer_that_cuts_a_part_passes_nowhere():
    assert verdict_on(detaches_weights, MAY_CUT).mistakes == ("gradient_cut",)


def test_an_answer_that_cuts_a_part_is_not_taken_for_one_that_returns_a_plain_number():
    def mean(x, y):
        return (x * y).mean()

    without_any = Mistake("a_plain_number", lambda x, y: mean(x, y).item(), message="No gradient passes.", hints=HINTS)
    x, y = torch.arange(3.0), torch.ones(3)
    exercise = Exercise(mean, lambda seed: [Case({"x": x, "y": y}, "3 numbers")], [without_any], HINTS, 1, "Right.")
    assert verdict_on(without_any.variants[0], exercise).mistakes == ("a_plain_number",)
    assert verdict_on(lambda x, y: mean(x.detach(), y), exercise).mistakes == ("gradient_cut",)


def test_a_mistake_is_named_whatever_becomes_of_the_gradient_and_so_is_the_cut():
    verdict = verdict_on(lambda q, k, v: torch.softmax(q @ k.mT, dim=-1).detach() @ v)
    assert verdict.mistakes == ("not_scaled", "gradient_cut")
    assert verdict.message == "It not_scaled.\nAlso, no gradient reaches `queries` and `keys`."


def test_another_way_to_the_same_gradient_is_not_a_cut():
    def by_hand(q, k, v):
        scores = q @ k.mT / k.shape[-1] ** 0.5
        exponentials = torch.exp(scores - scores.amax(-1, keepdim=True).detach())  # it cancels
        return (exponentials / exponentials.sum(-1, keepdim=True)) @ v

    assert verdict_on(by_hand).passed


def test_what_torch_cannot_go_back_through_is_told_in_its_words():
    def in_place(q, k, v):
        weights = torch.exp(q @ k.mT / k.shape[-1] ** 0.5)
        total = weights.sum(-1, keepdim=True)
        weights /= total  # exp needs its own result to go back
        return weights @ v

    message = verdict_on(in_place).message
    assert message.startswith("Your numbers are right, but torch cannot compute the gradients: one of the variables")


def test_an_argument_that_is_changed_is_told():
    def changes(q, k, v):
        q /= k.shape[-1] ** 0.5
        return torch.softmax(q @ k.mT, dim=-1) @ v

    verdict = verdict_on(changes)
    assert verdict.mistakes == ("changes_argument",)
    assert "writes into `queries`" in verdict.message


def test_an_argument_that_is_overwritten_without_gradients_is_not_told_as_a_path_that_is_cut():
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
        (["x", "y"], "your code writes into `x` and `y`, which the caller may still need"),
        (["model.training"], "your code leaves `model` in a different mode (training or eval) than it found it in"),
        (
            ["x", "model.training"],
            "your code writes into `x`, which the caller may still need, and it leaves `model` in a different mode "
            "(training or eval) than it found it in",
        ),
    ],
)
def test_arguments_written_into_and_modes_are_told_apart(changed, text):
    assert describe_changes(changed) == text


def test_parameters_that_get_no_gradient_are_told_by_their_layer():
    exercise = Exercise(Twice, module_cases, [], HINTS, 1, "Right.")

    class Frozen(Twice):
        def forward(self, x):
            return self.second(torch.relu(self.first(x)).data)

    message = verdict_on(Frozen, exercise).message
    assert message == "Your numbers are right, but no gradient reaches `x` and `first`. `.data` cuts the gradient."


def verdict_in(name, attempt):
    exercise = every_exercise()[name]
    return judge(exercise, 0, [observe(attempt, case) for case in exercise.cases(0)])


def test_an_attempt_that_skips_frozen_parameters_gives_the_same_at_a_second_call():
    def gradient_norms(model):
        trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        return {name: 0.0 if one.grad is None else one.grad.norm().item() for name, one in trained.items()}

    assert "different output" not in verdict_in("gradient_norms", gradient_norms).message


def test_parameters_that_are_frozen_are_not_called_unused():
    class LoRALinear(every_exercise()["LoRALinear"].reference):
        def __init__(self, linear, rank, alpha):
            super().__init__(linear, rank, alpha)
            self.requires_grad_(False)

    verdict = verdict_in("LoRALinear", LoRALinear)
    assert "no effect" not in verdict.message


def test_an_argument_that_is_kept_from_the_first_call_is_not_called_unused():
    def soft_lookup(query, keys, values, kept={}):  # noqa: B006
        kept.setdefault(values.shape, values)
        return 2 * (keys @ query).softmax(dim=-1).square() @ kept[values.shape]

    verdict = verdict_in("soft_lookup", soft_lookup)
    assert not verdict.passed
    assert "no effect" not in verdict.message


def test_a_model_left_in_another_mode_has_a_name_and_hints_of_its_own():
    def leaks_future(model, tokens):
        model.eval()
        return every_exercise()["leaks_future"].reference(model, tokens)

    assert verdict_in("leaks_future", leaks_future).mistakes == (CHANGES_MODE,)
