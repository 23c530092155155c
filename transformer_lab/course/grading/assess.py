"""Run each exercise of a submission in the jail, and judge on the trusted side what was observed there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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

ALLOWANCE = 2
"""The exercises of a notebook together are waited for so many times as long as one of them may take."""
LEAST_SECONDS = 1.0
"""Time limit of an exercise after the allowance is used up; ten times what a right answer takes."""
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
        isolation: How far its code was kept from all else: ``full``, ``shared user`` or ``none``.
        notes: What the instructor may want to look at.
        fingerprint: What its text is compared with that of others by, as ``similarity.fingerprint`` returns it.
    """

    submission: Submission
    exercises: Sequence[GradedExercise]
    isolation: str = ""
    notes: Sequence[str] = ()
    fingerprint: frozenset[int] = frozenset()

    @property
    def points(self) -> int:
        """The points of its core exercises."""
        return sum(one.points for one in self.exercises if not one.exercise.stretch)

    @property
    def bonus(self) -> int:
        """The points of its stretch exercises, which come on top."""
        return sum(one.points for one in self.exercises if one.exercise.stretch)


def assess(
    submission: Submission, limits: Limits, assess_one: Callable[[Exercise, Limits], GradedExercise]
) -> GradedSubmission:
    """Grade all exercises of one submission, which share an allowance of time.

    Args:
        submission: The notebook.
        limits: Limits of each exercise. When the exercises before it have used up the allowance, an answer still gets
            ``LEAST_SECONDS``, which is enough for one that ends: one endless loop costs no other points.
        assess_one: Function that grades an exercise within limits.
    """
    if submission.problem:
        return GradedSubmission(submission, [])
    graded: list[GradedExercise] = []
    left = ALLOWANCE * limits.seconds
    for exercise in exercises_of(submission.lesson):
        seconds = min(limits.seconds, max(left, LEAST_SECONDS))
        graded.append(assess_one(exercise, replace(limits, seconds=seconds)))
        left -= graded[-1].seconds
    return GradedSubmission(submission, graded)


def assess_exercise(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> GradedExercise:
    """Grade one exercise of a submission.

    Args:
        submission: The notebook.
        exercise: The exercise.
        jail: Where the answer runs. It gets the cases, and never the seed.
        seed: Seed of the cases.
    """
    job, outcome = run_answer(submission, exercise, jail, seed)
    return GradedExercise(exercise, judge_answer(exercise, job, outcome, jail, seed), outcome.seconds)


def run_answer(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> tuple[dict[str, Any], Outcome]:
    """Run the answer to an exercise in the jail: the job, and its outcome."""
    job = {
        "name": exercise.name,
        "cells": submission.cells,
        "cases": [case.as_dict() for case in behaviour(exercise, seed).cases],
        "seconds": jail.limits.seconds,
        "library": {name: library_source(other) for name, other in every_exercise().items() if name != exercise.name},
    }
    return job, jail.run(job)


def judge_answer(exercise: Exercise, job: Mapping[str, Any], outcome: Outcome, jail: Jail, seed: int) -> Verdict:
    """Return the verdict on an outcome; where the answer goes wrong is found in the jail."""
    verdict = judge_outcome(exercise, outcome, seed, jail.limits)
    if outcome.answer is not None and "observations" in outcome.answer:
        verdict = with_place_in_jail(verdict, exercise, outcome.answer["observations"], job, jail, seed)
    return replace(verdict, message=without_control_codes(readable(verdict.message, MAX_MESSAGE_LENGTH)))


def without_control_codes(text: str) -> str:
    """Return lines of text in which nothing acts on a terminal or a page."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


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
