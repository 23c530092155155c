"""The points that changed since a class's results were last written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transformer_course.grading.reports.student_results import ClassResults, ExerciseResult, StudentResult, plain_number


@dataclass(frozen=True)
class RecordedPoints:
    """A student's points when the results were last written.

    Args:
        points: The points that counted, by exercise.
        grader_points: The grader's points, by exercise, whether they counted or not.
        deductions: The late penalty, by lesson.
    """

    points: Mapping[str, float] = field(default_factory=dict)
    grader_points: Mapping[str, float] = field(default_factory=dict)
    deductions: Mapping[str, float] = field(default_factory=dict)


def recorded_points(out: Path) -> dict[str, RecordedPoints]:
    """Return each student's points from ``results.json``, or nothing if it cannot be read."""
    try:
        students = json.loads((out / "results.json").read_text("utf-8"))["students"]
        found = {}
        for owner, student in students.items():
            lessons = student["lessons"]
            exercises = {name: one for lesson in lessons.values() for name, one in lesson["exercises"].items()}
            found[str(owner)] = RecordedPoints(
                {str(name): float(one["points"]) for name, one in exercises.items()},
                # Results of earlier versions lack the grader's points.
                {
                    exercise: float(one["grader_points"])
                    for exercise, one in exercises.items()
                    if "grader_points" in one
                },
                {
                    str(lesson): _deduction(one["points"], one["points_after_lateness"])
                    for lesson, one in lessons.items()
                },
            )
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def recorded_lessons(out: Path) -> list[str]:
    """Return the lessons that counted according to ``results.json``, or nothing if it cannot be read."""
    try:
        return [str(lesson) for lesson in json.loads((out / "results.json").read_text("utf-8"))["lessons"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def point_changes(before: Mapping[str, RecordedPoints], results: ClassResults) -> list[str]:
    """Return a line about each student whose points changed in lessons that counted before."""
    lines = []
    for student in results.students:
        changed = list(_changes(before[student.name], student)) if student.name in before else []
        if changed:
            lines.append(f"{student.name}: {', '.join(changed)}")
    return lines


def _changes(before: RecordedPoints, student: StudentResult) -> Iterator[str]:
    now = {one.exercise.name: one for lesson in student.lessons.values() for one in lesson.exercises}
    for name, one in now.items():
        had, of_grader = before.points.get(name), before.grader_points.get(name)
        if had is not None and had != one.points:
            yield f"{name} {plain_number(had)} → {plain_number(one.points)}"
        if of_grader is not None and _is_by_hand(one) and of_grader != one.automatic_points:
            yield (
                f"{name} {plain_number(one.points)} by hand as before, "
                f"the grader's points {plain_number(of_grader)} → {plain_number(one.automatic_points)}"
                if had == one.points
                else f"the grader's points for {name} {plain_number(of_grader)} → {plain_number(one.automatic_points)}"
            )
    for lesson in student.lessons.values():
        deduction = _deduction(lesson.points, lesson.points_after)
        if (had := before.deductions.get(lesson.lesson)) is not None and had != deduction:
            yield f"{lesson.lesson} lateness deduction {plain_number(had)} → {plain_number(deduction)}"
    for name, had in before.points.items():
        if had and name not in now:
            yield f"{name} {plain_number(had)} → not counted"


def _is_by_hand(one: ExerciseResult) -> bool:
    return one.override is not None and one.override.points is not None


def _deduction(points: float, after: float) -> float:
    return round(points - after, 2)
