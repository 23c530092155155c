"""Tests for collecting written answers in a table, and for reading and preserving the marks that instructors enter."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.grading.incoming.written_answers import (
    CHANGED_NOTE,
    WrittenAnswer,
    marked,
    read_marks,
    read_rubric,
    write_sheet,
    written_answer_of,
)
from transformer_course.grading.judging.student_records import Records
from transformer_course.grading.reports.class_report import write_report
from transformer_course.grading.rules.settings import new_settings
from transformer_course.sandbox.resource_limits import Limits

ADA = WrittenAnswer("01_lookup", "why", "ada", 'Because\n  it, says "so".')
BEN = WrittenAnswer("01_lookup", "why", "=ben", "=1+1")


def fill_in(out: Path, points: str, comment: str = "Good.") -> None:
    """Mark Ada's answer, as an instructor would in a spreadsheet."""
    table = pd.read_csv(out / "written_answers.csv", dtype=str, keep_default_na=False)
    table.loc[table["student"] == "ada", ["points", "comment"]] = [points, comment]
    table.to_csv(out / "written_answers.csv", index=False)


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ({"cell_type": "markdown", "id": "written-why", "source": ["a\n", "b"]}, ("why", "a\nb")),
        ({"cell_type": "markdown", "metadata": {"id": "written-why"}, "source": "a"}, ("why", "a")),
        ({"cell_type": "markdown", "metadata": {"tags": [3, "x", "written-why"]}, "source": "a"}, ("why", "a")),
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
def test_recognizes_written_answer_by_its_cell(cell: dict[str, object], found: tuple[str, str] | None):
    assert written_answer_of(cell) == found


def test_preserves_marks_and_reports_changed_answers(tmp_path: Path):
    (tmp_path / "rubric.csv").write_text("question,of,rubric\nwhy,3,One point for each reason.\n")
    write(tmp_path, [BEN, ADA])
    assert [(answer.student, answer.answer, answer.of) for answer in read_marks(tmp_path).values()] == [
        ("=ben", "=1+1", 3.0),
        ("ada", ADA.answer, 3.0),
    ]
    assert '"\'=ben","\'=1+1"' in (tmp_path / "written_answers.csv").read_text("utf-8")
    fill_in(tmp_path, "2.5")
    for answer, note in ((ADA.answer, ""), ("Another.", CHANGED_NOTE)):
        write(tmp_path, [BEN, replace(ADA, answer=answer)])
        ben, ada = read_marks(tmp_path).values()
        assert (ada.points, ada.comment, ada.answer, ada.note) == (2.5, "Good.", answer, note) and ben.points is None
    write(tmp_path, [BEN])
    assert [answer.points for answer in read_marks(tmp_path).values()] == [None, 2.5]


def write(out: Path, answers: list[WrittenAnswer]) -> None:
    """Write the table of written answers as the grader does."""
    marks = read_marks(out)
    write_sheet(out, [marked(answer, marks, read_rubric(out)) for answer in answers], marks)


@pytest.mark.parametrize("points", ["4", "-1", "many", "inf"])
def test_reports_invalid_points_by_line(tmp_path: Path, points: str):
    (tmp_path / "rubric.csv").write_text("question,of\nwhy,3\n")
    write(tmp_path, [replace(ADA, answer="So.")])
    fill_in(tmp_path, points)
    with pytest.raises(ValueError, match=rf"line 2: points must be a number between 0 and 3; got points='{points}'"):
        read_marks(tmp_path)


def test_changed_rubric_maximum_applies_to_marking_sheet(tmp_path: Path):
    for maximum in (3, 5, 4):  # the last maximum is lower than points that were entered under the second maximum
        (tmp_path / "rubric.csv").write_text(f"question,of\nwhy,{maximum}\n")
        if maximum == 4:
            with pytest.raises(ValueError, match=r"points must be a number between 0 and 4; got points='5'"):
                read_marks(tmp_path)
            continue
        write(tmp_path, [ADA])
        assert [answer.of for answer in read_marks(tmp_path).values()] == [maximum]
        fill_in(tmp_path, str(maximum))
        assert [answer.points for answer in read_marks(tmp_path).values()] == [maximum]


def test_written_answer_points_reach_gradebook_and_feedback(tmp_path: Path):
    Records(tmp_path, {}).write("ada", [], [notebook(1, written={"why": ADA.answer})], {})
    for _ in range(2):
        write_report(tmp_path, new_settings(7, Limits(), {}))
    assert pd.read_csv(tmp_path / "gradebook.csv")["written"].isna().all()
    fill_in(tmp_path, "2", "Well said.")
    write_report(tmp_path, new_settings(7, Limits(), {}))
    assert pd.read_csv(tmp_path / "gradebook.csv").loc[0, "written"] == 2
    assert [answer.points for answer in read_marks(tmp_path).values()] == [2]
    page = (tmp_path / "feedback" / "ada.html").read_text("utf-8")
    assert "01_lookup, why (2)" in page and "Well said." in page and "it, says &#34;so&#34;." in page


@pytest.mark.parametrize("question", ["why", "written-why"])
def test_rubric_accepts_question_names_with_or_without_prefix(tmp_path: Path, question: str):
    (tmp_path / "rubric.csv").write_text(f"question,of,rubric\n{question},3,One point for each reason.\n")
    [(name, criteria)] = read_rubric(tmp_path).items()
    assert (name, criteria.of) == ("why", 3)


def test_shows_rubric_next_to_answers(tmp_path: Path):
    (tmp_path / "rubric.csv").write_text("question,of,rubric\nwhy,3,One point for each <reason>.\n")
    Records(tmp_path, {}).write("ada", [], [notebook(1, written={"why": "# Not a heading\n=1+1"})], {})
    write_report(tmp_path, new_settings(7, Limits(), {}))
    [ada] = read_marks(tmp_path).values()
    assert ada.of == 3
    text = (tmp_path / "written_answers.html").read_text("utf-8")
    assert "One point for each &lt;reason&gt;." in text and "<h3>ada (not marked yet, maximum 3)</h3>" in text
    assert '<pre class="own"># Not a heading\n=1+1</pre>' in text and "1 of 1 answers have no points yet." in text
    fill_in(tmp_path, "2")
    write_report(tmp_path, new_settings(7, Limits(), {}))
    page = (tmp_path / "feedback" / "ada.html").read_text("utf-8")
    assert "why (2 of 3)" in page and "Criteria: One point" in page


@pytest.mark.parametrize(
    "name", ['written-=HYPERLINK("x")', "written-a\n### ada (10 of 10)", "written-\x1b[2J", "written-"]
)
def test_question_names_are_safe_in_tables_and_pages(name: str):
    question, answer = written_answer_of({"cell_type": "markdown", "id": name, "source": "a\rb\x1b"}) or ("", "")
    assert re.fullmatch(r"\w[\w .-]*", question) and answer == "a\nb\N{REPLACEMENT CHARACTER}"
