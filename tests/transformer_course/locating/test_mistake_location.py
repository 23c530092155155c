"""Tests for the line of a recognized mistake, and for edits that replace messages which do not fit the code."""

import ast
import re

import pytest

from tests.transformer_course.exercises.blind import Attempt
from tests.transformer_course.exercises.blind import check as blind_check
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session


def check_solution(name, old="", new=""):
    """Check an exercise's solution with one piece of its code replaced."""
    code = ast.unparse(ast.parse(every_exercise()[name].solution))
    assert old in code
    attempt = Attempt(name, name, "mutant", code.replace(old, new), frozenset())
    return blind_check(attempt, Session(every_exercise()))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [  # without an edit: a maximum taken elsewhere, no call of `zeros`, a softmax, two bugs, a half-finished answer
        ("softmax", "scores - largest", "largest - largest", "Line 4: `largest` is the wrong value here."),
        ("split_heads", "reshape(batch, n,", "reshape(batch, batch,", "Line 4: `batch` is the wrong value here."),
        ("accumulate", "/ n_tokens.sum()", "/ losses.sum()", "Line 3: `losses` is the wrong value here."),
        ("merge", "while i <", "while new_id <", "Line 4: `new_id` is the wrong value here."),
        ("split_heads", "transpose(1, 2)", "transpose(2, 2)", "Line 4: `2` is the wrong dimension here."),
        ("head_contributions", "heads.shape[1]", "heads.shape[-1]", "Line 3: `-1` is the wrong dimension here."),
    ],
)
def test_repair_replaces_composed_message_that_does_not_fit(name, old, new, message):
    assert check_solution(name, old, new).message.startswith(message)


def test_single_edit_replaces_two_mistakes():
    verdict = check_solution("merge", "while i <", "while new_id <")
    assert (verdict.status, verdict.mistakes) == ("wrong", ()) and "two bugs" not in verdict.message


def test_adds_edited_line_to_fitting_composed_message():
    message = check_solution("alibi_bias", "2.0 **", "4.0 **").message
    assert message.startswith("Line 3: you raise 4, not 2, to minus each exponent.\n    line 3:  slopes = 4.0 **")


def test_adds_line_of_wrong_name_to_teacher_message():
    message = check_solution("grpo_loss", "log_p_reference - log_p", "log_p - log_p").message
    assert message.startswith("You leave out the drift") and "    line 5:  behind = log_p - log_p\n" in message


def test_reports_computed_value_that_the_output_ignores():
    verdict = check_solution("answer_labels", "return tokens.masked_fill(in_prompt, pad_id)", "return tokens")
    assert verdict.status == "half_finished"
    assert verdict.message.startswith("Line 4: you compute the mask of the prompts, but your output doesn't depend on")


def test_reports_crash_repair_instead_of_crashed_expression():
    message = check_solution("shift_right", "tokens[:, :1]", "bos_id[:, :1]").message
    assert message.startswith("Line 3: `bos_id` is the wrong value here.") and "your code crashes here" not in message


def test_replaces_unassigned_name_with_argument():
    message = check_solution("softmax", "scores.max(", "exponentials.max(").message
    assert message.startswith("Line 3: `exponentials` has no value yet when this line runs. Use `scores` instead.")


def test_ignores_two_composed_mistakes_that_the_code_does_not_contain():
    code = """
def smoothed_cross_entropy(logits, targets, pad_id, smoothing):
    log_p = torch.log_softmax(logits, dim=-1)
    nll = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    loss = nll - smoothing * log_p.mean(dim=-1)
    return loss[targets != pad_id].mean()
"""
    attempt = Attempt("smoothed_cross_entropy", "x", "one", code, frozenset())
    verdict = blind_check(attempt, Session(every_exercise()))
    assert verdict.status in ("wrong", "mistake") and "round" not in verdict.message


def test_composed_mistake_needs_its_operation_in_the_code():
    code = """
def softmax_jacobian(probabilities):
    n = len(probabilities)
    jacobian = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            p, q = probabilities[i], probabilities[j]
            jacobian[i, j] = p * (1 - p) if i == j else p * q
    return jacobian
"""
    attempt = Attempt("softmax_jacobian", "x", "one", code, frozenset())
    assert "ou take absolute values" not in blind_check(attempt, Session(every_exercise())).message.replace(
        "In effect, you", ""
    )


def test_case_of_two_mistakes_shows_the_first():
    code = """
def similarity(query, keys):
    scores = torch.zeros(len(keys))
    for i in range(len(keys) - 1):
        for j in range(len(query)):
            scores[i] += query[j] + keys[i, j]
    return scores
"""
    message = blind_check(Attempt("similarity", "x", "two", code, frozenset()), Session(every_exercise())).message
    expected, got = (re.search(word + r" +\[(.*?),", message)[1] for word in ("expected", "got"))
    assert message.startswith("Your code has two bugs.") and expected != got
