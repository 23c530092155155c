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
"""A lesson counts if at least this fraction of the students who submitted anything submitted this lesson.

In a small class, this may be a single student, who may have submitted the wrong file. Therefore, a lesson submitted by
only one student counts only if no other lesson was submitted by more students.
"""


def lesson_result(
    lesson: str,
    notebooks: Sequence[GradedSubmission],
    rules: ClassRules,
    overrides: Mapping[str, Override],
    extensions: Mapping[str, datetime],
) -> LessonResult:
    """Return the result of a lesson from the attempt that counts, the latest attempt that does not lower any points.

    If an attempt contains several notebooks, the choice among the notebooks does not depend on the verdicts. Otherwise,
    a student could guess fifty times by submitting fifty notebooks.
    """

    def result(notebook: GradedSubmission | None, attempt: Sequence[GradedSubmission]) -> LessonResult:
        graded = {result.exercise.name: result for result in notebook.exercises} if notebook else {}
        exercises = [
            ExerciseResult(e, graded.get(e.name), overrides.get(e.name), rules.partial_credit)
            for e in exercises_of(lesson)
        ]
        lateness = rules.late_policy.lateness(notebook.submission, extensions) if notebook else Lateness()
        lesson_result = LessonResult(lesson, notebook, exercises, lateness, 0.0, attempt)
        return replace(lesson_result, points_after=rules.late_policy.points_after(lesson_result.points, lateness))

    def rank(result: LessonResult) -> tuple[float, float, datetime, bool, str]:
        """Return the sort key of a notebook.

        It consists of the possible points to export, the possible points with the bonus, the submission time, and the
        file name.
        """
        assert result.notebook is not None
        submission = result.notebook.submission
        answered = answered_exercises(result.notebook)
        core = sum(e.points for e in exercises_of(lesson) if not e.stretch and e.name in answered)
        bonus = sum(e.points for e in exercises_of(lesson) if e.stretch and e.name in answered)
        after = rules.late_policy.points_after(core, result.lateness)
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
        # Without an earlier notebook, no points can be lowered: points entered by hand count with any notebook.
        lowered = _lowered(counted, latest) if counted.notebook else ""
        counted = replace(counted, held_back=lowered) if lowered else latest
    return counted


def _attempts(lesson: str, notebooks: Sequence[GradedSubmission]) -> list[list[GradedSubmission]]:
    """Return a student's attempts at a lesson in order of submission, or in order of grading if a time is unknown."""
    found: dict[Attempt, list[GradedSubmission]] = defaultdict(list)
    for notebook in notebooks:
        found[notebook.attempt].append(notebook)
    relevant = [
        own
        for attempt, own in found.items()
        if attempt.lesson == lesson or any(notebook.submission.lesson == lesson for notebook in own)
    ]
    names: dict[str, set[str]] = defaultdict(set)
    for own in relevant:
        names[own[0].submission.batch].add(own[0].attempt.student)
    by_key: dict[Attempt | str, list[GradedSubmission]] = defaultdict(list)
    for own in relevant:
        batch = own[0].submission.batch
        # Files of one student in the same download may have several names, such as "ada" and "ada (1)".
        by_key[batch if batch and len(names[batch]) > 1 else own[0].attempt] += own
    attempts = list(by_key.values())
    times = [[notebook.submission.handed_in for notebook in own] for own in attempts]
    if all(time for own in times for time in own):
        return sorted(
            attempts, key=lambda own: max(datetime.fromisoformat(notebook.submission.handed_in) for notebook in own)
        )
    return attempts


def _lowered(before: LessonResult, after: LessonResult) -> str:
    """Return a description of the points that a later result lowers, or ""."""
    totals = [
        ("the points after lateness", before.points_after, after.points_after),
        ("the total points", before.points, after.points),
    ]
    exercises = [
        (old.exercise.name, old.points, new.points) for old, new in zip(before.exercises, after.exercises, strict=True)
    ]
    fallen = [
        f"{name} {plain_number(old)} → {plain_number(new)}" for name, old, new in [*exercises, *totals] if new < old
    ]
    return join_words(fallen)


def answered_exercises(notebook: GradedSubmission) -> set[str]:
    """Return the names of the exercises whose answers are more than stubs, judging only by the text."""
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
    """Return the lessons that count: the selected lessons, or else the lessons that enough students submitted.

    “Enough” means at least ``MIN_SUBMITTED_FRACTION`` of the class or of the students in a single download. So a new
    lesson counts even if only a small part of the class has submitted it so far.

    Returns:
        The lessons that count. For each other lesson, the number of students who submitted it and the number who
        submitted anything.
    """
    rules = rules or ClassRules()
    by_student = [{notebook.submission.lesson for notebook in own} - {""} for own in students.values()]
    counts = Counter(lesson for lessons in by_student for lesson in lessons)
    n = sum(map(bool, by_student))
    submitted = [lesson for lesson in every_lesson() if counts[lesson]]
    if rules.lessons:
        return [lesson for lesson in submitted if rules.may_count(lesson)], {}
    required = max(MIN_SUBMITTED_FRACTION * n, min(2, max(counts.values(), default=0)))
    left_out = {
        lesson: (counts[lesson], n)
        for lesson in submitted
        if counts[lesson] < required
        and lesson not in rules.late_policy.due
        and not _counts_in_a_batch(lesson, list(students.values()))
    }
    return [lesson for lesson in submitted if lesson not in left_out], left_out


def _counts_in_a_batch(lesson: str, students: Sequence[Sequence[GradedSubmission]]) -> bool:
    """Return whether enough students in one download, and at least two, submitted a lesson."""
    batches: dict[str, list[bool]] = defaultdict(list)
    for own in students:
        for batch in {notebook.submission.batch for notebook in own if notebook.submission.lesson} - {""}:
            batches[batch].append(
                any(notebook.submission.lesson == lesson and notebook.submission.batch == batch for notebook in own)
            )
    return any(sum(batch) > 1 and sum(batch) >= MIN_SUBMITTED_FRACTION * len(batch) for batch in batches.values())
