"""The command line: what it understands, and what it says when it does not."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from transformer_lab.cli.main import main
from transformer_lab.course.workspace import lessons

GRADE = "transformer_lab.course.grading.grade"


@pytest.fixture
def opened(monkeypatch):
    seen = []
    monkeypatch.setattr(lessons, "open_lab", seen.append)
    return seen


@pytest.fixture
def graded(monkeypatch):
    """Stand in for the grader, and note what it is asked for."""
    seen = []

    def grade(paths, out, *, lessons, seed, seconds, memory_mb):
        seen.append((paths, out, lessons, seed, seconds, memory_mb))
        return "2 students, 1 lesson."

    module = ModuleType(GRADE)
    module.grade = grade
    monkeypatch.setitem(sys.modules, GRADE, module)
    return seen


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--no-browser"],
        ["--no-browser", "--port", "8890"],
        ["--port", "8890", "--no-browser"],
        ["--port=8890", "--ServerApp.password=", "--debug"],
        ["--comm", "x", "--out", "y", "01_lookup.ipynb"],
    ],
)
def test_all_that_follows_lab_goes_to_jupyterlab(opened, arguments):
    assert main(["lab", *arguments]) == 0
    assert opened == [arguments]


def test_the_lesson_folder_that_is_missing_is_told_in_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(lessons, "REPOSITORY", tmp_path)
    assert main(["lab"]) == 2
    missing = f"no lessons in {tmp_path / 'notebooks'}: they come with the repository, not with the package"
    assert capsys.readouterr().err == f"transformer-lab: {missing}\n"


def test_grade_has_limits_unless_told_otherwise(graded, capsys):
    assert main(["grade", "handed-in", "-o", "graded"]) == 0
    assert graded == [([Path("handed-in")], Path("graded"), [], None, 10.0, 2048)]
    assert capsys.readouterr().out == "2 students, 1 lesson.\n"


def test_grade_is_told_what_was_typed(graded):
    lessons = ["--lesson", "01_lookup", "--lesson", "02_scaling"]
    main(["grade", "a.ipynb", "b", "--out", "graded", *lessons, "--seed", "7", "--seconds", "2.5", "--memory", "512"])
    paths = [Path("a.ipynb"), Path("b")]
    assert graded == [(paths, Path("graded"), ["01_lookup", "02_scaling"], 7, 2.5, 512)]


@pytest.mark.parametrize("error", [FileNotFoundError("no notebook at x.ipynb"), ValueError("no notebook at x.ipynb")])
def test_what_stands_in_the_way_of_grading_is_told_in_one_line(graded, monkeypatch, capsys, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(sys.modules[GRADE], "grade", fail)
    assert main(["grade", "x.ipynb", "-o", "graded"]) == 2
    assert capsys.readouterr() == ("", "transformer-lab: no notebook at x.ipynb\n")


@pytest.mark.parametrize("limit", ["--seconds=0", "--seconds=-1", "--seconds=nan", "--memory=0"])
def test_limits_that_allow_nothing_are_refused(graded, capsys, limit):
    assert main(["grade", "x.ipynb", "-o", "graded", limit]) == 2
    assert "limits are above 0; got" in capsys.readouterr().err
    assert graded == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: COMMAND"),
        (["lba"], "invalid choice: 'lba'"),
        (["grade", "x.ipynb"], "required: -o/--out"),
        (["grade", "-o", "graded"], "required: PATH"),
        (["grade", "x.ipynb", "-o", "graded", "--sed", "3"], "unrecognized arguments: --sed"),
        (["grade", "x.ipynb", "-o", "graded", "--seed", "three"], "invalid int value: 'three'"),
    ],
)
def test_what_cannot_be_understood_is_named(graded, capsys, arguments, said):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert said in capsys.readouterr().err
    assert graded == []


def test_an_interrupted_command_says_so_and_ends_with_130(graded, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[GRADE], "grade", interrupt)
    assert main(["grade", "x.ipynb", "-o", "graded"]) == 130
    assert capsys.readouterr() == ("", "transformer-lab: interrupted\n")


@pytest.mark.parametrize("command", ["", "lab", "grade", "train", "evaluate", "translate", "generate"])
def test_help_loads_none_of_what_the_commands_need(command):
    show = f"import sys; from transformer_lab.cli import main; sys.argv[1:] = {[*command.split(), '--help']}; main()"
    script = f"import atexit, sys; atexit.register(lambda: print(*sys.modules)); {show}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={"PATH": ""}, check=True)
    assert "usage: transformer-lab" in done.stdout
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not {"torch", "pandas", "jupyterlab", "nbformat", "tokenizers", "babel"} & loaded
