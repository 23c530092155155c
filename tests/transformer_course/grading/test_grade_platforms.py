"""Tests for grading and exporting a class in the formats of learning platforms."""

import csv
import io
import zipfile
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from tests.transformer_course.grading.canned_worker import CORE, rows
from tests.transformer_course.sandbox.sample_submissions import cells, write_notebook
from transformer_course.grading.grade import grade
from transformer_course.grading.reports.class_report import read_results
from transformer_course.grading.reports.exports import merge_into_moodle
from transformer_course.grading.reports.feedback_zips import moodle_feedback
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.late_policy import LatePolicy, parse_due
from transformer_course.grading.rules.settings import RunOptions


@pytest.mark.usefixtures("canned")
def test_zip_named_after_student_belongs_to_that_student(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.write(write_notebook(tmp_path / "x.ipynb", cells({}, others=["right"])), "alice/01_lookup.ipynb")
    (tmp_path / "roster.csv").write_text("id\nalice\neve\n")
    grade([tmp_path / "eve.zip"], tmp_path / "out", RuleChanges(roster=tmp_path / "roster.csv"))
    assert rows(tmp_path / "out") == {"alice": 0, "eve": CORE["01_lookup"]}


@pytest.mark.usefixtures("canned")
def test_moodle_students_with_same_name_both_get_points(tmp_path: Path):
    folder = "Anna Müller_{}_assignsubmission_file_"
    for number, source in (("900001", "right"), ("900002", "other")):
        path = tmp_path / "class" / folder.format(number) / "01_lookup.ipynb"
        write_notebook(path, cells({}, others=[source]))
    worksheet = tmp_path / "worksheet.csv"
    rows_of = [f"Participant 90000{n},Anna Müller,anna{n}@uni.edu,,\n" for n in (1, 2)]
    worksheet.write_text("Identifier,Full name,Email address,Grade,Feedback comments\n" + "".join(rows_of), "utf-8")
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(roster=worksheet))
    assert "submitted nothing" not in text and "not in the roster" not in text
    assert rows(tmp_path / "out") == {"Anna Müller (900001)": CORE["01_lookup"], "Anna Müller (900002)": 0}
    filled = merge_into_moodle(worksheet, read_results(tmp_path / "out"))
    grades = [row["Grade"] for row in csv.DictReader(io.StringIO(filled.content.decode(), newline=""))]
    assert grades == [str(CORE["01_lookup"]), "0"]


@pytest.mark.usefixtures("canned")
def test_canvas_gradebook_can_be_the_roster(tmp_path: Path):
    write_notebook(tmp_path / "class" / "lovelaceada_12345_678_01_lookup.ipynb", cells({}, others=["right"]))
    (tmp_path / "class" / "neilben_12346_679_01_lookup.html").write_text("<html>")
    write_notebook(tmp_path / "class" / "euler_12347_680_02_scaling.ipynb", cells({}, "02_scaling"))
    book = tmp_path / "canvas.csv"
    people = [("Lovelace, Ada", 12345), ("Neil, Ben", 12346), ("Euler, Leo", 12347), ("Gauss, Carl", 12348)]
    listed = [f'"{name}",{number},,,1,\n' for name, number in [*people, ("Student, Test", 99)]]
    titles = "Student,ID,SIS User ID,SIS Login ID,Section,Lab (1)\n    Points Possible,,,,,10\n"
    book.write_text(titles + "".join(listed))
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(roster=book, lessons=["01_lookup"]))
    table = pd.read_csv(tmp_path / "out" / "gradebook.csv", index_col="student", keep_default_na=False)
    assert dict(table["status"]) == {
        "Euler, Leo": "could not be graded",
        "Gauss, Carl": "nothing submitted",
        "Lovelace, Ada": "graded",
        "Neil, Ben": "could not be graded",
    }
    assert "1 student in the roster submitted nothing: Gauss, Carl." in text and set(table["of"]) == {CORE["01_lookup"]}
    assert "neilben_12346_679_01_lookup.html: This is not a notebook (.html)" in str(table.loc["Neil, Ben", "remarks"])


