"""One slip: it runs as code in its step's place, and is a mistake in the words of the step."""

import pytest

from tests.transformer_course.slips.answer import ROWS, STEPS, WEIGHTS
from transformer_course.slips.slip import Slip, SlipMistake, used_names, variant

LEFT_OUT = Slip("shares", "left_out", "", "weights", "weights", 1.0, {"shares": "weights"})


def test_a_slip_runs_in_the_place_of_its_step():
    assert SlipMistake(LEFT_OUT, STEPS).ways[0].attempt(ROWS, WEIGHTS).tolist() == [10.0, 17.0, 31.0]
    several = variant(STEPS, {"mean": "value = rows * scaled[:, None]\nreturn value.mean(dim=0)"})
    assert several.attempt(ROWS, WEIGHTS).tolist() == [1.25, 2.125, 3.875]
    with pytest.raises(ValueError, match="has no"):
        STEPS.but(nothing=lambda: 1)


def test_a_slip_may_meet_another_mistake():
    other = STEPS.but(rows=lambda rows: -rows)
    assert SlipMistake(LEFT_OUT, STEPS).variants[0].combined(other).attempt(ROWS, WEIGHTS).tolist() == [-10, -17, -31]


def test_a_slip_is_told_in_the_words_of_its_step():
    mistake = SlipMistake(LEFT_OUT, STEPS)
    assert mistake.name == "left_out_shares"
    assert mistake.does == "the step “divide by the sum” is left out"
    assert mistake.says == "The step “divide by the sum” is left out."
    assert len(mistake.hints) == 3
    assert mistake.hints[0] == "What is the step “divide by the sum” for? What is missing from the result without it?"
    assert mistake.hints[2] == "As code: `weights / total`, where `total` is the sum of the weights."


def test_another_reading_of_the_same_behaviour_is_told_as_well():
    other = Slip("scaled", "wrong_input", "shares", "weights", "weights")
    both = Slip("shares", "left_out", "", "weights", "weights", 1.0, {"shares": "weights"}, (), [other])
    assert SlipMistake(both, STEPS).says.endswith(
        "The same comes out where in the step “multiply by the scale, if there is one”, `weights` stands where the "
        "shares should."
    )


def test_a_teacher_may_say_it_in_words_of_her_own():
    told = {"left_out_shares": "Weights that do not add up to 1 make no mean."}
    assert SlipMistake(LEFT_OUT, STEPS, told).says == "Weights that do not add up to 1 make no mean."


def test_names_that_code_makes_itself_are_no_values():
    assert used_names("rows = 1\nreturn rows + total", {"rows", "total"}) == ["total"]
    assert used_names("lambda rows: rows + shares", {"rows", "shares"}) == ["shares"]
