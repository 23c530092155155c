"""Tests for the functions that a lesson imports and for the session that this import starts."""

import functools
import os
import subprocess
import sys

import pytest
import torch

from transformer_course.exercises import every_exercise, every_lesson, exercises_of
from transformer_course.lesson import notebook
from transformer_course.lesson.notebook import NotPassed, check, compare, show_hint, solution, whose_parts
from transformer_course.lesson.session import Session

REFERENCES = {name: exercise.reference for name, exercise in every_exercise().items()}


RIGHT = "def softmax(scores): return torch.softmax(scores, dim=-1)"
WRONG = "def softmax(scores): return torch.softmax(scores, dim=0)"


def test_finds_exercise_by_function_name_or_given_name(lesson):
    assert lesson.run(RIGHT).check("softmax").passed
    mine = lesson.run(RIGHT.replace("softmax(scores):", "mine(scores):")).names["mine"]
    assert check(mine, "softmax").passed
    assert check(mine, name=REFERENCES["softmax"]).passed
    assert check(functools.partial(torch.softmax, dim=-1), "softmax").exercise == "softmax"
    assert check(functools.partial(functools.partial(REFERENCES["softmax"]))).passed


def test_whose_parts_returns_yours_for_passed_parts(lesson):
    assert {owner for row in whose_parts().values() for owner in row.values()} == {"the library's"}
    lesson.run(RIGHT).check("softmax")
    own = [(name, part) for name, row in whose_parts().items() for part, owner in row.items() if owner == "yours"]
    assert own == [("01_lookup", "softmax")]
    assert sum(map(len, whose_parts().values())) == sum(map(len, map(exercises_of, every_lesson())))


@pytest.mark.parametrize("name", REFERENCES)
def test_reports_every_stub_as_not_started(lesson, name):
    kind = "class {}(nn.Module):\n    def __init__(self, *_, **__): raise NotImplementedError"
    source = kind if isinstance(REFERENCES[name], type) else "def {}(*_, **__): raise NotImplementedError"
    assert lesson.run(source.format(name)).check(name).status == "not_started"


def test_hint_button_shows_next_hint_for_last_attempt(lesson, monkeypatch):
    displayed = []
    monkeypatch.setattr("IPython.display.display", displayed.append)
    show_hint("softmax")
    assert "Run the check again" in repr(displayed[-1])
    lesson.run(WRONG).check("softmax")
    lesson.run("softmax = None")  # redefining the name has no effect
    show_hint("softmax"), show_hint("softmax")
    assert [repr(panel).splitlines()[0] for panel in displayed[1:]] == ["softmax: hint 1 of 3", "softmax: hint 2 of 3"]
    lesson.run(RIGHT).check("softmax")
    show_hint("softmax")
    assert "Run the check again" in repr(displayed[-1])


def test_failed_check_raises_only_in_strict_mode(lesson, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_STRICT", "1")
    assert lesson.run(RIGHT).check("softmax").passed
    for source in (
        WRONG,
        "def softmax(scores): raise NotImplementedError",
        "def softmax(scores): return scores.nothing",
    ):
        with pytest.raises(NotPassed, match="softmax"):
            lesson.run(source).check("softmax")
    with pytest.raises(NotPassed, match="No exercise is called sofmax"):
        check(max, "sofmax")
    monkeypatch.setenv("TRANSFORMER_LAB_STRICT", "0")
    assert not lesson.check("softmax").passed


def test_failed_check_raises_in_nbgrader(lesson, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert lesson.run(RIGHT).check("softmax").passed
    with pytest.raises(NotPassed, match="softmax"):
        lesson.run(WRONG).check("softmax")


def test_shows_solution_as_code_only_on_request(lesson):
    panel = solution(lesson.run(WRONG).names["softmax"])
    assert panel.title == "softmax: a solution"
    assert "".join(line[4:] + "\n" for line in panel.message.splitlines()) == every_exercise()["softmax"].solution
    assert solution(max, "softmax").message == panel.message


@pytest.mark.parametrize(
    ("prediction", "measured", "message"),
    [
        (8, torch.tensor(8.0), "you said 8, measured 8: right"),
        (22, 22.8123, "you said 22, measured 22.8: right"),
        (..., -0.0, "you made no prediction, measured 0"),
        ("A", "B", "you said A, measured B: wrong"),
        (0.5, torch.tensor([[3]]), "you said 0.5, measured 3: wrong"),
        ("many", 3, "you said many, measured 3"),
        ((2, 5), (2, 4), "you said (2, 5), measured (2, 4): wrong"),
        (("A", "60 %"), "A", "you said A, measured A: right"),
        (1000, 1465.2, "you said 1000, measured 1465: wrong"),
    ],
)
def test_compare_prints_prediction_next_to_measurement(prediction, measured, message, capsys):
    assert compare(prediction, measured) is None
    assert capsys.readouterr().out == message + "\n"


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        (4, "you said 4, measured 2.5 (nearest of the choices: 4): right"),
        (1, "you said 1, measured 2.5 (nearest of the choices: 4): wrong"),
        (..., "you made no prediction, measured 2.5 (nearest of the choices: 4)"),
    ],
)
def test_measurement_is_not_rounded_to_a_choice(prediction, message, capsys):
    compare(prediction, 2.5, choices=(1, 4, 16))
    assert capsys.readouterr().out == message + "\n"


def test_does_not_repeat_choice_equal_to_measurement(capsys):
    compare(4, 4.0, choices=(1, 4, 16))
    assert capsys.readouterr().out == "you said 4, measured 4: right\n"


def run(code, **environment):
    """Run code in a new interpreter, and return its output."""
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout


IMPORT = """
import torch
torch.set_num_threads(2)
import transformer_course.lesson.notebook
print(torch.get_num_threads())
{}
print(torch.get_num_threads())
"""


@pytest.mark.parametrize(
    "line",
    [
        "from transformer_course import compare",
        pytest.param(  # as in lessons of earlier releases
            "from transformer_course.lesson.notebook import check, compare, hint, parts, solution",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_session_starts_when_names_are_imported_from_module(tmp_path, line):
    (tmp_path / "01_lookup.py").write_text(
        "# %% softmax\nfrom transformer_course import parts\nsoftmax = max\n# %% similarity\nsimilarity = nothing\n"
    )
    printed = run(IMPORT.format(line), TRANSFORMER_LAB_PARTS=str(tmp_path)).splitlines()
    assert (printed[0], printed[2:]) == ("2", ["1"])
    assert "similarity is skipped because it does not run: NameError: name 'nothing' is not defined" in printed[1]


def test_session_starts_once_and_can_be_replaced(session):
    assert notebook.current_session() is session
    with notebook.in_session(Session({})) as other:
        assert notebook.current_session() is other
        assert notebook.parts is other.parts
        assert check(min).message.startswith("No exercise is called min.")
    assert notebook.current_session() is session
    assert notebook.parts is session.parts


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'pars'"):
        _ = notebook.pars
