"""Tests for the message templates about missing steps, operands, calls and conditions."""

import pytest

from tests.transformer_course.generated_mistakes.answer import STEPS
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.generated_mistakes.wording import words

ONLY_TOTAL = {"shares": "if a:\n    return 0\nreturn total"}


@pytest.mark.parametrize(
    ("edit", "summary"),
    [
        (AnswerEdit("shares", "left_out", "", "weights"), "you never divide by the sum"),
        (
            AnswerEdit("shares", "done_again", "weights", "mean", "mean"),
            "you also divide the mean by the sum of the weights",
        ),
        (AnswerEdit("shares", "part_left_out", "weights / total", "weights"), "you never divide by the sum"),
        (AnswerEdit("shares", "part_left_out", "weights / total", "total"), "you use only the sum of the weights"),
        (AnswerEdit("shares", "part_left_out", "weights + 1", "weights"), "you never add 1 to `weights`"),
        (
            AnswerEdit("shares", "part_left_out", "weights ** 0.5", "weights"),
            "you never take the square root of `weights` when you divide by the sum",
        ),
        (
            AnswerEdit("shares", "part_left_out", "torch.cat([rows, weights])", "rows"),
            "you leave out `weights` when you compute the shares",
        ),
        (
            AnswerEdit("shares", "part_left_out", "torch.cat([rows, a])", "torch.cat([rows, rows])"),
            "you use `rows` twice when you divide by the sum",
        ),
        (AnswerEdit("shares", "call_left_out", "f(total)", "total", code=ONLY_TOTAL), "you never divide by the sum"),
        (
            AnswerEdit("total", "call_left_out", "len(rows)", "rows", code={"total": "return rows * 2"}),
            "you use `rows` itself instead of its length when you add up the weights",
        ),
        (
            AnswerEdit("total", "call_left_out", "a.log()", "a", code={"total": "return a[0]"}),
            "you leave out the natural logarithm when you add up the weights",
        ),
        (
            AnswerEdit("mean", "call_left_out", "a.flatten(2)", "a", code={"mean": "return a[0]"}),
            "you never flatten when you add up the rows",
        ),
        (AnswerEdit("scaled", "always_one", "", "shares if x else 0"), "you never use `scale`"),
        (AnswerEdit("scaled", "always_one", "", "scale * shares"), "you don't handle the case that `scale` is None"),
    ],
)
def test_summary_names_missing_part(edit, summary):
    assert words(STEPS, edit).summary == summary


@pytest.mark.parametrize(
    ("exercise", "edit", "summary"),
    [
        (
            "training_flops",
            AnswerEdit("forward", "left_out", "", "n_parameters"),
            "you use `n_parameters` instead of the FLOPs of a forward pass",
        ),
        (
            "blockwise_attention",
            AnswerEdit("total", "part_left_out", "correction * total", "total"),
            "you never multiply the running sum of the exponentials by the correction factor",
        ),
        (
            "batch_norm",
            AnswerEdit("normalized", "part_left_out", "var + eps", "var"),
            "you never add `eps` to the variance",
        ),
        (
            "adamw_step",
            AnswerEdit("new_mean", "part_left_out", "1 - betas[0]", "1"),
            "you leave out `betas[0]` when you compute the new running mean",
        ),
    ],
)
def test_missing_operation_does_not_contradict_step(exercise, edit, summary):
    assert words(every_exercise()[exercise].steps, edit).summary == summary