@pytest.mark.usefixtures("canned")
def test_moodle_lateness_follows_the_worksheet(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Instructors may pass the worksheet with --roster or with --worksheet."""
    for name, number in (("Ada", 11), ("Ben", 12), ("Cleo", 13)):
        path = tmp_path / "class" / f"{name}_{number}_assignsubmission_file_" / "01_lookup.ipynb"
        write_notebook(path, cells({}, others=[f"right {name}"]))
    worksheet, other = tmp_path / "Grades-Week 1.csv", tmp_path / "Grades-Week 2.csv"
    titles = "Identifier,Full name,Grade,Maximum Grade,Last modified (submission)\n"
    times = ["Monday, 12 October 2026, 5:00 PM", "Tuesday, 13 October 2026, 7:00 PM", "-"]
    lines = [f'Participant {11 + n},{["Ada", "Ben", "Cleo"][n]},,10,"{time}"\n' for n, time in enumerate(times)]
    worksheet.write_text(titles + "".join(lines))
    other.write_text((titles + "".join(lines)).replace("Participant 1", "Participant 7"))
    zone = ZoneInfo("Europe/Berlin")
    policy = LatePolicy(parse_due(["2026-10-12T18:00"], zone), penalty=10, zone=zone)
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(late_policy=policy))
    assert "Ada, Ben and Cleo (all files have the time of the download). Grade again with --worksheet" in text
    grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(worksheets=[other]))
    assert "Grades-Week 2.csv is for a different assignment" in caplog.text
    text = grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(worksheets=[worksheet]))
    assert "Grades-Week 1.csv: found the submission time of 2 of 3 students." in caplog.text
    assert "  Ben: 10 of 10 points and 2 bonus, 8 after lateness" in text.splitlines()
    assert "unknown: Cleo (Moodle's grading worksheet has no time for this submission)." in text
    table = pd.read_csv(tmp_path / "out" / "gradebook.csv", index_col="student")
    assert table.loc["Ben", "submitted"] == "01_lookup: 2026-10-13 19:00 (Moodle's grading worksheet)."
    assert list(table["points after lateness"]) == [10, 8, 10]
    as_roster = RuleChanges(late_policy=policy, roster=worksheet)
    assert "  Ben: 10 of 10 points and 2 bonus, 8 after lateness" in grade(
        [tmp_path / "class"], tmp_path / "second", as_roster
    )


@pytest.mark.usefixtures("canned")
def test_pdf_problem_appears_in_feedback_for_matching_week(tmp_path: Path):
    folder = "{}_{}_assignsubmission_file_"
    titles, weeks = "Identifier,Full name,Grade,Feedback comments\n", {}
    for week, lesson in enumerate(CORE, 1):
        weeks[week] = tmp_path / f"week {week}.csv"
        weeks[week].write_text(titles + "".join(f"Participant {week}{n},{name},,\n" for n, name in enumerate("ABC")))
        for n, name in enumerate("ABC" if week == 1 else "AB"):
            path = tmp_path / f"week {week}" / folder.format(name, f"{week}{n}") / f"{lesson}.ipynb"
            write_notebook(path, cells({}, lesson, others=[f"right {name}"]))
    pdf = tmp_path / "week 2" / folder.format("C", "22") / "homework.pdf"
    pdf.parent.mkdir()
    pdf.write_bytes(b"%PDF")
    grade([tmp_path / "week 1", tmp_path / "week 2"], tmp_path / "out", RuleChanges(roster=weeks[1]))
    results = read_results(tmp_path / "out")
    pages = {}
    for week, lesson in enumerate(CORE, 1):
        table = merge_into_moodle(weeks[week], results, lesson=lesson)
        content, n = moodle_feedback({**table.found, **table.not_graded}, lesson)
        assert n == 3 and len(table.found) == 4 - week
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            pages[week] = archive.read(f"C_{week}2_assignsubmission_file_/feedback.html").decode()
    assert "homework.pdf could not be graded" in pages[2] and "Not submitted" not in pages[2]
    assert "homework.pdf" not in pages[1]
    assert results.without_submission == {}
