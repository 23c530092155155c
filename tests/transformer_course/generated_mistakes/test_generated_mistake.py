"""Tests for running and combining generated mistakes, and for composing their messages."""

from dataclasses import replace

import pytest

from tests.transformer_course.generated_mistakes.answer import ROWS, STEPS, WEIGHTS
from transformer_course.exercise import Wording
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import Outline
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, GeneratedMistake, used_names, variant_of

LEFT_OUT = AnswerEdit("shares", "left_out", "", "weights", "weights", 1.0, {"shares": "weights"})


def test_generated_mistake_replaces_its_step():
    assert GeneratedMistake(LEFT_OUT, STEPS).variants[0].attempt(ROWS, WEIGHTS).tolist() == [10.0, 17.0, 31.0]
    several = variant_of(STEPS, {"mean": "value = rows * scaled[:, None]\nreturn value.mean(dim=0)"})
    assert several.attempt(ROWS, WEIGHTS).tolist() == [1.25, 2.125, 3.875]
    with pytest.raises(ValueError, match="has no"):
        STEPS.but(nothing=lambda: 1)


def test_generated_mistake_combines_with_another_mistake():
    other = STEPS.but(rows=lambda rows: -rows)
    assert GeneratedMistake(LEFT_OUT, STEPS).step_variants[0].combined(other).attempt(ROWS, WEIGHTS).tolist() == [
        -10,
        -17,
        -31,
    ]


def test_two_generated_mistakes_in_one_step_combine():
    other = GeneratedMistake(LEFT_OUT, STEPS).step_variants[0]
    for form, expected in (("§ * 2", [20, 34, 62]), ("§[:1]", [4, 7, 13])):
        code = {"shares": f"return {form.replace('§', '(weights / total)')}"}
        both = (
            GeneratedMistake(AnswerEdit("shares", "other", "", form, code=code), STEPS).step_variants[0].combined(other)
        )
        assert both.attempt(ROWS, WEIGHTS).tolist() == expected
    only_given = "if scale is None:\n    return weights / total\nreturn (weights / total) * 2"
    given = GeneratedMistake(AnswerEdit("shares", "scaled", "", "§ * 2", code={"shares": only_given}), STEPS)
    assert given.step_variants[0].attempt(ROWS, WEIGHTS).tolist() == STEPS.reference(ROWS, WEIGHTS).tolist()


def test_message_uses_step_description():
    mistake = GeneratedMistake(LEFT_OUT, STEPS)
    assert mistake.name == "left_out_shares"
    assert mistake.summary == "you never divide by the sum"
    assert mistake.message == "You never divide by the sum."
    assert mistake.hints == (
        "What goes wrong if you don't divide by the sum?",
        "You need the shares, which add up to 1, computed from `weights` and the sum of the weights.",
        "In code: `weights / total`, with `total` for the sum of the weights.",
    )


def test_consequence_comes_between_mistake_and_advice():
    rounded = AnswerEdit("mean", "rounded", "", "§.round()")
    mistake = GeneratedMistake(rounded, STEPS)
    consequence = "Your output is 3."
    assert mistake.message_with(consequence) == "You round the mean. Your output is 3. Keep all the digits."
    long = " ".join(["word"] * 30)
    assert mistake.message_with(f"{long}.") == f"You round the mean. {long}."
    assert GeneratedMistake(rounded, STEPS, {"rounded_mean": "You round."}).message_with(consequence) == "You round."


SUM = AnswerEdit("total", "sibling", "weights.sum()", "weights.amax()")
TWICE = AnswerEdit("scaled", "scaled", "", "§ * 2")


def with_reading(first, second):
    return GeneratedMistake(replace(first, readings=[second]), STEPS)


def test_reading_code_selects_matching_mistake():
    mistake = with_reading(SUM, TWICE)
    assert mistake.message == "You take the maximum of `weights`, not the sum. A maximum keeps only the largest term."
    assert mistake.reading(code="return weights.max()") is mistake
    assert mistake.reading(code="return weights.sum() / 2").edit is TWICE
    fits_neither = with_reading(SUM, replace(SUM, new="weights.cos()"))
    assert fits_neither.reading(code="return weights") is fits_neither


def test_rewords_message_if_code_looks_different():
    mistake = GeneratedMistake(SUM, STEPS)
    assert mistake.fits("weights.max()") and not mistake.fits("weights[0]")
    assert (
        mistake.in_effect(mistake.message)
        == "In effect, you take the maximum of `weights`, not the sum. A maximum keeps only the largest term."
    )
    assert GeneratedMistake(SUM, STEPS, {SUM.name: "You take one."}).fits("weights[0]")


def test_reading_code_selects_mistake_in_wrong_step():
    mistake = with_reading(SUM, TWICE)
    assert mistake.reading("scaled").edit is TWICE
    assert mistake.reading("total") is mistake is mistake.reading("mean")
    of_argument = with_reading(AnswerEdit("weights", "sign", "weights", "-weights"), TWICE)
    assert of_argument.reading("scaled", "2 * -weights") is of_argument
    own_words = {SUM.name: "You take the largest weight."}
    own = GeneratedMistake(replace(SUM, readings=[TWICE]), STEPS, own_words)
    assert own.reading("scaled") is own


