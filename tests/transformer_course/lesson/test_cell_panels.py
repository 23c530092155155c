"""Tests that a notebook displays each verdict exactly once, wherever the check is in the cell."""

import os
import subprocess
import sys

import nbformat
import pytest

from notebooks.build import execute
from transformer_course.checking.verdict import Verdict
from transformer_course.lesson.cell_panels import HintPanel, with_buttons

SETUP = """\
from transformer_course import check, hint, compare
def softmax(scores): raise NotImplementedError
def similarity(query, keys): raise NotImplementedError"""

CELLS = {
    "last": "check(softmax)",
    "not last": "check(softmax)\nprint('and then')",
    "assigned": "verdict = check(softmax)",
    "assigned and last": "verdict = check(softmax)\nverdict",
    "later": "verdict",
    "loop": "for attempt in (softmax, similarity):\n    check(attempt)",
    "in a function": "def both():\n    check(softmax)\n    check(similarity)\nboth()",
    "two": "check(softmax)\ncheck(similarity)",
    "hint": "check(softmax)\nhint(softmax)",
    "hints in a loop": "for _ in range(2):\n    hint(softmax)",
    "number": "check(softmax)\n6 * 7",
    "displayed": "from IPython.display import display\ndisplay(check(softmax))",
    "error": "check(softmax)\n1 / 0",
    "inside": "def similarity(query, keys):\n    return check(softmax)\nverdict = check(similarity)",
    "nothing": "compare(..., 3)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell in a kernel. Each output is a pair of type and text."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(SETUP)]
    cells += [nbformat.v4.new_code_cell(cell, metadata={"tags": ["raises-exception"]}) for cell in CELLS.values()]
    book = execute(nbformat.v4.new_notebook(cells=cells), folder)
    return {
        name: [
            (
                output.output_type,
                output["text"].strip() if output.output_type == "stream" else output["data"]["text/plain"],
            )
            for output in cell.outputs
            if output.output_type != "error"
        ]
        for name, cell in zip(CELLS, book.cells[1:], strict=True)
    }


SOFTMAX, SIMILARITY = "softmax\nNot started yet.", "similarity\nNot started yet."


def test_verdict_of_last_line_is_the_only_result(outputs):
    for cell in ("last", "assigned and last", "later"):
        assert outputs[cell] == [("execute_result", SOFTMAX)]


def test_verdict_of_an_earlier_line_is_displayed_once(outputs):
    assert outputs["not last"] == [("stream", "and then"), ("display_data", SOFTMAX)]
    assert outputs["assigned"] == [("display_data", SOFTMAX)]
    assert outputs["displayed"] == [("display_data", SOFTMAX)]
    assert outputs["error"] == [("display_data", SOFTMAX)]
    assert outputs["number"] == [("execute_result", "42"), ("display_data", SOFTMAX)]


@pytest.mark.parametrize("cell", ["loop", "in a function"])
def test_displays_several_verdicts_in_order(outputs, cell):
    assert outputs[cell] == [("display_data", SOFTMAX), ("display_data", SIMILARITY)]


def test_earlier_verdicts_precede_panel_of_last_line(outputs):
    assert outputs["two"] == [("display_data", SOFTMAX), ("execute_result", SIMILARITY)]
    [first, (kind, text)] = outputs["hint"]
    assert first == ("display_data", SOFTMAX)
    assert kind == "execute_result" and text.startswith("softmax: general hint 1 of")


def test_displays_all_hints_in_a_loop(outputs):
    assert [kind for kind, _ in outputs["hints in a loop"]] == ["display_data"] * 2
    assert ["general hint" in text for _, text in outputs["hints in a loop"]] == [True] * 2


def test_check_inside_an_attempt_shows_no_verdict(outputs):
    [(kind, text)] = outputs["inside"]
    assert kind == "display_data" and text.startswith("similarity: not right yet")


def test_cell_without_a_check_shows_no_verdict(outputs):
    assert outputs["nothing"] == [("stream", "you made no prediction, measured 3")]


TERMINAL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.display_formatter.active_types = ["text/plain"]
shell.run_cell("from transformer_course import check\\ndef softmax(scores): raise NotImplementedError")
print("the result")
shell.run_cell("check(softmax)")
print("another line")
shell.run_cell("check(softmax)\\nprint('and then')")
"""


def test_terminal_shows_each_verdict_once(tmp_path):
    environment = os.environ | {"IPYTHONDIR": str(tmp_path), "TRANSFORMER_LAB_PARTS": ""}
    ran = subprocess.run([sys.executable, "-c", TERMINAL], env=environment, capture_output=True, text=True, check=True)
    result, another = ran.stdout.split("another line\n")
    assert result.count("Not started yet.") == 1
    assert another.split("and then\n")[1].count("Not started yet.") == another.count("Not started yet.") == 1


HINT = '<button class="tl-button-in-cell tl-hint" hidden data-exercise="softmax">Hint</button>'
RESET = '<button class="tl-button-in-cell tl-reset" hidden data-exercise="softmax">Reset to the stub</button>'


@pytest.mark.parametrize(
    ("status", "cell", "buttons"),
    [
        ("mistake", "check-softmax", [HINT, RESET]),
        ("mistake", "softmax", [HINT, RESET]),
        ("mistake", "check-mend-softmax", [HINT]),
        ("mistake", None, [HINT]),
        ("not_started", "check-softmax", [HINT]),
        ("passed", "check-softmax", [RESET]),
        ("passed", "check-mend-softmax", []),
    ],
)
def test_buttons_depend_on_status_and_cell(status, cell, buttons):
    verdict = Verdict("softmax", status, "Why.")
    panel = verdict._repr_html_()
    assert with_buttons(panel, verdict, cell) == f"{panel.removesuffix('</div>')}{' '.join(buttons)}</div>"


def test_panel_for_unknown_exercise_has_no_button():
    unknown = Verdict('sof"max', "wrong", "No exercise is called that.")
    assert with_buttons("<div></div>", unknown, 'check-sof"max') == "<div></div>"


@pytest.mark.parametrize(
    ("comes_next", "end"),
    [
        ("hint", HINT.replace(">Hint", ">Next hint")),
        ("solution", HINT.replace(">Hint", ">Show a solution")),
        ("", '<span class="tl-hint" hidden></span>'),
    ],
)
def test_hint_ends_with_button_for_the_next_step(comes_next, end):
    panel = HintPanel("softmax: hint 1 of 3", "Look.", "help", "softmax", comes_next)
    assert panel._repr_html_().endswith(f"{end}</div>")
    assert repr(panel) == "softmax: hint 1 of 3\nLook."
