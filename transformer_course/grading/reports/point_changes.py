"""List the points that have changed since a class's results were last written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transformer_course.grading.reports.student_results import ClassResults, ExerciseResult, StudentResult, plain_number


@dataclass(frozen=True)
class RecordedPoints:
    """A student's points when the results were last written.

    Args:
        points: The points that counted, keyed by exercise.
        grader_points: The grader's points, keyed by exercise, even if the instructor has overridden them.
        deductions: The late penalty, keyed by lesson.
    """

    points: Mapping[str, float] = field(default_factory=dict)
    grader_points: Mapping[str, float] = field(default_factory=dict)
    deductions: Mapping[str, float] = field(default_factory=dict)


def recorded_points(out: Path) -> dict[str, RecordedPoints]:
    """Return each student's points from ``results.json``, or an empty dict if it cannot be read."""
    try:
        students = json.loads((out / "results.json").read_text("utf-8"))["students"]
        found = {}
        for owner, student in students.items():
            lessons = student["lessons"]
            exercises = {name: stored for lesson in lessons.values() for name, stored in lesson["exercises"].items()}
            found[str(owner)] = RecordedPoints(
                {str(name): float(stored["points"]) for name, stored in exercises.items()},
                # Results from earlier versions lack the grader's points.
                {
                    exercise: float(stored["grader_points"])
                    for exercise, stored in exercises.items()
                    if "grader_points" in stored
                },
                {
                    str(lesson): _deduction(stored["points"], stored["points_after_lateness"])
                    for lesson, stored in lessons.items()
                },
            )
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def recorded_lessons(out: Path) -> list[str]:
    """Return the lessons that counted according to ``results.json``, or an empty list if it cannot be read."""
    try:
        return [str(lesson) for lesson in json.loads((out / "results.json").read_text("utf-8"))["lessons"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def point_changes(before: Mapping[str, RecordedPoints], results: ClassResults) -> list[str]:
    """Return a line for each student whose points changed in lessons that counted before."""
    lines = []
    for student in results.students:
        changed = list(_changes(before[student.name], student)) if student.name in before else []
        if changed:
            lines.append(f"{student.name}: {', '.join(changed)}")
    return lines


def _changes(before: RecordedPoints, student: StudentResult) -> Iterator[str]:
    now = {result.exercise.name: result for lesson in student.lessons.values() for result in lesson.exercises}
    for name, result in now.items():
        old, old_grader = before.points.get(name), before.grader_points.get(name)
        if old is not None and old != result.points:
            yield f"{name} {plain_number(old)} → {plain_number(result.points)}"
        if old_grader is not None and _is_by_hand(result) and old_grader != result.automatic_points:
            change = f"{plain_number(old_grader)} → {plain_number(result.automatic_points)}"
            unchanged = f"{name} {plain_number(result.points)} by hand as before, but the grader's points changed"
            yield f"{unchanged} {change}" if old == result.points else f"the grader's points for {name} {change}"
    for lesson in student.lessons.values():
        deduction = _deduction(lesson.points, lesson.points_after)
        if (old := before.deductions.get(lesson.lesson)) is not None and old != deduction:
            yield f"{lesson.lesson} late penalty {plain_number(old)} → {plain_number(deduction)}"
    for name, old in before.points.items():
        if old and name not in now:
            yield f"{name} {plain_number(old)} → not counted"


def _is_by_hand(result: ExerciseResult) -> bool:
    return result.override is not None and result.override.points is not None


def _deduction(points: float, after: float) -> float:
    return round(points - after, 2)
