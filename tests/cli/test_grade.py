"""``grade``: what is typed is what the grader is asked for."""

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import GRADE
from transformer_lab.cli.main import main


def test_grade_has_limits_unless_told_otherwise(graded, capsys):
    assert main(["grade", "handed-in", "-o", "graded"]) == 0
    assert graded == [([Path("handed-in")], Path("graded"), [], None, 10.0, 2048, 1, False, False, "")]
    assert capsys.readouterr().out == "2 students, 1 lesson.\n"


def test_grade_is_told_what_was_typed(graded):
    lessons = ["--lesson", "01_lookup", "--lesson", "02_scaling"]
    limits = ["--seconds", "2.5", "--memory", "512"]
    how = ["--seed", "7", "--jobs", "3", "--fresh", "--unconfined", "--container", "podman"]
    main(["grade", "a.ipynb", "b", "--out", "graded", *lessons, *limits, *how])
    paths = [Path("a.ipynb"), Path("b")]
    assert graded == [(paths, Path("graded"), ["01_lookup", "02_scaling"], 7, 2.5, 512, 3, True, True, "podman")]


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
    assert "limits must be positive; got" in capsys.readouterr().err
    assert graded == []
