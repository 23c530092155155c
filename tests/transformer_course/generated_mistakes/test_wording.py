"""Words for generated mistakes: true clauses, in good English, for every generated mistake that is stored."""

import random
import re

import pytest

from tests.transformer_course.generated_mistakes.answer import STEPS
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import catalog_of
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, GeneratedMistake
from transformer_course.generated_mistakes.wording import _brief, is_plural, words


@pytest.mark.parametrize(
    ("edit", "summary"),
    [
        (AnswerEdit("total", "sibling", "weights.sum()", "weights.mean()"), "{} takes the mean where the sum belongs"),
        (
            AnswerEdit("mean", "axis", "(a).sum(dim=0)", "(a).sum(dim=-1)"),
            "{} runs along the last axis, not along the first axis",
        ),
        (
            AnswerEdit("shares", "operator", "weights / total", "(weights) * (total)"),
            "{} multiplies where it should divide",
        ),
        (AnswerEdit("scaled", "sign", "", "-§"), "the scaled shares have the wrong sign"),
        (AnswerEdit("mean", "scaled", "", "§ / 2"), "the mean is half what it should be"),
        (AnswerEdit("scale", "ignored", "scale", "None"), "`scale` has no effect"),
        (
            AnswerEdit("rows", "argument_for_another", "rows", "weights", "weights"),
            "`weights` is used where `rows` belongs",
        ),
        (
            AnswerEdit("shares", "moved", "weights", "mean", "mean"),
            "{} comes too late, and is done to the mean instead of `weights`",
        ),
        (AnswerEdit("shares", "done_again", "weights", "mean", "mean"), "{} is done twice: to the mean as well"),
        (AnswerEdit("shares", "function", "", "§.abs()"), "the shares lose their sign"),
        (
            AnswerEdit("total", "turned_off", "weights.sum(dim=-1, keepdim=True)", "weights.sum(dim=-1)"),
            "{} drops the axis along which it runs",
        ),
        (
            AnswerEdit("total", "option_left_out", "torch.ones(3, dtype=torch.bool)", "torch.ones(3)"),
            "the sum of the weights has the wrong dtype",
        ),
        (
            AnswerEdit("mean", "slice", "a[:, None, :]", "a[:, :, None]"),
            "{} puts an axis of length 1 in the wrong place",
        ),
        (
            AnswerEdit("shares", "order", code={"shares": "if scale is None:\n    return shares\nreturn 0"}),
            "the two sides of {} are the wrong way round, where `scale` is given",
        ),
        (
            AnswerEdit("total", "clamped", "", "§", "shares", code={"total": "0", "shares": "0"}),
            "{} takes the larger of two terms where it should add them, "
            "and the same goes for the step “divide by the sum”",
        ),
        (
            AnswerEdit("total", "order", "torch.full(a, b)", "torch.full(b, a)"),
            "two arguments in {} are in the wrong order",
        ),
        (
            AnswerEdit("total", "slice", "weights[..., -1:]", "weights[..., -1]"),
            "{} loses an axis: it picks one entry where a slice of length 1 belongs",
        ),
        (AnswerEdit("total", "sign", "-weights", "weights"), "a minus is missing in front of `weights` in {}"),
        (AnswerEdit("total", "sign", "", "-§"), "the sum of the weights has the wrong sign"),
        (AnswerEdit("shares", "function", "", "§ ** 0.5"), "the shares have their root taken"),
        (AnswerEdit("shares", "function", "", "§ ** 2"), "the shares are squared"),
        (AnswerEdit("shares", "inverse", "", "1 / §"), "the shares are inverted: 1 divided by them is used"),
        (AnswerEdit("shares", "first_for_all", "", "§[:1]"), "the shares of the first row are used for every row"),
        (AnswerEdit("total", "option_left_out", "a.gather(-1, b)", "a.gather(-1)"), "an argument is missing in {}"),
        (AnswerEdit("shares", "always_one"), "in {}, the same is done in both cases"),
        (AnswerEdit("mean", "taken_for", "", "scaled"), "the scaled shares are used in place of the mean"),
        (AnswerEdit("scaled", "taken_for", "", "shares"), "the shares are used as if they were the scaled shares"),
        (AnswerEdit("mean", "wrong_input", "rows", "scaled"), "in {}, the scaled shares are used where `rows` belongs"),
        (
            AnswerEdit("shares", "one_number", "", "§.mean()"),
            "the shares are averaged to one number, which is used for all",
        ),
        (AnswerEdit("rows", "one_number", "rows", "rows[0]"), "only the first entry of `rows` is used"),
        (AnswerEdit("rows", "normalized", "rows", "rows / rows.norm(dim=-1)"), "`rows` is divided by its own norm"),
        (AnswerEdit("shares", "normalized", "", "§ / §.sum(dim=-1)"), "the shares are divided by their own sum"),
        (AnswerEdit("shares", "complement", "", "1 - §"), "the shares are subtracted from 1"),
        (AnswerEdit("shares", "parts_exchanged", "", "§[::-1]"), "the parts of the shares have changed places"),
        (AnswerEdit("shares", "parts_exchanged", "(2, 3)", "(3, 2)"), "in {}, two values have changed places"),
        (AnswerEdit("shares", "parts_exchanged", "(2, 3)", "(3, 3)"), "in {}, one value stands in two places"),
        (
            AnswerEdit("shares", "part_left_out", "torch.cat([rows, a])", "torch.cat([rows, rows])"),
            "in {}, one of the two parts stands in both places",
        ),
        (AnswerEdit("shares", "part_left_out", "weights + 1", "weights"), "the 1 is left out of {}"),
        (AnswerEdit("shares", "part_left_out", "weights ** 0.5", "weights"), "no root is taken in {}"),
        (AnswerEdit("shares", "part_left_out", "", "§[0]"), "only the first part of the shares is left"),
        (
            AnswerEdit(
                "shares", "call_left_out", "f(total)", "total", code={"shares": "if a:\n    return 0\nreturn total"}
            ),
            "{} is left out",
        ),
        (
            AnswerEdit("mean", "call_left_out", "a.flatten(2)", "a", code={"mean": "return a[0]"}),
            "no axes are joined in {}",
        ),
        (
            AnswerEdit("shares", "order", "weights / total", "(total) / (weights)"),
            "in {}, the sum of the weights is divided by `weights`, not the other way round",
        ),
        (
            AnswerEdit("shares", "order", "weights - total", "(total) - (weights)"),
            "in {}, `weights` is subtracted from the sum of the weights, not the other way round",
        ),
        (AnswerEdit("shares", "order", "a ** 2", "(2) ** (a)"), "base and exponent have changed places in {}"),
        (
            AnswerEdit("scaled", "comparison", "scale is None", "(scale) is not (None)"),
            "in {}, the cases with and without `scale` have changed places",
        ),
        (AnswerEdit("mean", "range", "range(0, n, 2)", "range(n)"), "{} counts in the wrong steps"),
        (
            AnswerEdit("mean", "length", "rows.shape[0]", "weights.shape[0]"),
            "{} takes a length of another tensor, not of `rows`",
        ),
        (
            AnswerEdit("total", "turned_off", "True", "False", code={"total": "return weights.sum(keepdim=False)"}),
            "{} drops the axis along which it runs",
        ),
        (
            AnswerEdit("total", "turned_off", "False", "True", code={"total": "return lambda a: True"}),
            "in {}, True stands where False belongs",
        ),
        (AnswerEdit("scaled", "option_left_out", "f(shares, scale)", "f(shares)"), "`scale` is left out of {}"),
        (
            AnswerEdit("total", "operand_squared", "rows + weights", "(rows) + (weights) ** 2"),
            "{} adds the square of `weights`",
        ),
        (
            AnswerEdit("total", "sibling", "torch.cat([a, b])", "torch.stack([a, b])"),
            "{} stacks along a new axis where it should join along one that is there",
        ),
        (AnswerEdit("shares", "part_left_out", "weights / total", "weights"), "{} is left out"),
        (AnswerEdit("shares", "part_left_out", "weights / total", "total"), "`weights` is left out of {}"),
        (
            AnswerEdit("total", "call_left_out", "len(rows)", "rows", code={"total": "return rows * 2"}),
            "in {}, `rows` stands where its length belongs",
        ),
        (
            AnswerEdit("total", "call_left_out", "a.softmax(0)", "a", code={"total": "return a[0]"}),
            "no softmax is taken in {}",
        ),
        (
            AnswerEdit("total", "call_left_out", "a.log()", "a", code={"total": "return a[0]"}),
            "the logarithm is not taken in {}",
        ),
        (AnswerEdit("mean", "squeezed", "", "§.squeeze()"), "axes of length 1 are lost in the mean"),
        (AnswerEdit("mean", "not_indexed", "rows[:, None]", "rows"), "in {}, an axis of length 1 is missing"),
        (AnswerEdit("mean", "not_indexed", "rows[0]", "rows"), "{} takes everything where a part is wanted"),
        (
            AnswerEdit("mean", "call_left_out", "rows.unsqueeze(-1)", "rows", code={"mean": "f(rows) * 2"}),
            "in {}, an axis of length 1 is missing",
        ),
        (
            AnswerEdit("mean", "call_left_out", "g(scaled)", "scaled", code={"mean": "f(scaled) * 2"}),
            "in {}, the scaled shares are used as they are, and a call is missing",
        ),
        (AnswerEdit("mean", "part_left_out", "3 * rows + 2 * weights", "3 * rows"), "`weights` is left out of {}"),
        (AnswerEdit("mean", "part_left_out", "torch.cat([rows, weights])", "rows"), "`weights` is left out of {}"),
        (
            AnswerEdit("mean", "number", "0", "-1", code={"mean": "(scaled[:, None] * rows).sum(dim=-1)"}),
            "{} runs along the last axis, not along the first axis",
        ),
        (AnswerEdit("mean", "number", "0", "7", code={"mean": "rows.sum(dim=7)"}), "in {}, 7 stands where 0 belongs"),
        (AnswerEdit("scale", "scaled", "scale", "scale * 2"), "`scale` is doubled before it is used"),
        (AnswerEdit("shares", "dtype", "", "§.float()"), "the shares come out as floats"),
        (
            AnswerEdit("shares", "scaled", "", "§ / §.shape[-1]"),
            "the shares are divided by how many there are in a row",
        ),
        (AnswerEdit("mean", "scaled", "", "§ / 10"), "the mean is off by a factor"),
        (
            AnswerEdit("mean", "slice", "rows[:, None]", "rows[None, :]"),
            "{} puts an axis of length 1 in the wrong place",
        ),
        (AnswerEdit("mean", "slice", "rows[:, None, 1:]", "rows[:, None, :-1]"), "{} cuts in the wrong place"),
        (AnswerEdit("mean", "slice", "f(rows[:, None])[:, 0]", "f(rows[:, None])[:, 1]"), "{} cuts in the wrong place"),
        (
            AnswerEdit("mean", "slice", "rows[:, None, None]", "rows[:, None, :]"),
            "in {}, an axis of length 1 is missing",
        ),
        (
            AnswerEdit("mean", "not_indexed", "f(rows, None)[0]", "f(rows, None)"),
            "{} takes everything where a part is wanted",
        ),
        (AnswerEdit("mean", "not_indexed", "rows[None]", "rows"), "in {}, an axis of length 1 is missing"),
    ],
)
def test_a_generated_mistake_is_said_in_the_words_of_its_step(edit, summary):
    assert words(STEPS, edit).summary == summary.format(
        f"the step “{STEPS.describe(edit.step)}”" if edit.step in STEPS.steps else ""
    )


