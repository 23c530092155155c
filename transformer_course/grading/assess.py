"""Run each exercise of a submission in the jail, and judge on the trusted side what was observed there."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from transformer_course.checking.expected_behaviour import behaviour
from transformer_course.checking.explain import explain_crash
from transformer_course.checking.formatting import readable
from transformer_course.checking.judge import judge
from transformer_course.checking.tolerance import observation_distance
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise, exercises_of, is_own
from transformer_course.grading.answer_similarity import answer_text, definition_of
from transformer_course.grading.mistake_locations import with_place_in_jail
from transformer_course.grading.printable_text import without_control_codes
from transformer_course.grading.submissions import Submission
from transformer_course.jail.exit_reasons import explain_exit
from transformer_course.jail.jail import Jail, Outcome
from transformer_course.jail.resource_limits import Limits
from transformer_course.running.plain_data import pack

ALLOWANCE = 2
"""The exercises of a notebook may together take this many times as long as one of them."""
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
        n_right: Number of cases in which everything observed is right; if it passed, all of them.
        n_cases: Number of cases; 0 where none was judged.
    """

    exercise: Exercise
    verdict: Verdict
    seconds: float
    n_right: int = 0
    n_cases: int = 0

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
    submission: Submission, limits: Limits, assess_one: Callable[[Submission, Exercise, Limits], GradedExercise]
) -> GradedSubmission:
    """Grade all exercises of one submission, which share an allowance of time.

    An answer that is wrong, and uses an earlier answer of the notebook that is wrong, too, is graded again with the
    course's answer in place of that: a mistake costs its points once.

    Args:
        submission: The notebook.
        limits: Limits of each exercise. When the exercises before it have used up the allowance, an answer still gets
            ``LEAST_SECONDS``, which is enough for one that ends: one endless loop costs no other points.
        assess_one: Function that grades an exercise of a submission within limits.
    """
    if submission.problem:
        return GradedSubmission(submission, [])
    graded: list[GradedExercise] = []
    left = ALLOWANCE * limits.seconds
    for exercise in exercises_of(submission.lesson):

        def attempt(submission: Submission, exercise: Exercise = exercise) -> GradedExercise:
            nonlocal left
            seconds = min(limits.seconds, max(left, LEAST_SECONDS))
            one = assess_one(submission, exercise, replace(limits, seconds=seconds))
            left -= one.seconds
            return one

        first = attempt(submission)
        used = [] if first.verdict.passed else _wrong_parts(submission, exercise, graded)
        again = attempt(_with_solutions(submission, exercise, used)) if used else first
        graded.append(_once_mended(again, used) if used and again.verdict.passed else first)
    return GradedSubmission(submission, graded)


def _wrong_parts(submission: Submission, exercise: Exercise, earlier: Sequence[GradedExercise]) -> list[Exercise]:
    """List the earlier exercises that an answer uses, directly or through others, and whose answers are wrong.

    An instructor's own are none of them: their answers never enter the jail.
    """
    text = answer_text(submission.cells, exercise.name)
    used = []
    for one in reversed(earlier):
        if re.search(rf"\b{one.exercise.name}\b", text):
            text += f"\n{answer_text(submission.cells, one.exercise.name)}"
            used.append(one)
    return [one.exercise for one in reversed(used) if not one.verdict.passed and not is_own(one.exercise)]


def _with_solutions(submission: Submission, exercise: Exercise, parts: Sequence[Exercise]) -> Submission:
    """Return the submission with the course's answers put right before the cells that define an answer."""
    sources = [library_source(part) for part in parts]
    names = [part.name for part in parts]
    code = "\n".join(
        source.get("source") or f"from {source['module']} import {name}"
        for name, source in zip(names, sources, strict=True)
    )
    defines = definition_of(exercise.name)
    cells = []
    for cell in submission.cells:
        cells += [{"id": "", "source": code}, cell] if defines.search(cell["source"]) else [cell]
    return replace(submission, cells=cells)


def _once_mended(graded: GradedExercise, parts: Sequence[Exercise]) -> GradedExercise:
    """Return the result with what it depends on."""
    names = " and ".join(f"`{part.name}`" for part in parts)
    told = f"This is right with the course's {names} in place of yours, so it has all its points."
    return replace(graded, verdict=replace(graded.verdict, message=f"{told}\n{graded.verdict.message}"))


def assess_exercise(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> GradedExercise:
    """Grade one exercise of a submission.

    Args:
        submission: The notebook.
        exercise: The exercise.
        jail: Where the answer runs. It gets the cases, and never the seed.
        seed: Seed of the cases.
    """
    job, outcome = run_answer(submission, exercise, jail, seed)
    verdict = judge_answer(exercise, job, outcome, jail, seed)
    return GradedExercise(exercise, verdict, outcome.seconds, *count_right(exercise, verdict, outcome, seed))


def run_answer(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> tuple[dict[str, Any], Outcome]:
    """Run the answer to an exercise in the jail: the job, and its outcome."""
    own = {"cells": submission.cells, "seconds": jail.limits.seconds, "clock": jail.limits.clock}
    of_all, packed = _same_for_everybody(exercise, seed)
    return {**own, **of_all}, jail.run(own, packed)


@cache
def _same_for_everybody(exercise: Exercise, seed: int) -> tuple[dict[str, Any], bytes]:
    """Return that part of a job which does not depend on the notebook, plain and packed."""
    part = {
        "name": exercise.name,
        "cases": [case.as_dict() for case in behaviour(exercise, seed).cases],
        "library": {
            name: library_source(other)
            for name, other in every_exercise().items()
            if name != exercise.name and not is_own(other)
        },
    }
    return part, pack(part)


def judge_answer(exercise: Exercise, job: Mapping[str, Any], outcome: Outcome, jail: Jail, seed: int) -> Verdict:
    """Return the verdict on an outcome; where the answer goes wrong is found in the jail."""
    verdict = judge_outcome(exercise, outcome, seed, jail.limits)
    if outcome.answer is not None and "observations" in outcome.answer:
        verdict = with_place_in_jail(verdict, exercise, outcome.answer["observations"], job, jail, seed)
    return replace(verdict, message=without_control_codes(readable(verdict.message, MAX_MESSAGE_LENGTH)))


def count_right(exercise: Exercise, verdict: Verdict, outcome: Outcome, seed: int) -> tuple[int, int]:
    """Return in how many cases an answer is right, and the number of cases."""
    known = behaviour(exercise, seed)
    if verdict.passed:
        return len(known.cases), len(known.cases)
    try:
        seen = known.normalised((outcome.answer or {})["observations"])
        right = [observation_distance(one, other) <= 1 for one, other in zip(seen, known.expected, strict=False)]
        return sum(right), len(known.cases)
    except Exception:  # as in judge_outcome
        return 0, len(known.cases)


@cache
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
        parts = every_exercise().keys() - {exercise.name}
        return judge(exercise, seed, outcome.answer["observations"], parts)
    except Exception:  # forged observations can make the code that reads them raise anything
        return Verdict(exercise.name, "crashed", "What came back makes no sense as the result of calls.")
