import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import jsonschema  # type: ignore[import-untyped]
import pandas as pd
import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import exercises_of
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.tables import read_table
from transformer_course.grading.judging.graded_results import GradedSubmission
from transformer_course.grading.reports import gradebook
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.overrides import Override
from transformer_course.grading.rules.settings import new_settings
from transformer_course.sandbox.exit_reasons import explain_exit
from transformer_course.sandbox.resource_limits import Limits


def table_of(students: Mapping[str, Sequence[GradedSubmission]], rules: ClassRules | None = None) -> pd.DataFrame:
    results = class_results(students, rules)
    return pd.DataFrame([gradebook.gradebook_row(student, results) for student in results.students])


def test_gradebook_contains_points_per_exercise_and_totals():
    table = table_of({"ben": [], "ada": [notebook(2)]}).set_index("student")
    first, second, *others = exercises_of("01_lookup")
    assert list(table.index) == ["ada", "ben"]
    assert table.loc["ada", f"01_lookup: {first.name}"] == first.points
    assert table.loc["ada", "points"] == first.points + second.points
    assert all(table.loc["ada", f"01_lookup: {e.name}{' (bonus)' if e.stretch else ''}"] == 0 for e in others)
    assert any(e.stretch for e in others)
    assert table.loc["ben", "points"] == 0
    assert set(table["of"]) == {sum(e.points for e in exercises_of("01_lookup") if not e.stretch)}


def test_gradebook_contains_submission_times_and_sources():
    known = notebook(1, handed_in="2026-07-12T15:58:23+00:00", time_source="time in the zip")
    unknown = notebook(1, time_source="timestamp.txt is empty")
    rules = ClassRules(late_policy=LatePolicy(zone=ZoneInfo("America/New_York")))
    table = table_of({"ada": [known], "ben": [unknown], "eve": []}, rules)
    due = replace(rules, late_policy=LatePolicy({"": datetime(2026, 7, 1, tzinfo=UTC)}))
    assert list(table_of({"ada": [known], "ben": [unknown]}, due)["late"]) == [
        "01_lookup: 12 days late (time in the zip).",
        "",
    ]
    assert list(table["submitted"]) == [
        "01_lookup: 2026-07-12 11:58 (time in the zip).",
        "01_lookup: unknown (timestamp.txt is empty).",
        "",
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_escapes_cells_that_start_like_formulas(tmp_path: Path, name: str):
    written_results(tmp_path, {name: [notebook(0, file=f"{name}.ipynb", problem="It is\x1b damaged.\r")]})
    [row] = csv.DictReader(io.StringIO((tmp_path / "gradebook.csv").read_bytes().decode(), newline=""))
    assert row["student"] == f"'{name}"
    assert row["remarks"] == f"'{name}.ipynb: It is\N{REPLACEMENT CHARACTER} damaged."
    [read] = read_table(tmp_path / "gradebook.csv")
    assert read["student"] == name


def written_results(out: Path, students: dict[str, list[GradedSubmission]]) -> dict[str, Any]:
    settings = new_settings(7, Limits(seconds=3.0), {"landlock": 5})
    gradebook.write_gradebook(out, class_results(students), settings)
    text: dict[str, Any] = json.loads((out / "results.json").read_text("utf-8"))
    return text


def test_results_match_their_json_schema(tmp_path: Path):
    schema = json.loads((Path(__file__).parents[4] / "docs" / "results.schema.json").read_text("utf-8"))
    in_words = notebook(2, mistakes=("first_axis",), written={"why": "Because."})
    students = {"ada": [in_words, notebook(0, problem="It is damaged.")], "ben": []}
    text = written_results(tmp_path, students)
    text["alike"] = [{"lesson": "01_lookup", "students": ["ada", "ben"], "similarity": 0.9}]
    jsonschema.validate(text, schema)
    del text["students"]["ada"]["notebooks"][0]["exercises"][0]["status"]
    with pytest.raises(jsonschema.ValidationError, match="'status' is a required property"):
        jsonschema.validate(text, schema)


def test_identity_and_lateness_have_separate_columns():
    rules = ClassRules(
        Roster([Person("1", "Ada Lovelace", "ada@uni.edu", "al"), Person("2", "=Ben")]),
        LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=50),
        [Override("1", "softmax", None, "=Nice.")],
    )
    late = notebook(2, handed_in="2026-10-12T12:00:00+00:00", time_source="time of the file")
    table = table_of({"al": [late]}, rules).set_index("student")
    ada, ben = table.loc["Ada Lovelace"], table.loc["=Ben"]
    assert tuple(ada[["id", "name", "email", "login"]]) == ("1", "Ada Lovelace", "ada@uni.edu", "al")
    assert ada["points after lateness"] == ada["points"] / 2 > 0
    assert ada["late"] == "01_lookup: 1 day late (time of the file)."
    assert (ada["status"], ada["isolation"], ada["notebooks"]) == ("graded", "full", f"01_lookup:{'5e' * 32}")
    assert ada["comment"] == "softmax: =Nice." and ben["status"] == "nothing submitted" and ben["late"] == ""


