"""Create sample results for tests without running any answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import exercises_of
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.student_records import Records
from transformer_course.grading.reports.class_report import write_report
from transformer_course.grading.rules.settings import new_settings
from transformer_course.sandbox.resource_limits import Limits


def notebook(
    passed: int,
    file: str = "01_lookup.ipynb",
    lesson: str = "01_lookup",
    problem: str = "",
    mistakes: tuple[str, ...] = (),
    **fields: Any,
) -> GradedSubmission:
    """Return a graded notebook in which the first ``passed`` exercises have passed.

    Args:
        passed: The number of exercises that passed.
        file: The name of the notebook.
        lesson: The name of the lesson.
        problem: The reason why the notebook could not be graded, or "".
        mistakes: The mistakes recognized in the first wrong answer. Later wrong answers have no recognized mistakes.
        fields: Further fields of the submission.
    """
    graded = []
    for i, exercise in enumerate([] if problem else exercises_of(lesson)):
        verdict = Verdict(exercise.name, "passed" if i < passed else "wrong", "")
        if i == passed and mistakes:
            verdict = Verdict(exercise.name, "mistake", "", mistakes)
        graded.append(GradedExercise(exercise, verdict, 0.1 * (i + 1)))
    submission = Submission("", Path("folder", file), lesson, problem=problem, sha256="5e" * 32, **fields)
    return GradedSubmission(submission, graded, "full")


def write_results(out: Path, passed: Mapping[str, int]) -> None:
    """Write a results folder in which each student has passed some of lesson 01's exercises."""
    for student, n in passed.items():
        Records(out, {}).write(student, [], [notebook(n)], {})
    write_report(out, new_settings(7, Limits(), {}))
