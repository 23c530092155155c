"""Words for slips: true clauses, in good English, for every slip that is stored."""

import random
import re

import pytest

from tests.transformer_course.slips.answer import STEPS
from transformer_course.exercises import every_exercise
from transformer_course.slips.catalogue import catalogue_of
from transformer_course.slips.slip import Slip, SlipMistake
from transformer_course.slips.wording import _brief, is_plural, words


@pytest.mark.parametrize(
    ("slip", "does"),
    [
        (Slip("total", "sibling", "weights.sum()", "weights.mean()"), "{} takes the mean where the sum belongs"),
        (
            Slip("mean", "axis", "(a).sum(dim=0)", "(a).sum(dim=-1)"),
            "{} runs along the last axis, not along the first axis",
        ),
        (Slip("shares", "operator", "weights / total", "(weights) * (total)"), "{} multiplies where it should divide"),
        (Slip("scaled", "sign", "", "-§"), "the scaled shares have the wrong sign"),
        (Slip("mean", "scaled", "", "§ / 2"), "the mean is half what it should be"),
        (Slip("scale", "ignored", "scale", "None"), "`scale` has no effect"),
        (Slip("rows", "argument_for_another", "rows", "weights", "weights"), "`weights` is used where `rows` belongs"),
        (
            Slip("shares", "moved", "weights", "mean", "mean"),
            "{} comes too late, and is done to the mean instead of `weights`",
        ),
        (Slip("shares", "done_again", "weights", "mean", "mean"), "{} is done twice: to the mean as well"),
        (Slip("shares", "function", "", "§.abs()"), "the shares lose their sign"),
        (
            Slip("total", "turned_off", "weights.sum(dim=-1, keepdim=True)", "weights.sum(dim=-1)"),
            "{} drops the axis along which it runs",
        ),
        (
            Slip("total", "option_left_out", "torch.ones(3, dtype=torch.bool)", "torch.ones(3)"),
            "the sum of the weights has the wrong dtype",
        ),
        (Slip("mean", "slice", "a[:, None, :]", "a[:, :, None]"), "{} puts an axis of length 1 in the wrong place"),
        (
            Slip("shares", "order", code={"shares": "if scale is None:\n    return shares\nreturn 0"}),
            "the two sides of {} are the wrong way round, where `scale` is given",
        ),
        (
            Slip("total", "clamped", "", "§", "shares", code={"total": "0", "shares": "0"}),
            "{} takes the larger of two terms where it should add them, "
            "and the same goes for the step “divide by the sum”",
        ),
        (Slip("total", "order", "torch.full(a, b)", "torch.full(b, a)"), "two arguments in {} are in the wrong order"),
        (
            Slip("total", "slice", "weights[..., -1:]", "weights[..., -1]"),
            "{} loses an axis: it picks one entry where a slice of length 1 belongs",
        ),
        (Slip("total", "sign", "-weights", "weights"), "a minus is missing in front of `weights` in {}"),
        (Slip("total", "sign", "", "-§"), "the sum of the weights has the wrong sign"),
        (Slip("shares", "function", "", "§ ** 0.5"), "the shares have their root taken"),
        (Slip("shares", "function", "", "§ ** 2"), "the shares are squared"),
        (Slip("shares", "inverse", "", "1 / §"), "the shares are inverted: 1 divided by them is used"),
        (Slip("shares", "first_for_all", "", "§[:1]"), "the shares of the first row are used for every row"),
        (Slip("total", "option_left_out", "a.gather(-1, b)", "a.gather(-1)"), "an argument is missing in {}"),
        (Slip("shares", "always_one"), "in {}, the same is done in both cases"),
        (Slip("mean", "taken_for", "", "scaled"), "the scaled shares are used in place of the mean"),
        (Slip("scaled", "taken_for", "", "shares"), "the shares are used as if they were the scaled shares"),
        (Slip("mean", "wrong_input", "rows", "scaled"), "in {}, the scaled shares are used where `rows` belongs"),
        (Slip("shares", "one_number", "", "§.mean()"), "the shares are averaged to one number, which is used for all"),
        (Slip("rows", "one_number", "rows", "rows[0]"), "only the first entry of `rows` is used"),
        (Slip("rows", "normalised", "rows", "rows / rows.norm(dim=-1)"), "`rows` is divided by its own norm"),
        (Slip("shares", "normalised", "", "§ / §.sum(dim=-1)"), "the shares are divided by their own sum"),
        (Slip("shares", "complement", "", "1 - §"), "the shares are subtracted from 1"),
        (Slip("shares", "parts_exchanged", "", "§[::-1]"), "the parts of the shares have changed places"),
        (Slip("shares", "parts_exchanged", "(2, 3)", "(3, 2)"), "in {}, two values have changed places"),
        (Slip("shares", "parts_exchanged", "(2, 3)", "(3, 3)"), "in {}, one value stands in two places"),
        (
            Slip("shares", "part_left_out", "torch.cat([rows, a])", "torch.cat([rows, rows])"),
            "in {}, one of the two parts stands in both places",
        ),
        (Slip("shares", "part_left_out", "weights + 1", "weights"), "the 1 is left out of {}"),
        (Slip("shares", "part_left_out", "weights ** 0.5", "weights"), "no root is taken in {}"),
        (Slip("shares", "part_left_out", "", "§[0]"), "only the first part of the shares is left"),
        (
            Slip("shares", "call_left_out", "f(total)", "total", code={"shares": "if a:\n    return 0\nreturn total"}),
            "{} is left out",
        ),
        (Slip("mean", "call_left_out", "a.flatten(2)", "a", code={"mean": "return a[0]"}), "no axes are joined in {}"),
        (
            Slip("shares", "order", "weights / total", "(total) / (weights)"),
            "in {}, the sum of the weights is divided by `weights`, not the other way round",
        ),
        (
            Slip("shares", "order", "weights - total", "(total) - (weights)"),
            "in {}, `weights` is subtracted from the sum of the weights, not the other way round",
        ),
        (Slip("shares", "order", "a ** 2", "(2) ** (a)"), "base and exponent have changed places in {}"),
        (
            Slip("scaled", "comparison", "scale is None", "(scale) is not (None)"),
            "in {}, the cases with and without `scale` have changed places",
        ),
        (Slip("mean", "range", "range(0, n, 2)", "range(n)"), "{} counts in the wrong steps"),
        (
            Slip("mean", "length", "rows.shape[0]", "weights.shape[0]"),
            "{} takes a length of another tensor, not of `rows`",
        ),
        (
            Slip("total", "turned_off", "True", "False", code={"total": "return weights.sum(keepdim=False)"}),
            "{} drops the axis along which it runs",
        ),
        (
            Slip("total", "turned_off", "False", "True", code={"total": "return lambda a: True"}),
            "in {}, True stands where False belongs",
        ),
        (Slip("scaled", "option_left_out", "f(shares, scale)", "f(shares)"), "`scale` is left out of {}"),
        (
            Slip("total", "operand_squared", "rows + weights", "(rows) + (weights) ** 2"),
            "{} adds the square of `weights`",
        ),
        (
            Slip("total", "sibling", "torch.cat([a, b])", "torch.stack([a, b])"),
            "{} stacks along a new axis where it should join along one that is there",
        ),
        (Slip("shares", "part_left_out", "weights / total", "weights"), "{} is left out"),
        (Slip("shares", "part_left_out", "weights / total", "total"), "`weights` is left out of {}"),
        (
            Slip("total", "call_left_out", "len(rows)", "rows", code={"total": "return rows * 2"}),
            "in {}, `rows` stands where its length belongs",
        ),
        (
            Slip("total", "call_left_out", "a.softmax(0)", "a", code={"total": "return a[0]"}),
            "no softmax is taken in {}",
        ),
        (
            Slip("total", "call_left_out", "a.log()", "a", code={"total": "return a[0]"}),
            "the logarithm is not taken in {}",
        ),
        (Slip("mean", "squeezed", "", "§.squeeze()"), "axes of length 1 are lost in the mean"),
        (Slip("mean", "not_indexed", "rows[:, None]", "rows"), "in {}, an axis of length 1 is missing"),
        (Slip("mean", "not_indexed", "rows[0]", "rows"), "{} takes everything where a part is wanted"),
        (
            Slip("mean", "call_left_out", "rows.unsqueeze(-1)", "rows", code={"mean": "f(rows) * 2"}),
            "in {}, an axis of length 1 is missing",
        ),
        (
            Slip("mean", "call_left_out", "g(scaled)", "scaled", code={"mean": "f(scaled) * 2"}),
            "in {}, the scaled shares are used as they are, and a call is missing",
        ),
        (Slip("mean", "part_left_out", "3 * rows + 2 * weights", "3 * rows"), "`weights` is left out of {}"),
        (Slip("mean", "part_left_out", "torch.cat([rows, weights])", "rows"), "`weights` is left out of {}"),
        (
            Slip("mean", "number", "0", "-1", code={"mean": "(scaled[:, None] * rows).sum(dim=-1)"}),
            "{} runs along the last axis, not along the first axis",
        ),
        (Slip("mean", "number", "0", "7", code={"mean": "rows.sum(dim=7)"}), "in {}, 7 stands where 0 belongs"),
        (Slip("scale", "scaled", "scale", "scale * 2"), "`scale` is doubled before it is used"),
        (Slip("shares", "dtype", "", "§.float()"), "the shares come out as floats"),
        (Slip("shares", "scaled", "", "§ / §.shape[-1]"), "the shares are divided by how many there are in a row"),
        (Slip("mean", "scaled", "", "§ / 10"), "the mean is off by a factor"),
        (Slip("mean", "slice", "rows[:, None]", "rows[None, :]"), "{} puts an axis of length 1 in the wrong place"),
        (Slip("mean", "slice", "rows[:, None, 1:]", "rows[:, None, :-1]"), "{} cuts in the wrong place"),
        (Slip("mean", "slice", "f(rows[:, None])[:, 0]", "f(rows[:, None])[:, 1]"), "{} cuts in the wrong place"),
        (Slip("mean", "slice", "rows[:, None, None]", "rows[:, None, :]"), "in {}, an axis of length 1 is missing"),
        (
            Slip("mean", "not_indexed", "f(rows, None)[0]", "f(rows, None)"),
            "{} takes everything where a part is wanted",
        ),
        (Slip("mean", "not_indexed", "rows[None]", "rows"), "in {}, an axis of length 1 is missing"),
    ],
)
def test_a_slip_is_said_in_the_words_of_its_step(slip, does):
    assert words(STEPS, slip).does == does.format(
        f"the step “{STEPS.describe(slip.step)}”" if slip.step in STEPS.steps else ""
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
def test_what_is_said_of_stored_slips_ends_properly_and_has_three_hints(name):
    exercise = every_exercise()[name]
    stored = catalogue_of(exercise).slips
    for slip in random.Random(name).sample(stored, min(20, len(stored))):
        mistake = SlipMistake(slip, exercise.steps)
        for text in (mistake.says, *mistake.hints):
            assert re.search(r"[^.][.?!…]$", text), text
            assert text.count("`") % 2 == 0, text
            assert "  " not in text, text
            assert not re.search(r"\b(?:you|yours?)\b", text, re.IGNORECASE), text
        assert len(set(mistake.hints)) == 3


def test_a_shape_is_told_once():
    steps = every_exercise()["causal_mask"].steps
    mask, keys = (Slip(name, "one_axis_more", "", "§[None]") for name in ("mask", "matrix"))
    twice = Slip("mask", "one_axis_more", "", "§[None]", readings=[keys])
    assert SlipMistake(twice, steps).says == SlipMistake(mask, steps).says


@pytest.mark.parametrize(
    ("exercise", "slip", "does"),
    [
        ("leaks_future", Slip("answer", "shifted", "", "§ + 1"), "the result of “{answer}” is too large by 1"),
        (
            "next_token_loss",
            Slip("real", "wrong_input", "pad_id", "vocabulary_axis", "vocabulary_axis"),
            "`pad_id` has no effect in the step “{real}”",
        ),
        (
            "PreNormEncoderLayer",
            Slip("normed_1", "moved", "x", "queries", "queries"),
            "the step “{normed_1}” is done for the queries alone",
        ),
        ("soft_lookup", Slip("axis", "inverse", "", "1 / §"), "the axis of the sum is another one than it should be"),
        (
            "document_mask",
            Slip("n", "number", "1", "0", code={"n": "documents.shape[0]"}),
            "the step “{n}” takes the length of the wrong axis",
        ),
        (
            "greedy_decode",
            Slip("written", "call_left_out", "tokens(chosen, over)", "chosen", code={"written": "return 0"}),
            "the step “{tokens}” is left out",
        ),
        (
            "scaled_dot_product_attention",
            Slip("width", "wrong_input", "queries", "values", "values"),
            "the step “{width}” takes a length of `values`, not of `queries`",
        ),
        (
            "GroupedQueryAttention",
            Slip("queries", "wrong_layer", "n_heads", "n_kv_heads"),
            "the queries of each head are made with the number `n_kv_heads`, not with `n_heads`",
        ),
        (
            "GroupedQueryAttention",
            Slip("from_queries", "wrong_layer", "w_q", "w_k"),
            "what `w_q` makes of x is made by the layer `w_k`, not by `w_q`",
        ),
        (
            "noam_rate",
            Slip("falling", "number", "0.5", "1.5", code={"falling": "return step ** (-1.5)"}),
            "in the step “{falling}”, -1.5 stands where -0.5 belongs",
        ),
        (
            "noam_rate",
            Slip("falling", "number", "0.5", "-0.5", code={"falling": "return step ** (--0.5)"}),
            "in the step “{falling}”, 0.5 stands where -0.5 belongs",
        ),
        (
            "next_token_loss",
            Slip("predictions", "number", "1", "0", code={"predictions": "return logits[:, :-0]"}),
            "in the step “{predictions}”, 0 stands where -1 belongs",
        ),
        (
            "next_token_loss",
            Slip("predictions", "number", "-1", "1", code={"predictions": "return logits[:, :1]"}),
            "in the step “{predictions}”, 1 stands where -1 belongs",
        ),
        (
            "cosine_attention",
            Slip(
                "query_lengths", "number", "1", "2", code={"query_lengths": "return queries.norm(dim=-2, keepdim=True)"}
            ),
            "the step “{query_lengths}” runs along the second-to-last axis, not along the last axis",
        ),
        (
            "scaled_dot_product_attention",
            Slip("width", "number", "1", "2", code={"width": "return queries.shape[-2]"}),
            "the step “{width}” takes the length of the wrong axis",
        ),
        (
            "accept",
            Slip(
                "ratios", "number", "1", "2", code={"ratios": "return (p[:-1] / q).gather(2, drafted[:, None])[:, 0]"}
            ),
            "in the step “{ratios}”, 2 stands where 1 belongs",
        ),  # and the other 1 has a minus
    ],
)
def test_slip_is_said_truly_where_its_exercise_makes_it_something_else(exercise, slip, does):
    steps = every_exercise()[exercise].steps
    assert words(steps, slip).does == does.format_map({name: steps.describe(name) for name in steps.steps})


@pytest.mark.parametrize("name", every_exercise())
def test_a_noun_can_be_told_of(name):
    steps = every_exercise()[name].steps
    for step in steps.steps if steps else ():
        noun = _brief(steps.noun(step))
        assert not noun.startswith("where "), noun
        assert not re.search(r" (?:of shape|of|a|the|with|as)$", noun), noun