def test_results_describe_each_exercise(tmp_path: Path):
    text = written_results(tmp_path / "new", {"ada": [notebook(1)]})
    assert (text["seed"], text["limits"]["seconds"], text["guards"]) == (7, 3.0, {"landlock": 5})
    first, second = text["students"]["ada"]["notebooks"][0]["exercises"][:2]
    points = exercises_of("01_lookup")[0].points
    assert (first["status"], first["points"], first["of"]) == ("passed", points, points)
    assert (second["status"], second["points"]) == ("wrong", 0)


def test_writes_unprintable_names_safely(tmp_path: Path):
    students = {"ada": [notebook(0, file="\udcff\x1b[31m.ipynb", problem="It is damaged.")]}
    text = written_results(tmp_path, students)
    assert text["students"]["ada"]["notebooks"][0]["notebook"].endswith("?_[31m.ipynb")
    assert "?_[31m.ipynb: It is damaged." in pd.read_csv(tmp_path / "gradebook.csv").loc[0, "remarks"]
    assert (
        "\x1b" not in gradebook.summary(tmp_path, class_results(students))
        and gradebook.summary(tmp_path, class_results(students)).encode()
    )


def test_file_contains_the_rows_unchanged(tmp_path: Path):
    text = 'ada, "the first"\nline'
    written_results(tmp_path, {text: [notebook(2)], "ben": []})
    table = pd.read_csv(tmp_path / "gradebook.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(table, table_of({text: [notebook(2)], "ben": []}))


def test_summary_counts_and_lists_ungraded_submissions():
    students = {"ada": [notebook(2), notebook(0, file="x.ipynb", problem="It is damaged.")], "ben": [notebook(0)]}
    first, *others = gradebook.summary(Path("out"), class_results(students)).splitlines()
    assert first == "Graded 2 notebooks from 2 students: 01_lookup (2)."
    assert f"  {Path('folder', 'x.ipynb')}: It is damaged." in others
    ungraded = {"ada": [notebook(0)], "ben": [notebook(0, problem="It is damaged.")]}
    assert gradebook.summary(Path("out"), class_results(ungraded)).startswith("Graded 1 notebook from 1 student:")


def test_summary_reports_points_after_lateness():
    policy = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=50)
    late = notebook(99, handed_in="2026-10-12T12:00:00+00:00", time_source="time of the file")
    text = gradebook.summary(Path("out"), class_results({"ada": [late]}, ClassRules(late_policy=policy)))
    assert "  ada: 10 of 10 points and 2 bonus, 5 after lateness" in text.splitlines()
    assert "lateness" not in gradebook.summary(Path("out"), class_results({"ada": [late]}))


@pytest.mark.parametrize(
    ("reason", "message"),
    [("SIGKILL", "was killed"), ("supervisor", "was killed"), ("busy", "got too little CPU time")],
)
def test_summary_reports_answers_killed_from_outside(reason: str, message: str):
    graded = notebook(1)
    killed = Verdict(graded.exercises[2].exercise.name, "crashed", explain_exit(reason, Limits(seconds=3)))
    exercises = [*graded.exercises[:2], replace(graded.exercises[2], verdict=killed), *graded.exercises[3:]]
    text = gradebook.summary(Path("out"), class_results({"ada": [replace(graded, exercises=exercises)]}))
    assert f"ada: 01_lookup: {killed.exercise} could not be judged: it {message}" in text and text.count(message) == 1


def test_summary_for_large_class_lists_no_students():
    students = {f"student {number}": [notebook(0)] for number in range(21)}
    assert len(gradebook.summary(Path("out"), class_results(students)).splitlines()) == 2


def test_summary_lists_missing_submissions_by_lesson():
    people = [Person(name) for name in ("ada", "ben", "cleo", "dan")]
    week_2 = notebook(2, lesson="02_scaling", file="02_scaling.ipynb")
    broken = notebook(0, lesson="02_scaling", file="02_scaling.ipynb", problem="It is damaged.")
    by_hand = Override("dan", exercises_of("02_scaling")[0].name, 1.0)
    students = {"ada": [notebook(1), week_2], "ben": [notebook(1)], "dan": [notebook(1)]}
    students["eve"] = [notebook(1), week_2]
    text = gradebook.summary(Path("out"), class_results(students, ClassRules(Roster(people), overrides=[by_hand])))
    assert [line for line in text.splitlines() if "nothing" in line] == [
        "  1 student in the roster submitted nothing: cleo.",
        "  1 student in the roster submitted nothing for 02_scaling: ben.",
    ]
    students["ben"].append(broken)
    students["cleo"] = students["ada"]
    text = gradebook.summary(Path("out"), class_results(students, ClassRules(Roster(people), overrides=[by_hand])))
    assert "nothing" not in text
    assert "nothing" not in gradebook.summary(
        Path("out"), class_results(students)
    )  # without a roster, no student is missing
