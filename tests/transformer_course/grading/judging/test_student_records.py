"""Tests for storing each student's results on disk and reading them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.student_records import Records, as_dict, read_records
from transformer_course.sandbox.exit_reasons import explain_exit
from transformer_course.sandbox.resource_limits import Limits

SUBMISSION = Submission("ada", Path("class", "ada", "01_lookup.ipynb"), "01_lookup", digest="5e")
VERDICT = Verdict("softmax", "mistake", "Two rows\n    0.5", ("first_axis", "no_sum"), ("Look.", "Look again."))
GRADED = GradedSubmission(
    SUBMISSION, [GradedExercise(every_exercise()["softmax"], VERDICT, 0.25)], "full", ["A note."], frozenset({3, 5})
)
BROKEN = GradedSubmission(Submission("ada", Path("x.ipynb"), problem="It is damaged."), [])
SETTINGS = {"seed": 7, "limits": [10.0, 2048]}
GUARDS = {"landlock": 7}


def records(out: Path, **settings: object) -> Records:
    return Records(out, {**SETTINGS, **settings})


def test_describes_changed_settings_in_words(tmp_path: Path):
    records(tmp_path, own={"week_3": "5e" * 32}).write("ada", [SUBMISSION], [GRADED], GUARDS)
    changed = records(tmp_path, limits=[2.5, 512], torch="2.13").changed_settings("ada", [SUBMISSION])
    assert changed.split("; ") == [
        "limits: 2.5 s and 512 MB now, 10 s and 2048 MB last time",
        "torch: 2.13 now, none last time",
        "your own exercises: none now, week_3 (5e5e5e5e) last time",
    ]
    assert records(tmp_path, own={"week_3": "5e" * 32}).changed_settings("ada", [SUBMISSION]) == ""
    assert records(tmp_path).changed_settings("ben", [SUBMISSION]) == ""


def test_student_records_round_trip(tmp_path: Path):
    records(tmp_path).write("ada", [SUBMISSION], [GRADED, BROKEN], GUARDS)
    records(tmp_path).write("Zoë/..", [], [], GUARDS)
    stored = read_records(tmp_path)
    assert list(stored) == ["Zoë/..", "ada"] and stored["Zoë/.."] == []
    assert [as_dict(notebook) for notebook in stored["ada"]] == [as_dict(GRADED), as_dict(BROKEN)]
    assert stored["ada"][0].fingerprint == {3, 5}
    [result] = stored["ada"][0].exercises
    assert (result.verdict.mistakes, result.verdict.hints, result.seconds) == (VERDICT.mistakes, VERDICT.hints, 0.25)
    assert result.verdict.message == VERDICT.message and result.exercise is every_exercise()["softmax"]
    assert {path.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "students"}


def test_any_relevant_change_triggers_regrading(tmp_path: Path):
    records(tmp_path).write("ada", [SUBMISSION], [GRADED], GUARDS)
    assert records(tmp_path).not_yet_graded("ada", [SUBMISSION]) == []
    elsewhere = replace(SUBMISSION, path=Path("elsewhere", "01_lookup.ipynb"))
    changed, other = replace(SUBMISSION, digest="5f"), replace(SUBMISSION, lesson="02_scaling")
    assert records(tmp_path).not_yet_graded("ada", [elsewhere]) == []
    assert records(tmp_path).not_yet_graded("ben", [SUBMISSION]) == [SUBMISSION]
    assert records(tmp_path).not_yet_graded("ada", [changed]) == [changed]
    assert records(tmp_path).not_yet_graded("ada", [SUBMISSION, other]) == [other]
    assert records(tmp_path, seed=8).not_yet_graded("ada", [SUBMISSION]) == [SUBMISSION]


@pytest.mark.parametrize("reason", ["SIGKILL", "busy", "SIGSEGV"])
def test_regrades_answer_killed_from_outside(tmp_path: Path, reason: str):
    crashed = Verdict("softmax", "crashed", explain_exit(reason, Limits(seconds=3.0)))
    ended = replace(GRADED, exercises=[replace(GRADED.exercises[0], verdict=crashed)])
    records(tmp_path).write("ada", [SUBMISSION], [ended], GUARDS)
    assert records(tmp_path).not_yet_graded("ada", [SUBMISSION]) == ([] if reason == "SIGSEGV" else [SUBMISSION])


def test_grades_answer_that_kills_itself_three_times(tmp_path: Path):
    crashed = Verdict("softmax", "crashed", explain_exit("SIGKILL", Limits()))
    ended = replace(GRADED, exercises=[replace(GRADED.exercises[0], verdict=crashed)])
    runs = 0
    while records(tmp_path).not_yet_graded("ada", [SUBMISSION]):
        records(tmp_path).write("ada", [SUBMISSION], [ended], GUARDS)
        runs += 1
    assert runs == 3
    records(tmp_path).forget_all()
    assert records(tmp_path).not_yet_graded("ada", [SUBMISSION]) == [SUBMISSION]


def test_similar_names_have_separate_files(tmp_path: Path):
    for name in ("a/b", "a b", "a_b"):
        records(tmp_path).write(name, [], [], GUARDS)
    assert set(read_records(tmp_path)) == {"a/b", "a b", "a_b"}


def test_ignores_corrupted_and_outdated_records(tmp_path: Path):
    records(tmp_path).write("ada", [SUBMISSION], [GRADED], GUARDS)
    [path] = (tmp_path / "students").iterdir()
    whole = path.read_text("utf-8")
    for text in ("", whole[:-20], "[]", "{}", whole.replace('"softmax"', '"an exercise of another edition"')):
        path.write_text(text, "utf-8")
        with pytest.warns(UserWarning, match="ada.* is corrupted or from an older version"):
            assert read_records(tmp_path) == {}, text
        assert records(tmp_path).not_yet_graded("ada", [SUBMISSION]) == [SUBMISSION]
    path.write_text(whole, "utf-8")
    assert json.loads(whole)["student"] == "ada" and list(read_records(tmp_path)) == ["ada"]


def test_grading_second_lesson_preserves_first_record(tmp_path: Path):
    records(tmp_path).write("ada", [SUBMISSION], [GRADED], GUARDS)
    second = replace(SUBMISSION, lesson="02_scaling", digest="02")
    records(tmp_path).write("ada", [second], [GradedSubmission(second, [])], GUARDS)
    assert [notebook.submission.lesson for notebook in read_records(tmp_path)["ada"]] == ["01_lookup", "02_scaling"]
    assert records(tmp_path).not_yet_graded("ada", [SUBMISSION, second]) == []


def test_keeps_all_attempts_until_one_is_selected(tmp_path: Path):
    again = replace(SUBMISSION, digest="5f")
    for submission in (SUBMISSION, again):
        records(tmp_path).write("ada", [submission], [replace(GRADED, submission=submission)], GUARDS)
    assert [notebook.submission.digest for notebook in read_records(tmp_path)["ada"]] == ["5e", "5f"]
    records(tmp_path).keep_only("ada", [again])
    assert [notebook.submission.digest for notebook in read_records(tmp_path)["ada"]] == ["5f"]


def test_drops_attempt_when_same_notebook_improves(tmp_path: Path):
    passed = replace(GRADED, exercises=[replace(GRADED.exercises[0], verdict=Verdict("softmax", "passed", ""))])
    records(tmp_path).write("ada", [SUBMISSION], [GRADED], GUARDS)
    records(tmp_path, torch="3").write("ada", [SUBMISSION], [passed], GUARDS)
    assert [notebook.points for notebook in read_records(tmp_path)["ada"]] == [2]
    records(tmp_path, torch="4").write("ada", [SUBMISSION], [GRADED], GUARDS)
    assert [notebook.points for notebook in read_records(tmp_path)["ada"]] == [2, 0]


def test_later_copy_keeps_the_earlier_time(tmp_path: Path):
    early, late = (replace(SUBMISSION, handed_in=f"2026-10-{day}T09:00:00+00:00") for day in (12, 20))
    records(tmp_path).write("ada", [early], [replace(GRADED, submission=early)], GUARDS)
    records(tmp_path).update_times("ada", [late])
    assert read_records(tmp_path)["ada"][0].submission.handed_in == early.handed_in
    records(tmp_path).update_times("ada", [late], allow_later=True)
    assert read_records(tmp_path)["ada"][0].submission.handed_in == late.handed_in


def test_ignores_a_record_with_another_students_name(tmp_path: Path):
    records(tmp_path).write("ada", [SUBMISSION], [GRADED], GUARDS)
    [path] = (tmp_path / "students").iterdir()
    path.write_text(path.read_text("utf-8").replace('"student": "ada"', '"student": "eve"'), "utf-8")
    with pytest.warns(UserWarning, match="is corrupted"):
        assert read_records(tmp_path) == {}


def test_deletes_discarded_records(tmp_path: Path):
    records(tmp_path).write("ada", [SUBMISSION], [GRADED], GUARDS)
    records(tmp_path).forget_all()
    assert read_records(tmp_path) == {}
