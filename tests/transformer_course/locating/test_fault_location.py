"""Tests that a verdict shows the line at fault only if the fault is proven."""

import pytest
import torch
from jaxtyping import Float

from tests.transformer_course.cells import cell
from tests.transformer_course.locating.fault_in import ATTENTION, REST, SCORES, checked, fault_in
from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.session import Session
from transformer_course.locating import fault_location
from transformer_course.locating.fault_location import add_location, can_be_located
from transformer_course.running.trace import Traced


def test_search_stops_at_time_limit(monkeypatch):
    monkeypatch.setattr(fault_location, "SEARCH_TIME_LIMIT_S", 1.0)
    assert fault_in("while True:", "    queries = queries + 1") is None


@pytest.mark.parametrize("status", ["passed", "not_started"])
def test_ignores_verdicts_that_report_no_mistake(status):
    verdict = Verdict("scaled_dot_product_attention", status, "Words.", ("one",))
    assert not can_be_located(verdict)
    known = behavior(every_exercise()["scaled_dot_product_attention"], 0)
    traced = Traced(cell(f"{ATTENTION}\n    return 0", "scaled_dot_product_attention"))
    assert add_location(verdict, known, traced, ["queries"]) == verdict


def test_crash_does_not_hide_second_mistake():
    assert checked("scores = queries @ keys", *REST).mistakes == ("not_transposed_turned", "no_scaling")


def test_shows_line_with_recognized_mistake():
    verdict = checked(SCORES, "weights = torch.softmax(scores, -2)", "return weights @ values")
    assert verdict.status == "mistake"
    assert verdict.message.splitlines()[1:4] == [
        "    line 3:  weights = torch.softmax(scores, -2)",
        "                       ^^^^^^^^^^^^^^^^^^^^^^^^^",
        "Case 1 of 8 (one query, 2 keys of width 4, values of width 1):",
    ]


def test_sentence_in_second_person_begins_with_line():
    lines = ("e = torch.exp(scores - scores.amax(-1, keepdim=True))", "return e / e.mean(-1, keepdim=True)")
    message = Session(every_exercise()).check(cell("\n    ".join(["def softmax(scores):", *lines]), "softmax")).message
    assert message.startswith("Line 3: you take the mean of the exponentials")
    assert "One of your rows" not in message and "    line 3:  return e / e.mean(" in message.splitlines()[1]


def test_shows_line_below_teacher_message():
    lines = ("e = torch.exp(scores - scores.amin(-1, keepdim=True))", "return e / e.sum(-1, keepdim=True)")
    verdict = Session(every_exercise()).check(cell("\n    ".join(["def softmax(scores):", *lines]), "softmax"))
    assert verdict.mistakes == ("sibling_largest",)
    sentence = every_exercise()["softmax"].messages["sibling_largest"].sentence
    assert verdict.message.startswith(f"Line 2: y{sentence[1:]}\n    line 2:  {lines[0]}\n")


def test_message_that_mismatches_code_begins_with_in_effect():
    lines = (
        "ids, new = list(text.encode()), 256",
        "for pair in merges:",
        "    new += 1",
        "    ids = parts.merge(ids, pair, new)",
    )
    source = "\n    ".join(["def encode(text, merges):", *lines, "return ids"])
    message = Session(every_exercise()).check(cell(source, "encode", parts=parts)).message
    assert message.startswith("In effect, you use 257 instead of 256 ")
    written = source.replace("256", "257").replace("new)", "new - 1)")
    assert Session(every_exercise()).check(cell(written, "encode", parts=parts)).message.find("n effect") == -1


def test_shows_line_with_first_of_two_mistakes():
    multiplied = SCORES.replace(" / ", " * ")
    verdict = checked(multiplied, "weights = torch.softmax(scores, -2)", "return weights @ values")
    assert len(verdict.mistakes) == 2
    assert verdict.message.splitlines()[2] == f"    line 2:  {multiplied}"
    assert verdict.message.splitlines()[4].startswith("2. ")


def test_hides_line_in_bug_hunt():
    source = "\n".join([ATTENTION, f"    {SCORES}", "    return torch.softmax(scores, -2) @ values"])
    colleague = cell(source.replace("def scaled_dot", "def a_colleagues_dot"), "a_colleagues_dot_product_attention")
    verdict = Session(every_exercise()).check(colleague, "scaled_dot_product_attention", save=False)
    assert verdict.status == "mistake" and "line 3" not in verdict.message


@pytest.mark.parametrize(
    "lines",
    [
        [
            "d_k = keys.shape[-1]",
            "return torch.softmax(queries @ keys.mT / d_k, -1) @ values",
        ],  # many other sizes are also 4
        [SCORES, "weights = torch.softmax(scores, -2)", "mixed = weights @ values", "return mixed + 0"],
    ],
)
def test_shows_line_only_if_fault_is_proven(lines):
    verdict = checked(*lines)
    assert verdict.status == "mistake"
    shown = verdict.message.partition("    line ")[2]
    assert "shape" not in shown and "mixed" not in shown


def test_does_not_report_line_that_reads_wrong_attribute():
    edit = ("new_zeros(linear.out_features, rank)", "new_ones(linear.out_features, rank)")
    source = every_exercise()["LoRALinear"].solution.replace(*edit)
    verdict = Session(every_exercise()).check(cell(source, "LoRALinear", Float=Float, Tensor=torch.Tensor))
    assert verdict.mistakes == ("b_does_not_start_at_zero",)
    assert "    line " not in verdict.message


def test_shows_line_that_uses_argument_wrongly():
    source = "def score_variance(d_k, variance):\n    return d_k * variance**4"
    message = Session(every_exercise()).check(cell(source, "score_variance")).message
    assert message.startswith("Line 2: you raise `variance` to the fourth power, as if it were a standard deviation")
    assert "\n    line 2:  " in message


@pytest.mark.parametrize(
    ("name", "source", "false_claim"),
    [
        (
            "bits_per_byte",
            "def bits_per_byte(loss, n_tokens, n_bytes):\n    return loss / 0.693147 * n_tokens / n_tokens",
            "n_bytes` instead of",
        ),
        (
            "head_contributions",
            """\
def head_contributions(heads, w_o):
    d = heads.shape[-1]
    own = [w_o.T[:, i * d : (i + 1) * d].T for i in range(heads.shape[1])]
    return torch.stack([heads[:, i] @ w for i, w in enumerate(own)], 1)""",
            "don't transpose `w_o`",
        ),
    ],
)
def test_omits_messages_that_quote_missing_code(name, source, false_claim):
    verdict = Session(every_exercise()).check(cell(source, name))
    assert verdict.status == "mistake"
    assert false_claim not in verdict.message


def test_reports_discarded_result_in_half_finished_attempt():
    lines = ("ids = list(text.encode())", "for i, pair in enumerate(merges):", "    parts.merge(ids, pair, 256 + i)")
    source = "\n    ".join(["def encode(text, merges):", *lines, "return ids"])
    verdict = Session(every_exercise()).check(cell(source, "encode", parts=parts))
    assert verdict.status == "half_finished"
    assert "Assign the result: `ids = parts.merge(…)`." in verdict.message and "Next" not in verdict.message
