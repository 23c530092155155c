"""Run each exercise of a submission in the jail, and judge on the trusted side what was observed there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transformer_lab.course.checking.behaviour import behaviour
from transformer_lab.course.checking.explain import explain_crash, readable
from transformer_lab.course.checking.judge import judge
from transformer_lab.course.checking.verdict import Verdict
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import every_exercise, exercises_of
from transformer_lab.course.grading.places import with_place_in_jail
from transformer_lab.course.grading.submissions import Submission
from transformer_lab.course.jail.exit_reasons import explain_exit
from transformer_lab.course.jail.jail import Jail, Outcome
from transformer_lab.course.jail.limits import Limits

MAX_MESSAGE_LENGTH = 4000
"""Number of characters of a message, which may quote the learner's own code and errors."""


@dataclass(frozen=True)
class GradedExercise:
    """One exercise of one submission, with its verdict.

    Args:
        exercise: The exercise.
        verdict: The verdict on the learner's answer.
        seconds: Wall-clock time of the answer in the jail.
    """

    exercise: Exercise
    verdict: Verdict
    seconds: float

    @property
    def points(self) -> int:
        """The points earned: all of the exercise's, or none."""
        return self.exercise.points if self.verdict.passed else 0


@dataclass(frozen=True)
class GradedSubmission:
    """A submission with the verdicts on its exercises.

    Args:
        submission: The notebook.
        exercises: Its exercises in the order of the lesson; empty if the notebook cannot be graded.
    """

    submission: Submission
    exercises: Sequence[GradedExercise]

    @property
    def points(self) -> int:
        """The points of its core exercises."""
        return sum(one.points for one in self.exercises if not one.exercise.stretch)

    @property
    def bonus(self) -> int:
        """The points of its stretch exercises, which come on top."""
        return sum(one.points for one in self.exercises if one.exercise.stretch)


def assess(submission: Submission, jail: Jail, seed: int) -> GradedSubmission:
    """Grade all exercises of one submission."""
    if submission.problem:
        return GradedSubmission(submission, [])
    exercises = exercises_of(submission.lesson)
    return GradedSubmission(submission, [assess_exercise(submission, exercise, jail, seed) for exercise in exercises])


def assess_exercise(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> GradedExercise:
    """Grade one exercise of a submission.

    Args:
        submission: The notebook.
        exercise: The exercise.
        jail: Where the answer runs. It gets the cases, and never the seed.
        seed: Seed of the cases.
    """
    job = {
        "name": exercise.name,
        "cells": submission.cells,
        "cases": [case.as_dict() for case in behaviour(exercise, seed).cases],
        "seconds": jail.limits.seconds,
        "library": {name: library_source(other) for name, other in every_exercise().items() if name != exercise.name},
    }
    outcome = jail.run(job)
    verdict = judge_outcome(exercise, outcome, seed, jail.limits)
    if outcome.answer is not None and "observations" in outcome.answer:
        verdict = with_place_in_jail(verdict, exercise, outcome.answer["observations"], job, jail, seed)
    return GradedExercise(
        exercise, replace(verdict, message=readable(verdict.message, MAX_MESSAGE_LENGTH)), outcome.seconds
    )


def library_source(exercise: Exercise) -> dict[str, str]:
    """Return where the jail finds the library's function or class for an exercise.

    Returns:
        Its ``module``, if that is in the model library; else, since the jail has no exercises, its ``source``.
    """
    module = exercise.reference.__module__
    course = __name__.partition(".grading")[0]
    return {"source": exercise.solution} if module.startswith(f"{course}.") else {"module": module}


def judge_outcome(exercise: Exercise, outcome: Outcome, seed: int, limits: Limits) -> Verdict:
    """Return the verdict on what came out of the jail, which is untrusted and may be any plain data."""
    if outcome.answer is None:
        return Verdict(exercise.name, "crashed", explain_exit(outcome.reason, limits))
    try:
        if "missing" in outcome.answer:
            return Verdict(exercise.name, "not_started", f"No cell defines `{exercise.name}`.")
        if "crash" in outcome.answer:
            return Verdict(exercise.name, "crashed", explain_crash("The cell", outcome.answer["crash"]))
        return judge(exercise, seed, outcome.answer["observations"])
    except Exception:  # forged observations can make the code that reads them raise anything
        return Verdict(exercise.name, "crashed", "What came back makes no sense as the result of calls.")
