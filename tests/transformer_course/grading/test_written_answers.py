"""Written answers go out in a sheet, are marked by hand, and come back; no mark is ever lost."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.grading.class_report import write_report
from transformer_course.grading.settings import new_settings
from transformer_course.grading.student_records import Records
from transformer_course.grading.submissions import read_cells
from transformer_course.grading.written_answers import (
    CHANGED_NOTE,
    WrittenAnswer,
    read_marks,
    write_sheet,
    written_answer_of,
)
from transformer_course.jail.resource_limits import Limits

ADA = WrittenAnswer("01_lookup", "why", "ada", 'Because\n  it, says "so".')
BEN = WrittenAnswer("01_lookup", "why", "=ben", "=1+1")


def marked(out: Path, points: str, comment: str = "Good.") -> None:
    """Mark ada's answer as an instructor does in a spreadsheet."""
    table = pd.read_csv(out / "written_answers.csv", dtype=str, keep_default_na=False)
    table.loc[table["student"] == "ada", ["points", "comment"]] = [points, comment]
    table.to_csv(out / "written_answers.csv", index=False)


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ({"cell_type": "markdown", "id": "written-why", "source": ["a\n", "b"]}, ("why", "a\nb")),
        ({"cell_type": "markdown", "metadata": {"id": "written-why"}, "source": "a"}, ("why", "a")),
        (
            {
                "cell_type": "markdown",
                "source": "a",
                "metadata": {"nbgrader": {"grade": True, "solution": True, "grade_id": "q1"}},
            },
            ("q1", "a"),
        ),
        ({"cell_type": "markdown", "metadata": {"nbgrader": {"grade": False, "solution": True}}, "source": "a"}, None),
        ({"cell_type": "markdown", "id": 3, "metadata": {"nbgrader": 3}, "source": "a"}, None),
        ({"cell_type": "code", "id": "written-why", "source": "a"}, None),
    ],
)
def test_a_written_answer_is_known_by_its_cell(cell: dict[str, object], found: tuple[str, str] | None):
    assert written_answer_of(cell) == found


def test_a_notebook_is_read_with_its_written_answers():
    content = '{"nbformat": 4, "cells": [{"cell_type": "markdown", "id": "written-why", "source": "So."}]}'
    assert read_cells(content.encode()) == ([], {"why": "So."})


def test_marks_survive_and_a_changed_answer_is_noted(tmp_path: Path):
    (tmp_path / "rubric.csv").write_text("question,of,rubric\nwhy,3,One point for each reason.\n")
    write_sheet(tmp_path, [BEN, ADA])
    assert [(one.student, one.answer, one.of) for one in read_marks(tmp_path)] == [
        ("'=ben", "'=1+1", 3.0),
        ("ada", ADA.answer, 3.0),
    ]
    marked(tmp_path, "2.5")
    for answer, note in ((ADA.answer, ""), ("Another.", CHANGED_NOTE)):
        write_sheet(tmp_path, [BEN, replace(ADA, answer=answer)])
        ben, ada = read_marks(tmp_path)
        assert (ada.points, ada.comment, ada.answer, ada.note) == (2.5, "Good.", answer, note) and ben.points is None
    write_sheet(tmp_path, [BEN])
    assert [one.points for one in read_marks(tmp_path)] == [None, 2.5]
    text = (tmp_path / "written_answers.md").read_text("utf-8")
    assert "## 01_lookup: why\n\nRubric: One point for each reason." in text and "### ada (2.5 of 3)" in text


@pytest.mark.parametrize("points", ["4", "-1", "many", "inf"])
def test_points_that_there_are_not_are_named_by_their_line(tmp_path: Path, points: str):
    (tmp_path / "rubric.csv").write_text("question,of\nwhy,3\n")
    write_sheet(tmp_path, [replace(ADA, answer="So.")])
    marked(tmp_path, points)
    with pytest.raises(ValueError, match=rf"line 2: points must be a number between 0 and 3; got points='{points}'"):
        read_marks(tmp_path)


def test_marks_come_into_gradebook_and_feedback(tmp_path: Path):
    Records(tmp_path, {}).write("ada", [], [notebook(1, written={"why": ADA.answer})], {})
    for _ in range(2):
        write_report(tmp_path, new_settings(7, Limits(), {}))
    assert pd.read_csv(tmp_path / "gradebook.csv")["written"].isna().all()
    marked(tmp_path, "2", "Well said.")
    write_report(tmp_path, new_settings(7, Limits(), {}))
    assert pd.read_csv(tmp_path / "gradebook.csv").loc[0, "written"] == 2
    assert read_marks(tmp_path)[0].points == 2
    page = (tmp_path / "feedback" / "ada.html").read_text("utf-8")
    assert "01_lookup, why (2)" in page and "Well said." in page