def test_plurals_are_told_from_their_heads():
    assert all(
        is_plural(noun)
        for noun in (
            "the shares",
            "the `rank` numbers",
            "the weights on a diagonal",
            "the products of queries and keys",
            "all the p_i p_j",
            "the products divided by √d_k",
        )
    )
    assert not any(
        is_plural(noun)
        for noun in (
            "what `w_q` makes of x",
            "the sum of the weights",
            "the mean",
            "the last axis",
            "the bias",
            "the loss averaged over the masked tokens",
        )
    )


@pytest.mark.parametrize("name", every_exercise())
def test_what_is_said_of_stored_generated_mistakes_ends_properly_and_has_three_hints(name):
    exercise = every_exercise()[name]
    stored = catalog_of(exercise).edits
    for edit in random.Random(name).sample(stored, min(20, len(stored))):
        mistake = GeneratedMistake(edit, exercise.steps)
        for text in (mistake.message, *mistake.hints):
            assert re.search(r"[^.][.?!…]$", text), text
            assert text.count("`") % 2 == 0, text
            assert "  " not in text, text
        assert len(set(mistake.hints)) == 3


def test_a_shape_is_told_once():
    steps = every_exercise()["causal_mask"].steps
    mask, keys = (AnswerEdit(name, "one_axis_more", "", "§[None]") for name in ("mask", "matrix"))
    twice = AnswerEdit("mask", "one_axis_more", "", "§[None]", readings=[keys])
    assert GeneratedMistake(twice, steps).message == GeneratedMistake(mask, steps).message


