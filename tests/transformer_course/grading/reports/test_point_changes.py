"""Tests for listing changes in points since the previous run."""

import json
from datetime import UTC, datetime
from pathlib import Path

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.exercises import exercises_of
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.gradebook import write_gradebook
from transformer_course.grading.reports.point_changes import RecordedPoints, point_changes, recorded_points
from transformer_course.grading.reports.student_results import ClassResults
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.overrides import Override

FIRST = exercises_of("01_lookup")[0]
DUE = datetime(2026, 10, 12, tzinfo=UTC)


def changes(out: Path, before: ClassResults, now: ClassResults) -> list[str]:
    write_gradebook(out, before, {})
    recorded = recorded_points(out)
    assert point_changes(recorded, before) == []
    return point_changes(recorded, now)


def test_omits_new_lessons():
    week_1 = notebook(1)
    before = {"ada": RecordedPoints({FIRST.name: FIRST.points + 1.0})}
    week_2 = notebook(2, lesson="02_scaling", file="02_scaling.ipynb")
    assert point_changes(before, class_results({"ada": [week_1, week_2]})) == [
        f"ada: {FIRST.name} {FIRST.points + 1:g} → {FIRST.points:g}"
    ]


def test_lists_lateness_for_each_lesson_separately(tmp_path: Path):
    late = {"handed_in": "2026-10-12T09:00:00+00:00", "time_source": "time of the file"}
    books = [notebook(1, **late), notebook(1, "02_scaling.ipynb", "02_scaling", **late)]
    first, second = (exercises_of(lesson)[0].points for lesson in ("01_lookup", "02_scaling"))
    before = class_results({"ada": books}, ClassRules(late_policy=LatePolicy({"01_lookup": DUE}, 10)))
    now = class_results({"ada": books}, ClassRules(late_policy=LatePolicy({"02_scaling": DUE}, 10)))
    assert changes(tmp_path, before, now) == [
        f"ada: 01_lookup late penalty {first / 10:g} → 0, 02_scaling late penalty 0 → {second / 10:g}"
    ]


def test_lists_resubmission_despite_override(tmp_path: Path):
    """A resubmission does not change overridden points, but the instructor may want to remove the override."""
    rules = ClassRules(overrides=[Override("ada", FIRST.name, 0.5)])
    before, now = (class_results({"ada": [notebook(passed)]}, rules) for passed in (0, 1))
    assert changes(tmp_path, before, now) == [
        f"ada: {FIRST.name} 0.5 by hand as before, but the grader's points changed 0 → {FIRST.points}"
    ]
    other = class_results({"ada": [notebook(1)]}, ClassRules(overrides=[Override("ada", FIRST.name, 1.0)]))
    assert changes(tmp_path, before, other) == [
        f"ada: {FIRST.name} 0.5 → 1, the grader's points for {FIRST.name} 0 → {FIRST.points}"
    ]


def test_reads_results_without_points_from_grader(tmp_path: Path):
    write_gradebook(tmp_path, class_results({"ada": [notebook(1)]}), {})
    stored = json.loads((tmp_path / "results.json").read_text("utf-8"))
    for exercise in stored["students"]["ada"]["lessons"]["01_lookup"]["exercises"].values():
        del exercise["grader_points"]
    (tmp_path / "results.json").write_text(json.dumps(stored))
    assert recorded_points(tmp_path)["ada"].points[FIRST.name] == FIRST.points
    assert recorded_points(tmp_path)["ada"].grader_points == {}
    (tmp_path / "results.json").write_text('{"students": [')
    assert recorded_points(tmp_path) == {}
