"""Have each exercise of a submission run in the jail, and judge on the trusted side what was seen there."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from transformer_lab.course.checking.explain import explain_crash, readable
from transformer_lab.course.checking.judge import behaviour, judge
from transformer_lab.course.checking.verdict import Verdict
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import every_exercise, exercises_of
from transformer_lab.course.grading.submissions import Submission
from transformer_lab.course.jail.exit_reasons import in_words
from transformer_lab.course.jail.jail import Jail, Outcome
from transformer_lab.course.jail.limits import Limits
from transformer_lab.course.running.case import Case

LONGEST_MESSAGE = 4000
"""Characters: a learner's own words come back in it."""


@dataclass(frozen=True)
class Graded:
    """One exercise of one submission.

    Args:
        exercise: Which.
        verdict: How it went.
        seconds: How long its code ran in the jail.
    """

    exercise: Exercise
    verdict: Verdict
    seconds: float

    @property
    def points(self) -> int:
        """What it earned: all of its points, or none."""
        return self.exercise.points if self.verdict.passed else 0


@dataclass(frozen=True)
class Work:
    """A submission with the verdicts on its exercises."""

    submission: Submission
    graded: Sequence[Graded]

    @property
    def points(self) -> int:
        """What its core exercises earned."""
        return sum(one.points for one in self.graded if not one.exercise.stretch)

    @property
    def bonus(self) -> int:
        """What its stretch exercises earned on top."""
        return sum(one.points for one in self.graded if one.exercise.stretch)


def assess(submission: Submission, jail: Jail, seed: int) -> Work:
    """Grade all exercises of one submission."""
    if submission.problem:
        return Work(submission, [])
    exercises = exercises_of(submission.lesson)
    return Work(submission, [assess_one(submission, exercise, jail, seed) for exercise in exercises])


def assess_one(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> Graded:
    """Grade one exercise of a submission; the jail gets the cases, and never the seed."""
    job = {
        "name": exercise.name,
        "cells": submission.cells,
        "cases": [_plain(case) for case in behaviour(exercise, seed).cases],
        "seconds": jail.limits.seconds,
        "library": {name: where(other) for name, other in every_exercise().items() if name != exercise.name},
    }
    outcome = jail.run(job)
    verdict = verdict_on(exercise, outcome, seed, jail.limits)
    return Graded(exercise, replace(verdict, message=readable(verdict.message, LONGEST_MESSAGE)), outcome.seconds)


def where(exercise: Exercise) -> dict[str, str]:
    """Say where the jail finds the library's piece: in the model library, else in its own source."""
    module = exercise.reference.__module__
    course = __name__.partition(".grading")[0]
    return {"source": exercise.solution} if module.startswith(f"{course}.") else {"module": module}


def verdict_on(exercise: Exercise, outcome: Outcome, seed: int, limits: Limits) -> Verdict:
    """Judge what came out of the jail; it may be anything."""
    if outcome.answer is None:
        return Verdict(exercise.name, "crashed", in_words(outcome.how, limits))
    try:
        if "missing" in outcome.answer:
            return Verdict(exercise.name, "not_started", f"No cell defines `{exercise.name}`.")
        if "crash" in outcome.answer:
            return Verdict(exercise.name, "crashed", explain_crash("The cell", outcome.answer["crash"]))
        return judge(exercise, seed, outcome.answer["observations"])
    except Exception:  # made-up observations can break what reads them in any way they like
        return Verdict(exercise.name, "crashed", "What came back makes no sense as the result of calls.")


def _plain(case: Case) -> dict[str, Any]:
    return {field.name: getattr(case, field.name) for field in fields(case)}
