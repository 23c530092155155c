"""Tests for the message templates about operations, their operands and their order."""

import pytest

from tests.transformer_course.generated_mistakes.answer import STEPS
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.generated_mistakes.wording import words

EXP = "you take `exp` of the shifted scores twice"


@pytest.mark.parametrize(
    ("edit", "summary"),
    [
        (AnswerEdit("scaled", "taken_for", "", "shares"), "you use the shares instead of the scaled shares"),
        (AnswerEdit("mean", "taken_for", "", "scaled"), "you return the scaled shares instead of the mean"),
        (
            AnswerEdit("shares", "operator", "weights / total", "(weights) * (total)"),
            "you multiply `weights` by the sum of the weights instead of dividing by it",
        ),
        (
            AnswerEdit("shares", "operator", "weights / total", "(weights) // (total)"),
            "you divide `weights` by the sum of the weights and round down",
        ),
        (
            AnswerEdit("shares", "order", "weights / total", "(total) / (weights)"),
            "you divide the sum of the weights by `weights` instead of the reverse",
        ),
        (
            AnswerEdit("shares", "order", "weights - total", "(total) - (weights)"),
            "you subtract `weights` from the sum of the weights instead of the reverse",
        ),
        (
            AnswerEdit("shares", "order", "a ** 2", "(2) ** (a)"),
            "you swap the base and the exponent when you divide by the sum",
        ),
        (
            AnswerEdit("total", "order", "torch.full(a, b)", "torch.full(b, a)"),
            "you swap the arguments of `full` when you add up the weights",
        ),
        (
            AnswerEdit("total", "sibling", "weights.sum()", "weights.mean()"),
            "you take the mean of `weights`, not the sum",
        ),
        (
            AnswerEdit("total", "sibling", "torch.cat([a, b])", "torch.stack([a, b])"),
            "you use `stack`, which adds a dimension, instead of `cat` when you add up the weights",
        ),
        (
            AnswerEdit("total", "sibling", "torch.maximum(a, b)", "torch.minimum(a, b)"),
            "you take the smaller of the two instead of the larger when you add up the weights",
        ),
        (AnswerEdit("shares", "moved", "weights", "mean", "mean"), "you add up the rows before you divide by the sum"),
        (
            AnswerEdit("mean", "wrong_input", "rows", "scaled"),
            "you use the scaled shares instead of `rows` when you add up the rows",
        ),
        (
            AnswerEdit("shares", "wrong_input", "total", "rows"),
            "you divide `weights` by `rows` instead of the sum of the weights",
        ),
        (
            AnswerEdit("scaled", "comparison", "scale is None", "(scale) is not (None)"),
            "you swap the cases with and without `scale` when you multiply by the scale",
        ),
        (
            AnswerEdit("shares", "parts_exchanged", "(weights, total)", "(total, weights)"),
            "you swap `weights` and the sum of the weights when you divide by the sum",
        ),
        (
            AnswerEdit("shares", "parts_exchanged", "(weights, total)", "(total, total)"),
            "you use the sum of the weights twice and leave out `weights`",
        ),
        (AnswerEdit("total", "sign", "-weights", "weights"), "you leave out the minus sign in front of `weights`"),
        (AnswerEdit("shares", "sign", "", "-§"), "your shares have the wrong sign"),
        (
            AnswerEdit("shares", "filled_with", "a.masked_fill(m, -torch.inf)", "a.masked_fill(m, 0.0)"),
            "you fill in 0.0 instead of −∞ when you divide by the sum",
        ),
    ],
)
def test_summary_uses_step_description(edit, summary):
    assert words(STEPS, edit).summary == summary


