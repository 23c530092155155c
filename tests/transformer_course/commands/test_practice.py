"""Tests for ``transformer-course practice``."""

import os

import nbformat
import pytest

from transformer_course.commands import practice
from transformer_course.commands.main import main
from transformer_course.workspace.progress import record_pass

LESSONS = ["00_bottleneck", "01_lookup", "02_scaling", "tokenizers", "09_language_model", "practice_bank"]


@pytest.fixture
def opened(monkeypatch):
    """Record JupyterLab's arguments instead of starting JupyterLab."""
    arguments = []
    monkeypatch.setattr(os, "environ", dict(os.environ))  # the command sets an environment variable
    monkeypatch.setattr("transformer_course.home.lab.open_lab", arguments.extend)
    return arguments


def test_opens_a_notebook_for_the_chosen_lessons(tmp_path, opened, capsys):
    options = ["--lesson", "01-02", "-n", "3", "--questions", "2", "--minutes", "20", "--no-browser"]
    assert main(["practice", "--folder", str(tmp_path), *options]) == 0
    [path] = tmp_path.glob("practice/*.ipynb")
    book = nbformat.read(path, as_version=4)
    assert sum(cell.id.startswith("practice-check-") for cell in book.cells) == 3
    assert "begin(3, minutes=20)" in book.cells[1].source
    assert opened == ["--no-browser", f"--LabApp.default_url=/lab/tree/practice/{path.name}"]
    assert "3 exercises from memory, 2 questions" in capsys.readouterr().out


def test_interview_contains_passed_exercises_and_a_timer(tmp_path, opened):
    record_pass(tmp_path, "softmax")
    assert main(["practice", "--folder", str(tmp_path), "--interview"]) == 0
    [path] = tmp_path.glob("practice/*.ipynb")
    book = nbformat.read(path, as_version=4)
    assert "begin(1, minutes=45)" in book.cells[1].source
    assert book.cells[0].source.startswith("# Interview, ")


def test_rejects_session_with_nothing_to_practice(tmp_path, opened, capsys):
    assert main(["practice", "--folder", str(tmp_path)]) == 2
    assert "there is nothing to practice yet" in capsys.readouterr().err
    assert not opened


@pytest.mark.parametrize(
    ("text", "lessons"),
    [
        ("01", ["01_lookup"]),
        ("lookup,9", ["01_lookup", "09_language_model"]),
        ("1-2", ["01_lookup", "02_scaling"]),
        ("02-09, 00", ["00_bottleneck", "02_scaling", "tokenizers", "09_language_model"]),
        ("bank", ["practice_bank"]),
    ],
)
def test_parses_lists_and_ranges_of_lessons(text, lessons):
    assert practice.lessons_in(text, LESSONS) == lessons


@pytest.mark.parametrize(
    ("text", "message"),
    [("02-01", "not a range"), ("00-01-02", "not a range"), ("77", "there is no lesson '77'"), ("glossary", "neither")],
)
def test_rejects_unknown_lessons_and_invalid_ranges(text, message):
    with pytest.raises(ValueError, match=message):
        practice.lessons_in(text, LESSONS)
