"""Tests for the style of composed messages, with examples from real exercises."""

import re

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import catalog_of
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, GeneratedMistake
from transformer_course.generated_mistakes.wording import ARGUMENT_TEMPLATES, TEMPLATES, words

MAX_WORDS = 38
MEAN_WORDS = 15
FALLBACK = "something else"


def composed(exercise):
    return [GeneratedMistake(edit, exercise.steps) for edit in catalog_of(exercise).edits]


@pytest.mark.parametrize("name", every_exercise())
def test_composed_texts_are_short_and_in_second_person(name):
    mistakes = composed(every_exercise()[name])
    for message in {mistake.message for mistake in mistakes}:
        assert re.match(r"(?:You|Your)\b", message), message
        assert len(re.findall(r"[.?!](?= |$)", message)) <= 3, message
        assert message.endswith((".", "?")), message
        assert message.count("`") % 2 == 0, message
        assert len(message.split()) <= MAX_WORDS, message
        outside_code = re.sub(r"`[^`]*`", "code", message)
        assert not re.search(r"[“”{}]|  | [,.]|\bif `\w+` is given if|\bthe the\b", outside_code), message
        template_words = re.sub(r"\bthe result of .*", "", outside_code)
        assert FALLBACK not in template_words, message


def test_composed_texts_are_short_on_average():
    lengths = [len(m.message.split()) for one in every_exercise().values() if one.steps for m in composed(one)]
    assert sum(lengths) / len(lengths) <= MEAN_WORDS


@pytest.mark.parametrize("name", every_exercise())
def test_each_stored_mistake_has_three_distinct_hints(name):
    for hints in {tuple(mistake.hints) for mistake in composed(every_exercise()[name])}:
        assert len(set(hints)) == 3, hints
        for hint in hints:
            assert re.search(r"[^.][.?!…]$", hint), hint
            assert hint.count("`") % 2 == 0, hint