@pytest.mark.parametrize(
    ("exercise", "edit", "summary"),
    [
        (
            "softmax",
            AnswerEdit("shifted", "operator", "scores - largest", "(scores) + (largest)"),
            "you add the largest score of each row to `scores` instead of subtracting it",
        ),
        (
            "softmax",
            AnswerEdit("total", "wrong_input", "exponentials", "scores"),
            "you add up `scores` instead of the exponentials of the shifted scores",
        ),
        (
            "next_token_loss",
            AnswerEdit("real", "wrong_input", "pad_id", "vocabulary_axis", "vocabulary_axis"),
            "you don't use `pad_id` when you ",
        ),
        (
            "scaled_dot_product_attention",
            AnswerEdit("width", "wrong_input", "queries", "values", "values"),
            "you read d_k from `values` instead of `queries`",
        ),
        ("MultiHeadAttention", AnswerEdit("from_query", "wrong_layer", "w_q", "w_k"), "you use `w_k` instead of `w_q`"),
        (
            "ring_attention",
            AnswerEdit("scores", "wrong_input", "queries", "keys", "keys"),
            "you use `keys` instead of `queries` when you multiply",
        ),
        (
            "clip_by_global_norm",
            AnswerEdit("squares", "twice", "gradient.square()", "(gradient.square()).square()"),
            "you apply `square` twice when",
        ),
        ("softmax", AnswerEdit("exponentials", "twice", "torch.exp(shifted)", "torch.exp(torch.exp(shifted))"), EXP),
        (
            "answer_labels",
            AnswerEdit("labels", "mask_added", "tokens.masked_fill(in_prompt, pad_id)", "tokens + in_prompt"),
            "you add the mask as zeros and ones when you replace",
        ),
        (
            "GPT",
            AnswerEdit("logits", "part_left_out", "normed @ self.embedding.weight.T", "self.embedding.weight.T"),
            "you return only `self.embedding.weight.T`",
        ),
    ],
)
def test_summary_uses_exercise_step_description(exercise, edit, summary):
    assert words(every_exercise()[exercise].steps, edit).summary.startswith(summary)


@pytest.mark.parametrize(
    ("exercise", "edit", "summary"),
    [
        (
            "noam_rate",
            AnswerEdit("width_factor", "power", "d_model ** (-0.5)", "(d_model) ** -1"),
            "you use the exponent −1 instead of −1/2 when you compute the width factor",
        ),
        (
            "noam_rate",
            AnswerEdit("width_factor", "power", "d_model ** (-0.5)", "(d_model) ** -1 / 2"),
            "you use the exponent −1 and divide by 2 when you compute the width factor",
        ),
        (
            "noam_rate",
            AnswerEdit("lower", "sibling", "min(falling, rising)", "max(falling, rising)"),
            "you take the larger of the decaying rate and the warm-up rate instead of the smaller",
        ),
        (
            "all_reduce_gradients",
            AnswerEdit("total", "sibling", "of_sums.sum(dim=0)", "of_sums.amax(dim=0)"),
            "you take the maximum instead of the sum when you compute the gradient of the total loss",
        ),
        (
            "batch_norm",
            AnswerEdit("output", "operator", "normalized * weight + bias", "(normalized * weight) / (bias)"),
            "you use `/` instead of `+` when you compute the output",
        ),
        (
            "group_advantages",
            AnswerEdit("divisor", "moved", "deviation", "advantages", "advantages"),
            "you add `eps` to the advantages instead of the standard deviation of each group",
        ),
        (
            "DecoderLayer",
            AnswerEdit("cross_normed", "wrong_input", "cross_sum", "memory"),
            "you apply `norm_2` to `memory` instead of the sum after the cross-attention",
        ),
        (
            "masked_attention",
            AnswerEdit("scores", "filled_with", "scaled.masked_fill(hidden, fill)", "scaled.masked_fill(hidden, -1.0)"),
            "you fill the hidden scores with −1 instead of −∞",
        ),
    ],
)
def test_summary_does_not_contradict_step(exercise, edit, summary):
    assert words(every_exercise()[exercise].steps, edit).summary == summary
