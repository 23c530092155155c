"""Tests that exporting points to Canvas and Moodle tables changes nothing else in the tables."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import exercises_of
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.written_answers import WrittenAnswer
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.exports import merge_into_canvas, merge_into_moodle
from transformer_course.grading.reports.feedback import feedback_page
from transformer_course.grading.reports.student_results import ClassResults, max_points
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.overrides import Override

FIRST, SECOND, *_ = exercises_of("01_lookup")
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lookup (4711),Quiz (12),Final Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,10,5.00,(read only)\r\n"
    '"Lovelace, Ada",12345,a17,ada@uni.edu,"1, ""A""",,4.50,90\r\n'
    '"Li, Na",12346,b18,bli,1,7,,\r\n'
    '"O\'Neil, Ben",12347,,ben,1, ,0,\r\n'
    '"Student, Test",99,,,1,,,\r\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments\n"
    'Participant 98765,Ada Lovelace,ada@uni.edu,"Submitted, graded",,10,-,\n'
    "Participant 98766,Ben O'Neil,ben@uni.edu,No submission,3,10,-,old\n"
)


def class_of_three() -> ClassResults:
    return class_results(
        {
            "lovelaceada": [notebook(2, lms_id="12345", mistakes=("a_mistake",))],
            "bli": [notebook(1)],
            "oneilben": [notebook(0, problem="It is damaged.")],
            "eve": [notebook(1)],
        }
    )


def merged(folder: Path, text: str, results: ClassResults, **how: str) -> tuple[str, str]:
    (folder / "export.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    merge = merge_into_canvas if text.startswith(("\ufeffStudent", "Student")) else merge_into_moodle
    table = merge(folder / "export.csv", results, **how)
    return table.content.decode("utf-8", "surrogateescape"), table.messages


def test_canvas_export_changes_only_the_points_column(tmp_path: Path):
    text, report = merged(tmp_path, CANVAS, class_of_three(), column="Lookup")
    points, most = FIRST.points + SECOND.points, max_points(["01_lookup"])
    assert text == CANVAS.replace('""A""",,', f'""A""",{points},').replace(
        "bli,1,7,", f"bli,1,{FIRST.points},"
    ).replace("Points Possible,,,,,10,", f"Points Possible,,,,,{most},")
    assert report.splitlines() == [
        "The points are in the column “Lookup (4711)”.",
        "2 of 3 rows get points.",
        "  eve: no row matches this student.",
        "  oneilben: could not be graded; the cell is unchanged.",
        "Cells that contained different points (1):",
        f"  bli: 7 → {FIRST.points}",
    ]


def test_reports_changed_points_possible_in_canvas(tmp_path: Path):
    text, report = merged(tmp_path, CANVAS, class_of_three(), column="Quiz")
    assert "Its Points Possible change from 5.00 to 10." in report.splitlines() and ",,,,,10,10,(read only)" in text
    assert "Points Possible" not in merged(tmp_path, CANVAS, class_of_three(), column="Lookup")[1]


def test_canvas_export_adds_a_missing_column(tmp_path: Path):
    text, report = merged(tmp_path, CANVAS, class_of_three())
    summary = "The points are in the new column “Transformer Course”, next to “Lookup (4711)” and “Quiz (12)”.\n"
    assert report.startswith(summary)
    before, after = (list(csv.reader(io.StringIO(t.lstrip("\ufeff"), newline=""))) for t in (CANVAS, text))
    assert [row[:-1] for row in after] == before
    points = [str(FIRST.points + SECOND.points), str(FIRST.points)]
    assert [row[-1] for row in after] == ["Transformer Course", "", str(max_points(["01_lookup"])), *points, "", ""]
    old_lines, new_lines = CANVAS.split("\r\n"), text.split("\r\n")
    assert all(new.startswith(old) for old, new in zip(old_lines, new_lines, strict=True))


def test_moodle_export_contains_grades_and_feedback(tmp_path: Path):
    override = Override("ada@uni.edu", SECOND.name, 0.5, 'Nearly: "<b>" & more')
    people = [Person("x1", "Ada Lovelace", "ada@uni.edu"), Person("x2", "Ben O'Neil", "ben@uni.edu")]
    late = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=50)
    in_time = notebook(1, handed_in="2026-10-12T12:00:00+00:00", time_source="time of the file")
    results = class_results({"x1": [in_time]}, ClassRules(Roster(people), late, [override]))
    text, report = merged(tmp_path, MOODLE, results)
    header, ada, ben = csv.reader(io.StringIO(text, newline=""))
    assert text.splitlines()[2] == MOODLE.splitlines()[2] and header == MOODLE.splitlines()[0].split(",")
    assert float(ada[4]) == (FIRST.points + 0.5) / 2
    assert f"{SECOND.name}: not right yet (0.5 of {SECOND.points})" in ada[7] and "1 day late" in ada[7]
    assert "Nearly: &#34;&lt;b&gt;&#34; &amp; more" in ada[7]
    assert ben[4] == "3" and "nothing submitted; the cell is unchanged" in report


def test_moodle_feedback_labels_bonus_points(tmp_path: Path):
    bonus = next(e for e in exercises_of("01_lookup") if e.stretch)
    report = Verdict(bonus.name, "wrong", "Look at `x` & <i>, *twice*.\nMore.")
    book = replace(notebook(0), exercises=[GradedExercise(bonus, report, 0.1)])
    results = class_results({"98765": [book]})
    written = [WrittenAnswer("01_lookup", "why", "98765", "So.", 2.0, 3.0, "Well `said`.")]
    results = replace(results, students=[replace(results.students[0], written=written)])
    _, ada, _ = csv.reader(io.StringIO(merged(tmp_path, MOODLE, results)[0], newline=""))
    assert f"{bonus.name}: not right yet (bonus: 0 of {bonus.points})" in ada[7] and ada[4] == "2"
    assert (
        "Look at <code>x</code> &amp; &lt;i&gt;, <em>twice</em>." in ada[7] and "why (2 of 3). Well `said`." in ada[7]
    )


