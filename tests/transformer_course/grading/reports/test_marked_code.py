import re

import pytest

from transformer_course.grading.reports.marked_code import marked_code

CODE = "import torch\n\ndef softmax(scores):\n    total = scores.sum() + 1 < 2\n    return scores / total"


def message_about(number: int, line: str, expression: str) -> str:
    """Return a message that shows an expression in a line."""
    before = f"    line {number}:  "
    carets = f"{' ' * (len(before) + line.index(expression))}{'^' * len(expression)}"
    return f"It is wrong.\n{before}{line}\n{carets}\nMore."


def test_marks_message_location_in_numbered_code():
    displayed, is_marked = marked_code(CODE, message_about(4, "total = scores.sum() + 1 < 2", "scores.sum()"))
    assert is_marked and "  4      total = <mark>scores.sum()</mark> + 1 &lt; 2\n" in displayed
    assert re.findall(r"^ +(\d)", displayed.removeprefix('<pre class="own">'), re.MULTILINE) == list("12345")


def test_long_line_shows_the_marked_part():
    line = f"    y = {'a + ' * 30}scores.sum()"
    message = message_about(1, f"… {line[60:]}", "scores.sum()")
    assert "+ <mark>scores.sum()</mark></pre>" in marked_code(line, message)[0]


def test_marks_error_line():
    message = "On the input x: ValueError: a\nOn your line 5:\n    return scores / total\nThe inputs: x."
    assert "  5      <mark>return scores / total</mark></pre>" in marked_code(CODE, message)[0]


@pytest.mark.parametrize(
    "message",
    [
        "",
        message_about(9, "total", "total"),
        message_about(4, "text that is missing", "missing"),
        "Oh.\nOn your line 1:\n    return scores / total",
        "    line 99999999999999999999:  x\n                 ^",
        "    line 4:  total\n ^",
    ],
)
def test_does_not_mark_text_missing_from_code(message: str):
    displayed, is_marked = marked_code(CODE, message)
    assert not is_marked and "<mark>" not in displayed


def test_escapes_and_truncates_learner_code():
    displayed, is_marked = marked_code("<script>\n" * 300, "Oh.\nOn your line 1:\n    <script>")
    assert is_marked and "<script" not in displayed and "… and 100 more lines" in displayed
