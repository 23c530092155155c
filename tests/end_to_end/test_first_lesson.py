"""A learner opens lesson 01 in a real browser, makes a mistake, mends it, moves on, and is graded."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.end_to_end.browser import Notebook, find_browser, open_notebook, running_lab
from transformer_course.exercises import every_exercise

COMMAND = [sys.executable, "-m", "transformer_lab.cli"]

BROWSER = find_browser()

NAME = "01_lookup.ipynb"

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed, so no lesson can be opened in one"),
    pytest.mark.slow,
    pytest.mark.thorough,  # each run opens, answers and saves the lesson in test_home.py
]


def test_a_learner_is_told_of_a_mistake_mends_it_and_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, home, out = tmp_path / "lessons", tmp_path / "home", tmp_path / "graded"
    home.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    softmax, soft_lookup = every_exercise()["softmax"], every_exercise()["soft_lookup"]
    mistake = next(mistake for mistake in softmax.mistakes if mistake.name == "first_axis")
    wrong = "def softmax(scores):\n    return torch.softmax(scores, dim=0)\n"
    assert BROWSER is not None

    with running_lab([*COMMAND, "lab", "--no-browser"], tmp_path, home) as address:
        assert outputs(lessons / NAME) == [], "what a lesson shows is not given away before it is run"
        with open_notebook(address, NAME, BROWSER) as book:
            book.run_all()
            assert "Not started yet." in answer(book, "softmax")

            book.rewrite(book.cell_with("def softmax("), wrong)
            book.run(book.cell_with("check(softmax)"))
            assert "softmax: a known mistake" in answer(book, "softmax")
            assert squeeze(mistake.says) in squeeze(answer(book, "softmax"))

            for exercise in (softmax, soft_lookup):
                book.rewrite(book.cell_with(f"def {exercise.name}("), exercise.solution)
                book.run(book.cell_with(f"check({exercise.name})"))
                assert f"{exercise.name}: passed" in answer(book, exercise.name)
            book.save()

    kept = (lessons / "parts" / "01_lookup.py").read_text(encoding="utf-8")
    assert softmax.solution in kept and soft_lookup.solution in kept
    subprocess.run([*COMMAND, "grade", str(lessons / NAME), "-o", str(out)], check=True)
    gradebook = pd.read_csv(out / "gradebook.csv")
    assert gradebook["points"].tolist() == [softmax.points + soft_lookup.points]


def answer(book: Notebook, exercise: str) -> str:
    """Read what the check of an exercise shows."""
    return book.cell_with(f"check({exercise})").locator(".jp-OutputArea-output").inner_text()


def squeeze(text: str) -> str:
    """Drop what differs between text and its picture on a page: line breaks, and the marks of code."""
    return " ".join(text.replace("`", "").split())


def outputs(notebook: Path) -> list[object]:
    return [output for cell in json.loads(notebook.read_text())["cells"] for output in cell.get("outputs", [])]