@pytest.mark.parametrize(
    ("exercise", "edit", "message"),
    [
        (
            "attention",
            AnswerEdit("weights", "wrong_input", "scores", "keys"),
            "You take the softmax of `keys` instead of the scores. Which of your variables holds the scores?",
        ),
        (
            "attention",
            AnswerEdit("keys", "argument_for_another", "keys", "values", "values"),
            "You use `values` instead of `keys`.",
        ),
        ("attention", AnswerEdit("turned", "not_transposed", "keys.mT", "keys"), "You don't transpose `keys`."),
        (
            "attention",
            AnswerEdit("weights", "no_softmax", "", "(scores) / (scores).sum(dim=-1, keepdim=True)"),
            "You divide the scores by their sum without taking `exp` first.",
        ),
        (
            "attention",
            AnswerEdit("turned", "other_axes", "keys.mT", "keys.transpose(0, 1)"),
            "You swap dims 0 and 1 of `keys`. Swap the last two instead.",
        ),
        (
            "softmax",
            AnswerEdit("weights", "dtype", "", "§.double()"),
            "You return the weights as float64. Keep the dtype of the input.",
        ),
        (
            "softmax",
            AnswerEdit("scores", "shifted", "scores", "scores + 1"),
            "You use `scores + 1` instead of `scores`.",
        ),
        ("softmax", AnswerEdit("weights", "as_a_list", "", "§.tolist()"), "You return a list instead of a tensor."),
        (
            "scaled_dot_product_attention",
            AnswerEdit("width", "length", "queries.shape[-1]", "queries.shape[-2]"),
            "You use the size of dim −2 instead of dim −1 when you read d_k from the queries.",
        ),
        (
            "scaled_dot_product_attention",
            AnswerEdit("divisor", "power", "width ** 0.5", "(width) ** (-(0.5))"),
            "You use the exponent −1/2 instead of 1/2 when you take the square root of d_k.",
        ),
        (
            "causal_mask",
            AnswerEdit("n_key", "ignored", "n_key", "None"),
            "You don't use `n_key`. Your output should depend on it.",
        ),
        ("causal_mask", AnswerEdit("mask", "inverted", "", "~§"), "Your mask is inverted: True and False are swapped."),
        (
            "causal_mask",
            AnswerEdit("mask", "additive", "", "torch.where(§, 0.0, -torch.inf)"),
            "Your mask has 0 and −∞ instead of True and False.",
        ),
        ("causal_mask", AnswerEdit("mask", "all_true", "", "torch.ones_like(§)"), "Your mask is True everywhere."),
        (
            "causal_mask",
            AnswerEdit("mask", "one_axis_more", "", "§[None]"),
            "You return the mask with an extra dimension.",
        ),
        (
            "causal_mask",
            AnswerEdit("mask", "one_axis_more", "", "§[None, None]"),
            "You return the mask with two extra dimensions.",
        ),
        (
            "paged_attention",
            AnswerEdit("masked", "sign", "-torch.inf", "torch.inf"),
            "You set the scores of uncached tokens to ∞ instead of −∞.",
        ),
        (
            "sequence_log_probability",
            AnswerEdit(
                "of_tokens",
                "number",
                "-1",
                "1",
                code={"of_tokens": "log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(1)"},
            ),
            "You use dim 1 instead of dim −1 in `squeeze` when you pick the log-probability of each target.",
        ),
        (
            "GPT",
            AnswerEdit("layer_output", "call_left_out", "layer(x, layer_mask(number))", "x"),
            "You never call the layers.",
        ),
        (
            "decode",
            AnswerEdit("text", "done_again", "octets", "octets", "octets"),
            "You decode the bytes as UTF-8, then do it again. Once is enough.",
        ),
        (
            "keeps_the_stream",
            AnswerEdit("kept", "done_again", "reduced", "output", "output"),
            "You compare the reduced output with x, then do the same to the output for the enlarged x. Once is enough.",
        ),
        (
            "gae",
            AnswerEdit("advantages", "slice", "found[::-1]", "found[::]"),
            "You don't reverse the order when you add up from the last step to the first.",
        ),
        (
            "attend_with_cache",
            AnswerEdit("keys", "part_left_out", "torch.cat([cache[0], key], dim=-2)", "key"),
            "You never append the new key to the cached keys.",
        ),
        (
            "split_heads",
            AnswerEdit("cut", "length", "x.shape[:2]", "x.shape[-1]"),
            "You use `x.shape[-1]` instead of `x.shape[:2]` when you split the last dimension into heads and features.",
        ),
        (
            "padding_mask",
            AnswerEdit("per_head", "slice", "real[:, None, :]", "real[:, :, None]"),
            "You add a dimension for the heads as dim 2 instead of dim 1.",
        ),
        (
            "padding_mask",
            AnswerEdit("real", "comparison", "tokens != pad_id", "(tokens) == (pad_id)"),
            "Your comparison is inverted: you use `==` instead of `!=` when you compare each token with `pad_id`.",
        ),
        (
            "noam_rate",
            AnswerEdit("falling", "number", "0.5", "1.5", code={"falling": "return step ** (-1.5)"}),
            "You raise the step to the power −1.5 instead of −0.5.",
        ),
        (
            "next_token_loss",
            AnswerEdit("pad_id", "ignored", "pad_id", "0"),
            "You don't use `pad_id`. Your output should depend on it.",
        ),
        ("MultiHeadAttention", AnswerEdit("from_query", "layers_exchanged", "w_q", "w_k"), "You swap `w_q` and `w_k`."),
        (
            "dpo_loss",
            AnswerEdit("beta", "scaled", "beta", "beta * 2"),
            "You multiply `beta` by 2 first. Use `beta` unchanged.",
        ),
    ],
)
def test_composes_exercise_message(exercise, edit, message):
    assert GeneratedMistake(edit, every_exercise()[exercise].steps).message == message


def test_every_kind_has_summary_and_question():
    steps = every_exercise()["softmax"].steps
    for kind in TEMPLATES:
        if kind not in ("moved", "done_again", "length", "order", "sibling", "operator", "range"):
            texts = words(steps, AnswerEdit("total", kind, "scores", "largest", "largest", code={"total": "return 0"}))
            assert texts.summary.startswith(("you", "your")), kind
            assert texts.question.endswith(("?", ".")) and "{" not in texts.question, kind
    for kind in ARGUMENT_TEMPLATES:
        texts = words(steps, AnswerEdit("scores", kind, "scores", "scores * 2"))
        assert texts.summary.startswith("you") and "`scores" in texts.summary, kind


def test_mentions_option_that_mistake_depends_on():
    body = "if scale is None:\n    return 1\nreturn 0"
    steps = every_exercise()["causal_mask"].steps
    edit = AnswerEdit("mask", "inverted", "", "~§", code={"mask": body.replace("scale", "n_key")})
    assert words(steps, edit).summary.endswith(" if `n_key` is given")
    other = AnswerEdit("mask", "taken_for", "", "past", code=edit.code)
    assert words(steps, other).summary.endswith(" instead of the mask, but only if `n_key` is given")