@pytest.mark.parametrize(
    ("exercise", "edit", "summary"),
    [
        ("leaks_future", AnswerEdit("answer", "shifted", "", "§ + 1"), "the answer is too large by 1"),
        (
            "next_token_loss",
            AnswerEdit("real", "wrong_input", "pad_id", "vocabulary_axis", "vocabulary_axis"),
            "`pad_id` has no effect in the step “{real}”",
        ),
        (
            "PreNormEncoderLayer",
            AnswerEdit("normed_1", "moved", "x", "queries", "queries"),
            "the step “{normed_1}” is done for the queries alone",
        ),
        (
            "soft_lookup",
            AnswerEdit("axis", "inverse", "", "1 / §"),
            "the axis of the sum is another one than it should be",
        ),
        (
            "document_mask",
            AnswerEdit("n", "number", "1", "0", code={"n": "documents.shape[0]"}),
            "the step “{n}” takes the length of the wrong axis",
        ),
        (
            "greedy_decode",
            AnswerEdit("written", "call_left_out", "tokens(chosen, over)", "chosen", code={"written": "return 0"}),
            "the step “{tokens}” is left out",
        ),
        (
            "scaled_dot_product_attention",
            AnswerEdit("width", "wrong_input", "queries", "values", "values"),
            "the step “{width}” takes a length of `values`, not of `queries`",
        ),
        (
            "GroupedQueryAttention",
            AnswerEdit("queries", "wrong_layer", "n_heads", "n_kv_heads"),
            "the queries of each head are made with the number `n_kv_heads`, not with `n_heads`",
        ),
        (
            "GroupedQueryAttention",
            AnswerEdit("from_queries", "wrong_layer", "w_q", "w_k"),
            "the projected queries are made by the layer `w_k`, not by `w_q`",
        ),
        (
            "noam_rate",
            AnswerEdit("falling", "number", "0.5", "1.5", code={"falling": "return step ** (-1.5)"}),
            "in the step “{falling}”, -1.5 stands where -0.5 belongs",
        ),
        (
            "noam_rate",
            AnswerEdit("falling", "number", "0.5", "-0.5", code={"falling": "return step ** (--0.5)"}),
            "in the step “{falling}”, 0.5 stands where -0.5 belongs",
        ),
        (
            "next_token_loss",
            AnswerEdit("predictions", "number", "1", "0", code={"predictions": "return logits[:, :-0]"}),
            "in the step “{predictions}”, 0 stands where -1 belongs",
        ),
        (
            "next_token_loss",
            AnswerEdit("predictions", "number", "-1", "1", code={"predictions": "return logits[:, :1]"}),
            "in the step “{predictions}”, 1 stands where -1 belongs",
        ),
        (
            "cosine_attention",
            AnswerEdit(
                "query_lengths", "number", "1", "2", code={"query_lengths": "return queries.norm(dim=-2, keepdim=True)"}
            ),
            "the step “{query_lengths}” runs along the second-to-last axis, not along the last axis",
        ),
        (
            "scaled_dot_product_attention",
            AnswerEdit("width", "number", "1", "2", code={"width": "return queries.shape[-2]"}),
            "the step “{width}” takes the length of the wrong axis",
        ),
        (
            "accept",
            AnswerEdit(
                "ratios", "number", "1", "2", code={"ratios": "return (p[:-1] / q).gather(2, drafted[:, None])[:, 0]"}
            ),
            "in the step “{ratios}”, 2 stands where 1 belongs",
        ),  # and the other 1 has a minus
    ],
)
def test_generated_mistake_is_said_truly_where_its_exercise_makes_it_something_else(exercise, edit, summary):
    steps = every_exercise()[exercise].steps
    assert words(steps, edit).summary == summary.format_map({name: steps.describe(name) for name in steps.steps})


@pytest.mark.parametrize("name", every_exercise())
def test_a_noun_can_be_told_of(name):
    steps = every_exercise()[name].steps
    for step in steps.steps if steps else ():
        noun = _brief(steps.noun(step))
        assert not noun.startswith("where "), noun
        assert not re.search(r" (?:of shape|of|a|the|with|as)$", noun), noun
