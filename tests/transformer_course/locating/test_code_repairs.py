"""Tests that a repairing edit is reported only if it repairs all cases."""

import ast

import pytest

from tests.transformer_course.cells import cell
from tests.transformer_course.exercises.blind import Attempt
from tests.transformer_course.exercises.blind import check as blind_check
from tests.transformer_course.locating.fault_in import checked, fault_in
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

HEAD = "def similarity(query, keys):"
LOOP = (
    "scores = torch.zeros(len(keys))",
    "for i in range(len(keys)):",
    "    total = 0",
    "    for j in range(len(query)):",
    "        total += keys[i, j] * query[j]",
    "    scores[i] = total",
    "return scores",
)


def fault_after(old, new):
    lines = [line.replace(old, new) for line in LOOP]
    assert lines != [*LOOP]
    return fault_in(*lines, head=HEAD, name="similarity")


def check(*lines, name="similarity", head=HEAD):
    return Session(every_exercise()).check(cell("\n".join([head, *(f"    {line}" for line in lines)]), name))


def test_unmodified_loop_passes():
    assert check(*LOOP).passed


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("range(len(query))", "range(len(query) - 1)", 5, "your loop stops one iteration too early"),
        ("range(len(query))", "range(1, len(query))", 5, "your loop starts one iteration too late"),
        ("keys[i, j]", "keys[i, j - 1]", 6, "your index is one too small"),
        ("total +=", "total =", 6, "you overwrite `total` where you should add to it"),
    ],
)
def test_reports_slip_in_loop(old, new, line, sentence):
    fault = fault_after(old, new)
    assert fault.problem.startswith(f"Line {line}: {sentence}")


def test_reports_start_value_that_is_never_reset():
    total = LOOP[2].strip()
    lines = [LOOP[0], total, LOOP[1], *LOOP[3:]]
    message = check(*lines).message
    assert message.startswith("Line 3: you set `total` only once, before the loop,")
    assert "    line 3:  total = 0\n" in message


def test_reports_no_edit_without_repair():
    assert fault_after("keys[i, j] * query[j]", "keys[i, j] * keys[i, j] * 0.3") is None


def test_message_about_loop_replaces_message_about_effect():
    lines = (
        "rows = []",
        "for i in range(queries.shape[-2] - 1):",
        "    s = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5",
        "    rows.append(torch.softmax(s, -1).unsqueeze(-2) @ values)",
        "return torch.cat(rows, -2)",
    )
    assert "your loop stops one iteration too early" in checked(*lines).message


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


def test_composed_message_that_fits_gets_the_line_of_the_edit():
    message = check_solution("alibi_bias", "2.0 **", "4.0 **").message
    assert message.startswith("Line 3: you raise 4, not 2, to minus each exponent.\n    line 3:  slopes = 4.0 **")


def test_teachers_message_gets_the_line_of_a_wrong_name():
    message = check_solution("grpo_loss", "log_p_reference - log_p", "log_p - log_p").message
    assert message.startswith("You leave out the drift") and "    line 5:  behind = log_p - log_p\n" in message


def test_reports_computed_value_that_the_output_ignores():
    verdict = check_solution("answer_labels", "return tokens.masked_fill(in_prompt, pad_id)", "return tokens")
    assert verdict.status == "half_finished"
    assert verdict.message.startswith("Line 4: you compute the mask of the prompts, but your output doesn't depend on")


def test_edit_of_a_crash_replaces_the_crashed_expression():
    message = check_solution("shift_right", "tokens[:, :1]", "bos_id[:, :1]").message
    assert message.startswith("Line 3: `bos_id` is the wrong value here.") and "your code crashes here" not in message


def test_unassigned_name_is_replaced_by_the_argument():
    message = check_solution("softmax", "scores.max(", "exponentials.max(").message
    assert message.startswith("Line 3: `exponentials` has no value yet when this line runs. Use `scores` instead.")
