"""Tests for the message templates about dimensions, sizes, indices, numbers and options."""

import pytest

from tests.transformer_course.generated_mistakes.answer import STEPS
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.generated_mistakes.wording import words

ROWS = "when you add up the rows"


@pytest.mark.parametrize(
    ("edit", "summary"),
    [
        (AnswerEdit("mean", "axis", "(a).sum(dim=0)", "(a).sum(dim=-1)"), f"you use dim −1 instead of dim 0 {ROWS}"),
        (
            AnswerEdit("mean", "all_axes", "(a).sum(dim=0)", "(a).sum()"),
            f"you reduce over all dimensions at once {ROWS}",
        ),
        (
            AnswerEdit("mean", "length", "rows.shape[0]", "rows.shape[-1]"),
            f"you read the size of dim −1 instead of dim 0 {ROWS}",
        ),
        (
            AnswerEdit("mean", "length", "rows.shape[0]", "weights.shape[0]"),
            f"you read a size of `weights` instead of `rows` {ROWS}",
        ),
        (AnswerEdit("mean", "number", "0", "7", code={"mean": "rows.sum(0) + 7"}), f"you use 7 instead of 0 {ROWS}"),
        (
            AnswerEdit("mean", "number", "0", "-1", code={"mean": "(scaled[:, None] * rows).sum(dim=-1)"}),
            f"you use dim −1 instead of dim 0 {ROWS}",
        ),
        (AnswerEdit("mean", "range", "range(0, n, 2)", "range(n)"), f"your range has the wrong step {ROWS}"),
        (
            AnswerEdit("mean", "slice", "rows[:, 1:]", "rows[:, :-1]"),
            f"you keep all but the last instead of all but the first {ROWS}",
        ),
        (
            AnswerEdit("mean", "slice", "rows[:, None]", "rows[None, :]"),
            f"you add the new dimension as dim 0 instead of dim 1 {ROWS}",
        ),
        (
            AnswerEdit("mean", "slice", "rows[:, None, 1:]", "rows[:, None, :-1]"),
            f"you keep all but the last instead of all but the first {ROWS}",
        ),
        (AnswerEdit("mean", "slice", "rows[:n]", "rows[:(n) + 1]"), f"you end your slice one position too late {ROWS}"),
        (AnswerEdit("mean", "slice", "rows[:n]", "rows[n:]"), f"you keep what comes after `n`, not the rest, {ROWS}"),
        (
            AnswerEdit("mean", "slice", "weights[..., -1:]", "weights[..., -1]"),
            "you use the index −1, which drops a dimension",
        ),
        (AnswerEdit("mean", "index", "rows[0]", "rows[1]"), f"you pick the second instead of the first {ROWS}"),
        (AnswerEdit("mean", "not_indexed", "rows[:, None]", "rows"), f"you don't add a dimension {ROWS}"),
        (AnswerEdit("mean", "not_indexed", "rows[0]", "rows"), f"you leave out the index 0 {ROWS}"),
        (
            AnswerEdit("total", "turned_off", "weights.sum(dim=-1, keepdim=True)", "weights.sum(dim=-1)"),
            "you drop a dimension when you add up the weights",
        ),
        (
            AnswerEdit("total", "option_left_out", "torch.ones(3, dtype=torch.bool)", "torch.ones(3)"),
            "you leave out `dtype` when you add up the weights",
        ),
        (
            AnswerEdit("total", "option_left_out", "a.gather(-1, b)", "a.gather(-1)"),
            "you leave out an argument of `gather` when you add up the weights",
        ),
        (
            AnswerEdit("scaled", "option_left_out", "f(shares, scale)", "f(shares)"),
            "you don't pass `scale` to `f`",
        ),
        (
            AnswerEdit("total", "turned_off", "False", "True", code={"total": "return lambda a: True"}),
            "you use True instead of False when you add up the weights",
        ),
        (AnswerEdit("shares", "transposed", "", "§.mT"), "your shares are transposed: rows and columns are swapped"),
    ],
)
def test_summary_uses_step_description(edit, summary):
    assert words(STEPS, edit).summary == summary


@pytest.mark.parametrize(
    ("exercise", "edit", "summary"),
    [
        (
            "sinusoidal_encoding",
            AnswerEdit("positions", "range", "torch.arange(length)", "torch.arange(1, length + 1)"),
            "you number the positions from 1 instead of 0",
        ),
        (
            "quantize_per_channel",
            AnswerEdit("step_size", "number", "127", "128", code={"step_size": "return largest / 128"}),
            "you divide the largest absolute value by 128 instead of 127",
        ),
        (
            "alibi_bias",
            AnswerEdit("exponents", "number", "8", "4", code={"exponents": "return 4 * heads / n_heads"}),
            "you multiply the head numbers by 4, not 8, and divide by n_heads",
        ),
        (
            "cached_difference",
            AnswerEdit("piece", "number", "1", "2", code={"piece": "return lambda at: tokens[:, at : at + 2]"}),
            "you use 2 instead of 1 where you should take one token of each text",
        ),
    ],
)
def test_number_does_not_contradict_step(exercise, edit, summary):
    assert words(every_exercise()[exercise].steps, edit).summary == summary


@pytest.mark.parametrize(
    ("edit", "summary"),
    [
        (
            AnswerEdit("falling", "number", "0.5", "-0.5", code={"falling": "return step ** (--0.5)"}),
            "0.5 instead of −0.5",
        ),
        (
            AnswerEdit("falling", "number", "0.5", "1.5", code={"falling": "return step ** (-1.5)"}),
            "−1.5 instead of −0.5",
        ),
    ],
)
def test_number_includes_its_sign(edit, summary):
    assert summary in words(every_exercise()["noam_rate"].steps, edit).summary


def test_counts_both_dimensions_from_the_same_end():
    edit = AnswerEdit("scale", "length", "table.shape[1]", "table.shape[-2]")
    summary = words(every_exercise()["embedding_lookup"].steps, edit).summary
    assert summary.startswith("you read the size of dim 0 instead of dim 1")


def test_keeps_negative_index_for_nonexistent_dimension():
    edit = AnswerEdit("scale", "length", "table.shape[1]", "table.shape[-3]")
    summary = words(every_exercise()["embedding_lookup"].steps, edit).summary
    assert summary.startswith("you read the size of dim −3 instead of dim 1")
