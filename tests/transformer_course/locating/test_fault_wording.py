"""Tests for describing a fault and for its hints."""

from tests.transformer_course.locating.fault_in import fault_in
from transformer_course.exercises import every_exercise


def test_last_hint_shows_step_code():
    fault = fault_in(
        "scores = queries @ keys.mT / (keys.shape[-1] ** 0.5 + 0.1)", "return torch.softmax(scores, -1) @ values"
    )
    assert len(fault.hints) == 4
    assert fault.hints[0].startswith("Look at your line 2, `")
    assert "    def " in fault.hints[-1] and '"""' not in fault.hints[-1]


def test_every_step_has_noun_formula_and_definition():
    for exercise in every_exercise().values():
        for name in exercise.steps.steps if exercise.steps else ():
            steps = exercise.steps
            assert steps.has_noun(name), (exercise.name, name)
            assert steps.noun(name) and steps.formula(name) and steps.code(name).startswith("def ")


def test_message_contains_observed_and_expected_values():
    wrong_scale = fault_in("return torch.softmax(queries @ keys.mT / 3.0, dim=-1) @ values")
    assert wrong_scale.message.startswith("Line 2: here you use 3, but √d_k should be 2.")
    wrong_weights = fault_in(
        "scores = queries @ keys.mT / keys.shape[-1] ** 0.5", "return torch.softmax(scores, dim=-1)[0] @ values"
    )
    assert (
        "here you compute a value of shape (2,), but the weights should have the shape (1, 2)." in wrong_weights.message
    )
