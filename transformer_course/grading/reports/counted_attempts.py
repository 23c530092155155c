"""Decide which lessons count for a class, and which attempt at a lesson counts for a student."""

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from transformer_course.checking.formatting import join_words
from transformer_course.exercises import every_lesson, exercises_of
from transformer_course.grading.judging.graded_results import Attempt, GradedSubmission
from transformer_course.grading.reports.student_results import (
    ExerciseResult,
    LessonResult,
    plain_number,
)
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import Lateness
from transformer_course.grading.rules.overrides import Override

EARLIEST = datetime.min.replace(tzinfo=UTC)
MIN_SUBMITTED_FRACTION = 0.2
"""A lesson counts for the class if this fraction of the students who submitted anything submitted it.

In a small class, this may be one student, who may have submitted the wrong file. So a lesson of a single student counts
only if no lesson has more.
"""


def lesson_result(
    lesson: str,
    notebooks: Sequence[GradedSubmission],
    rules: ClassRules,
    overrides: Mapping[str, Override],
    extensions: Mapping[str, datetime],
) -> LessonResult:
    """Return a lesson with the attempt that counts: the latest one that does not lower any points.

    The choice among several notebooks in an attempt does not depend on verdicts; otherwise, a student could guess fifty
    times by submitting fifty notebooks.
    """

    def result(notebook: GradedSubmission | None, attempt: Sequence[GradedSubmission]) -> LessonResult:
        graded = {one.exercise.name: one for one in notebook.exercises} if notebook else {}
        exercises = [
            ExerciseResult(e, graded.get(e.name), overrides.get(e.name), rules.partial_credit)
            for e in exercises_of(lesson)
        ]
        lateness = rules.late_policy.lateness(notebook.submission, extensions) if notebook else Lateness()
        lesson_result = LessonResult(lesson, notebook, exercises, lateness, 0.0, attempt)
        return replace(lesson_result, points_after=rules.late_policy.points_after(lesson_result.points, lateness))

    def rank(displayed: LessonResult) -> tuple[float, float, datetime, bool, str]:
        """Return the sort key of a notebook: possible points, answered exercises, submission time, and name.

        The exported points come first.
        """
        assert displayed.notebook is not None
        submission = displayed.notebook.submission
        answered = answered_exercises(displayed.notebook)
        core = sum(e.points for e in exercises_of(lesson) if not e.stretch and e.name in answered)
        bonus = sum(e.points for e in exercises_of(lesson) if e.stretch and e.name in answered)
        after = rules.late_policy.points_after(core, displayed.lateness)
        return (
            after + (bonus if rules.bonus else 0),
            after + bonus,
            datetime.fromisoformat(submission.handed_in) if submission.handed_in else EARLIEST,
            submission.path.name == f"{lesson}.ipynb",
            submission.path.name,
        )

    counted = result(None, ())
    for attempt in _attempts(lesson, notebooks):
        own = [result(notebook, attempt) for notebook in attempt if notebook.submission.lesson == lesson]
        latest = max(own, key=rank) if own else result(None, attempt)
        # Points by hand alone are not an earlier result, because they count with any notebook.
        lowered = _lowered(counted, latest) if counted.notebook else ""
        counted = replace(counted, held_back=lowered) if lowered else latest
    return counted


def _attempts(lesson: str, notebooks: Sequence[GradedSubmission]) -> list[list[GradedSubmission]]:
    """Return a student's attempts at a lesson in order of submission, or of grading if a time is unknown."""
    found: dict[Attempt, list[GradedSubmission]] = defaultdict(list)
    for one in notebooks:
        found[one.attempt].append(one)
    relevant = [
        own
        for attempt, own in found.items()
        if attempt.lesson == lesson or any(one.submission.lesson == lesson for one in own)
    ]
    names: dict[str, set[str]] = defaultdict(set)
    for own in relevant:
        names[own[0].submission.batch].add(own[0].attempt.student)
    by_key: dict[Attempt | str, list[GradedSubmission]] = defaultdict(list)
    for own in relevant:
        batch = own[0].submission.batch
        # A student may submit several notebooks at once under several names, such as "ada" and "ada (1)".
        by_key[batch if batch and len(names[batch]) > 1 else own[0].attempt] += own
    attempts = list(by_key.values())
    times = [[one.submission.handed_in for one in own] for own in attempts]
    if all(time for own in times for time in own):
        return sorted(attempts, key=lambda own: max(datetime.fromisoformat(one.submission.handed_in) for one in own))
    return attempts


def _lowered(before: LessonResult, after: LessonResult) -> str:
    """Return a description of the points that a later result lowers, or ""."""
    totals = [
        ("the points after lateness", before.points_after, after.points_after),
        ("the points", before.points, after.points),
    ]
    exercises = [
        (one.exercise.name, one.points, other.points)
        for one, other in zip(before.exercises, after.exercises, strict=True)
    ]
    fallen = [
        f"{name} {plain_number(had)} → {plain_number(has)}" for name, had, has in [*exercises, *totals] if has < had
    ]
    return join_words(fallen)


def answered_exercises(notebook: GradedSubmission) -> set[str]:
    """Return the names of the exercises whose answer is more than the stub, based only on the text."""
    return {name for name, text in notebook.answers.items() if not _is_unfinished(text)}


def _is_unfinished(answer: str) -> bool:
    """Return whether a function in an answer reaches the stub's ``raise NotImplementedError`` before any return."""
    try:
        tree = ast.parse(answer)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "NotImplementedError" in answer
    for function in ast.walk(tree):
        for statement in function.body if isinstance(function, ast.FunctionDef) else ():
            if isinstance(statement, ast.Return):
                break
            if isinstance(statement, ast.Raise) and "NotImplementedError" in ast.unparse(statement):
                return True
    return False


def lessons_of(
    students: Mapping[str, Sequence[GradedSubmission]], rules: ClassRules | None = None
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return the lessons that count: the selected ones, or those that enough students submitted.

    Enough means a fraction of the class, or of the students in the same download, so that a new lesson counts as well
    as one from weeks ago.

    Returns:
        The lessons that count, and for each other lesson, how many students submitted it and how many submitted
        anything.
    """
    rules = rules or ClassRules()
    by_student = [{notebook.submission.lesson for notebook in own} - {""} for own in students.values()]
    counts = Counter(lesson for lessons in by_student for lesson in lessons)
    n = sum(map(bool, by_student))
    observed = [lesson for lesson in every_lesson() if counts[lesson]]
    if rules.lessons:
        return [lesson for lesson in observed if rules.may_count(lesson)], {}
    least = max(MIN_SUBMITTED_FRACTION * n, min(2, max(counts.values(), default=0)))
    few = {
        lesson: (counts[lesson], n)
        for lesson in observed
        if counts[lesson] < least
        and lesson not in rules.late_policy.due
        and not _counts_in_a_batch(lesson, list(students.values()))
    }
    return [lesson for lesson in observed if lesson not in few], few


def _counts_in_a_batch(lesson: str, students: Sequence[Sequence[GradedSubmission]]) -> bool:
    """Return whether enough students in the same download, and more than one, submitted a lesson."""
    batches: dict[str, list[bool]] = defaultdict(list)
    for own in students:
        for batch in {one.submission.batch for one in own if one.submission.lesson} - {""}:
            batches[batch].append(any(one.submission.lesson == lesson and one.submission.batch == batch for one in own))
    return any(sum(who) > 1 and sum(who) >= MIN_SUBMITTED_FRACTION * len(who) for who in batches.values())