def test_canvas_maximum_includes_written_answers(tmp_path: Path):
    one = WrittenAnswer("01_lookup", "why", "ada", "So.", 2.0, 3.0)
    results = class_results({"ada": [notebook(99, written={"why": "So."})]}, ClassRules(marks={one.key: one}))
    text, report = merged(tmp_path, "Student,ID\nPoints Possible,\nada,1\n", results)
    most = max_points(["01_lookup"])
    assert text.splitlines()[1:] == [f"Points Possible,,{most + 3}", f"ada,1,{most + 2}"] and "possible" not in report


def test_reports_student_without_the_exported_lesson(tmp_path: Path):
    week_2 = notebook(1, lesson="02_scaling", file="02_scaling.ipynb")
    results = class_results({"ada": [notebook(1), week_2], "ben": [notebook(1)], "eve": [week_2]})
    text, report = merged(tmp_path, "Student,ID,Lab\nada,1,\nben,2,5\n", results, lesson="02_scaling", column="Lab")
    assert "  ben: nothing submitted for 02_scaling; the cell is unchanged." in report and "ben,2,5\n" in text


def test_exports_one_lesson_with_its_bonus(tmp_path: Path):
    results = class_results({"ada": [notebook(99), notebook(99, lesson="02_scaling", file="02_scaling.ipynb")]})
    text = "Student,ID\nada,1\n"
    bonus = sum(e.points for e in exercises_of("01_lookup") if e.stretch)
    assert merged(tmp_path, text, results)[0] == f"Student,ID,Transformer Course\nada,1,{results.max_points}\n"
    results = replace(results, rules=ClassRules(bonus=True))
    one, report = merged(tmp_path, text, results, lesson="01_lookup")
    most = max_points(["01_lookup"])
    assert one == f"Student,ID,Transformer Course\nada,1,{most + bonus}\n"
    assert f"Students above the {most} points possible: 1. Canvas allows this." in report
    with pytest.raises(
        ValueError, match="no student submitted '03_heads'; the submitted lessons are 01_lookup, 02_scaling"
    ):
        merged(tmp_path, text, results, lesson="03_heads")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Student,Name\n",
            "is not a gradebook from Canvas: the columns Student and ID are missing; its columns are “Student”, “Name”",
        ),
        ("Name,Points\n", "has no column for a grade; its columns are “Name”, “Points”"),
        ("", "is empty; it must have a row of column titles"),
        ('Student,"ID\n', "line 1: a quoted cell has no closing quotation mark"),
    ],
)
def test_rejects_a_different_table(tmp_path: Path, text: str, message: str):
    with pytest.raises(ValueError, match=message):
        merged(tmp_path, text, class_of_three())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_canvas_export_keeps_separator_encoding_and_decimal_comma(tmp_path: Path, separator: str, encoding: str):
    before = (
        "Student;ID;SIS Login ID;Section;Lookup (4711);Quiz, part 2 (12)\r\n"
        "    Points Possible;;;;10,00;5,00\r\n"
        "Lovelace, Zoë;12345;zoe;1;;4,50\r\n"
    ).replace(";", separator)
    (tmp_path / "export.csv").write_bytes(before.encode(encoding))
    override = Override("12345", FIRST.name, 0.5)
    results = class_results({"12345": [notebook(0, lms_id="12345")]}, ClassRules(overrides=[override]))
    table = merge_into_canvas(tmp_path / "export.csv", results, column="Lookup")
    after = before.replace("10,00", str(max_points(["01_lookup"]))).replace(
        "1;;".replace(";", separator), f"1{separator}0,5{separator}"
    )
    assert table.content == after.encode(encoding)
    assert table.messages == "The points are in the column “Lookup (4711)”.\n1 of 1 rows get points."


def test_moodle_feedback_describes_both_bugs(tmp_path: Path):
    message = (
        "Your code has two bugs.\n1. You divide by `n`.\n2. You sum over dim 0:\n    [[1, 2],\n     [3, 4]]\nFix one."
    )
    graded = GradedExercise(FIRST, Verdict(FIRST.name, "mistake", message, ("one", "two")), 0.1)
    results = class_results({"98765": [replace(notebook(0), exercises=[graded])]})
    _, ada, _ = csv.reader(io.StringIO(merged(tmp_path, MOODLE, results)[0], newline=""))
    assert (
        "Your code has two bugs.<br>1. You divide by <code>n</code>.<br>2. You sum over dim 0: "
        "<pre>[[1, 2],<br> [3, 4]]</pre> Fix one." in ada[7]
    )


def test_students_do_not_see_unknown_submission_times(tmp_path: Path):
    due = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=50)
    results = class_results({"98765": [notebook(1, time_source="it is in a clone")]}, ClassRules(late_policy=due))
    content, _ = merged(tmp_path, MOODLE, results)
    assert "unknown" not in content and "unknown" not in feedback_page(results.students[0])
    assert results.students[0].lessons["01_lookup"].lateness.message == "submission time unknown: it is in a clone"


def test_reports_different_maximum_in_moodle(tmp_path: Path):
    text = MOODLE.replace(",,10,", ",,100,").replace(",3,10,", ",3,100,")
    _, report = merged(tmp_path, text, class_results({"98765": [notebook(1)]}))
    most = max_points(["01_lookup"])
    assert f"Moodle's maximum grade is 100, but there are {most} points. Set the maximum grade" in report