def test_reworded_message_replaces_message_in_report():
    rounded = GeneratedMistake(AnswerEdit("mean", "rounded", "", "§.round()"), STEPS)
    twice = GeneratedMistake(TWICE, STEPS)
    report = f"A remark.\n{rounded.message_with('Your output is 3.')}"
    assert rounded.reworded(report, twice) == (
        "A remark.\nYour scaled shares are twice what they should be. Your output is 3."
    )
    assert twice.reworded(twice.message, rounded) == "You round the mean."


def test_teacher_message_replaces_composed_message():
    messages = {"left_out_shares": "Weights that do not add up to 1 make no mean."}
    assert GeneratedMistake(LEFT_OUT, STEPS, messages).message == "Weights that do not add up to 1 make no mean."


def test_wording_replaces_message_summary_and_first_hints():
    composed = GeneratedMistake(LEFT_OUT, STEPS)
    wording = Wording("{summary}. Do the shares add up to 1?", "the weights stay as large as they are", ["Add them."])
    own = GeneratedMistake(LEFT_OUT, STEPS, {"left_out_shares": wording})
    assert own.summary == "the weights stay as large as they are"
    assert own.message == "The weights stay as large as they are. Do the shares add up to 1?"
    assert own.hints == ("Add them.", *composed.hints[1:])
    assert len(GeneratedMistake(LEFT_OUT, STEPS, {"left_out_shares": Wording("A.", hints=[*"abcd"])}).hints) == 4


def test_composes_missing_parts_of_a_wording():
    composed = GeneratedMistake(LEFT_OUT, STEPS)
    only_message = GeneratedMistake(LEFT_OUT, STEPS, {"left_out_shares": Wording("They add up to 17.")})
    assert (only_message.summary, only_message.message) == (composed.summary, "They add up to 17.")
    assert only_message.hints == composed.hints
    only_summary = GeneratedMistake(LEFT_OUT, STEPS, {"left_out_shares": Wording(summary="your sum is 17")})
    assert only_summary.message == "Your sum is 17."


@pytest.mark.parametrize(
    ("message", "summary"),
    [
        ("You use the weights as shares. What do they sum to?", "you use the weights as shares"),
        ("Your shares sum to 17.", "your shares sum to 17"),
        ("Your shares are right, but too large.", "you never divide by the sum"),
        ("You use the weights: they sum to 17.", "you never divide by the sum"),
        ("Which shares sum to 1?", "you never divide by the sum"),
    ],
)
def test_summary_is_first_sentence_about_learner_action(message, summary):
    assert GeneratedMistake(LEFT_OUT, STEPS, {"left_out_shares": message}).summary == summary


@pytest.mark.parametrize("arguments", [{}, {"message": "{summary}. Look again."}, {"hints": ["Look again."]}])
def test_wording_rejects_missing_message_or_summary(arguments):
    with pytest.raises(ValueError, match="summary"):
        Wording(**arguments)


def test_key_with_code_selects_one_of_several_mistakes():
    messages = {"scaled_shares: § * 2": "They add up to 2."}
    twice, half = (
        GeneratedMistake(
            AnswerEdit("shares", "scaled", "", form, code={"shares": form.replace("§", "weights")}), STEPS, messages
        )
        for form in ("§ * 2", "§ / 2")
    )
    assert (twice.message, twice.has_own_words) == ("They add up to 2.", True)
    assert (half.message, half.has_own_words) == ("Your shares are half of what they should be.", False)


def test_teacher_message_ignores_mistake_limited_to_option():
    messages = {"left_out_shares": "Weights that do not add up to 1 make no mean."}
    only_given = {"shares": "if scale is None:\n    return weights / total\nreturn weights"}
    mistake = GeneratedMistake(replace(LEFT_OUT, code=only_given), STEPS, messages)
    assert not mistake.has_own_words
    assert mistake.message == "You never divide by the sum, but only if `scale` is given."


def test_crashes_only_if_all_outlines_are_errors():
    error, number = Outline("error RuntimeError"), Outline("float32[2]", 1.0, 1.0)
    assert [AnswerEdit("shares", "left_out", outlines=some).crashes for some in ([error, error], [error, number],
    [])] == [
        True, False, False,
    ]  # fmt: skip


def test_used_names_excludes_names_defined_by_code():
    assert used_names("rows = 1\nreturn rows + total", {"rows", "total"}) == ["total"]
    assert used_names("lambda rows: rows + shares", {"rows", "shares"}) == ["shares"]


def test_describes_step_without_inputs_as_choice():
    softmax = every_exercise()["softmax"].steps
    kinds = [
        GeneratedMistake(AnswerEdit(step, "number", "-1", "0", code={step: "0"}), softmax) for step in ("axis", "total")
    ]
    assert [mistake.is_choice for mistake in kinds] == [True, False]
