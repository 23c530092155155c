"""Run each exercise of a submission in the jail, and judge on the trusted side what was observed there."""

import contextlib
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from transformer_course.checking.expected_behaviour import behaviour
from transformer_course.checking.explain import explain_crash
from transformer_course.checking.formatting import join_words, readable
from transformer_course.checking.judge import judge
from transformer_course.checking.tolerance import distance, observation_distance
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import LITTLE_MEMORY_MB, Exercise
from transformer_course.exercises import every_exercise, exercises_of, is_own
from transformer_course.grading.answer_similarity import answer_text, definition_of, is_the_solution, names_asked_for
from transformer_course.grading.mistake_locations import with_place_in_jail
from transformer_course.grading.printable_text import without_control_codes
from transformer_course.grading.submissions import Submission
from transformer_course.jail.exit_reasons import WHILE_OTHERS_RAN, explain_exit
from transformer_course.jail.jail import Jail, Outcome
from transformer_course.jail.linux.process_times import delay_seconds
from transformer_course.jail.resource_limits import Limits
from transformer_course.running.case import Case
from transformer_course.running.observe import observations_of, observe
from transformer_course.running.plain_data import cut_texts, pack
from transformer_course.running.served_models import without_tables
from transformer_course.running.time_limit import Stopwatch, TookTooLong, time_limit

ALLOWANCE = 2
"""The exercises of a lesson may together take this many times as long as one of them, in all a student's notebooks."""
LEAST_SECONDS = 1.0
"""Time limit of an exercise after the allowance is used up; ten times what a right answer takes."""
OVERDRAFT = 2
"""After so many more allowances, what is left of a student's notebooks of a lesson is not run."""
LIBRARY_CALLS = ("full", "remark", "none")
"""What a right answer may have that calls the library's function, or torch's, of what was to be written."""
COULD_NOT_BE_JUDGED = "What came back is so large or so odd that it could not be judged."
NOT_RUN = (
    "It was not run: the notebooks of this lesson, with all that they do, had taken more than {seconds:g} s by then."
)
KILLED = ("SIGKILL", "supervisor")
"""Reasons for which an answer is run once more: its process, or the jail's, was killed."""
TOO_BUSY = "busy"
"""The reason for which it is, too: other programs had the processors."""
MAX_TEXT_LENGTH = 10_000
"""Number of characters of each text that comes out of the jail; what is longer is cut off before anybody reads it."""
MAX_NAME_LENGTH, MAX_CALLS = 100, 3
"""Number of characters of a name that an answer calls, and of such names."""
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
        cost: Seconds that it took in all: in the jail, less those of others, to be judged, and to be traced.
        remarks: What the instructor may want to look at: that it calls, or is, what was to be written.
    """

    exercise: Exercise
    verdict: Verdict
    seconds: float
    n_right: int = 0
    n_cases: int = 0
    cost: float = 0.0
    remarks: Sequence[str] = ()

    @property
    def points(self) -> int:
        """The points earned: all of the exercise's, or none."""
        return self.exercise.points if self.verdict.passed else 0

    @property
    def ended_by_others(self) -> str:
        """Why there is no answer though it was tried twice, where that may be no fault of it; empty otherwise."""
        if any(self.verdict.message.startswith(explain_exit(reason, Limits())) for reason in KILLED):
            return "was killed twice, as a system does that runs out of memory"
        return "got too little of the processors, twice" if WHILE_OTHERS_RAN in self.verdict.message else ""


@dataclass(frozen=True)
class GradedSubmission:
    """A submission with the verdicts on its exercises.

    Args:
        submission: The notebook.
        exercises: Its exercises in the order of the lesson; empty if the notebook cannot be graded.
        isolation: How far its code was kept from all else: ``full``, ``shared user`` or ``none``.
        notes: What the instructor may want to look at.
        fingerprint: What its text is compared with that of others by, as ``similarity.fingerprint`` returns it.
        answers: The text of the cell that defines each answer, by exercise, for the feedback.
    """

    submission: Submission
    exercises: Sequence[GradedExercise]
    isolation: str = ""
    notes: Sequence[str] = ()
    fingerprint: frozenset[int] = frozenset()
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def points(self) -> int:
        """The points of its core exercises."""
        return sum(one.points for one in self.exercises if not one.exercise.stretch)

    @property
    def bonus(self) -> int:
        """The points of its stretch exercises, which come on top."""
        return sum(one.points for one in self.exercises if one.exercise.stretch)


class Allowance:
    """The time that all of a student's notebooks of a lesson may take together.

    Args:
        limits: Limits of each exercise. When the exercises before it have used up the allowance, an answer still gets
            ``LEAST_SECONDS``, which is enough for one that ends: one endless loop costs no other points.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits, self._seconds = limits, ALLOWANCE * limits.seconds
        self._left = self._seconds

    @property
    def limits(self) -> Limits | None:
        """The limits of the next exercise; None if it is not to be run at all."""
        if self._left < -OVERDRAFT * self._seconds:
            return None
        return replace(self._limits, seconds=min(self._limits.seconds, max(self._left, LEAST_SECONDS)))

    def spend(self, seconds: float) -> None:
        """Take time off."""
        self._left -= seconds

    @property
    def spent(self) -> float:
        """The time that has been taken off."""
        return self._seconds - self._left


def assess(
    submission: Submission,
    allowance: Allowance,
    assess_one: Callable[[Submission, Exercise, Limits], GradedExercise],
) -> GradedSubmission:
    """Grade all exercises of one submission.

    An answer that is wrong, and uses an earlier answer of the notebook that is wrong, too, is graded again with the
    course's answer in place of that: a mistake costs its points once.

    Args:
        submission: The notebook.
        allowance: What it may take, with the others of the student.
        assess_one: Function that grades an exercise of a submission within limits.
    """
    if submission.problem:
        return GradedSubmission(submission, [])
    graded: list[GradedExercise] = []
    for exercise in exercises_of(submission.lesson):

        def attempt(submission: Submission, exercise: Exercise = exercise) -> GradedExercise:
            if (limits := allowance.limits) is None:
                told = NOT_RUN.format(seconds=int(allowance.spent))
                return GradedExercise(exercise, Verdict(exercise.name, "crashed", told), 0.0)
            one = assess_one(submission, exercise, limits)
            allowance.spend(one.cost)
            return one

        first = attempt(submission)
        used = [] if first.verdict.passed else _wrong_parts(submission, exercise, graded)
        again = attempt(_with_solutions(submission, exercise, used)) if used else first
        graded.append(_once_mended(again, used) if used and again.verdict.passed else first)
    return GradedSubmission(submission, graded)


def stumbled_over(submission: Submission, error: Exception) -> GradedSubmission:
    """Return what is kept of a notebook that the grader itself stumbles over: a row that says so."""
    problem = f"The grader stumbled over this notebook ({type(error).__name__}), so it was not graded."
    return GradedSubmission(replace(submission, problem=submission.problem or problem, written={}), [])


def with_remarks(graded: GradedExercise, library_calls: str) -> GradedExercise:
    """Return a result with its remarks in the feedback; a call of what was to be written may cost the points.

    Args:
        graded: The result.
        library_calls: One of ``LIBRARY_CALLS``.
    """
    calls = [remark for remark in graded.remarks if remark.startswith("calls ")]
    if library_calls == "full":
        graded = replace(graded, remarks=[remark for remark in graded.remarks if remark not in calls])
    told = "\n".join([graded.verdict.message, *(f"Remark: it {remark}." for remark in graded.remarks)])
    if library_calls == "none" and calls:
        told = f"The numbers are right, but it {join_words(calls)}, so it has no points."
        return replace(graded, verdict=replace(graded.verdict, status="wrong", message=told), n_right=0)
    return replace(graded, verdict=replace(graded.verdict, message=told))


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
    return judge_answer(exercise, job, outcome, jail, seed)


def run_answer(submission: Submission, exercise: Exercise, jail: Jail, seed: int) -> tuple[dict[str, Any], Outcome]:
    """Run the answer to an exercise in the jail: the job, and its outcome."""
    job = {
        "cells": submission.cells,
        "seconds": jail.limits.seconds,
        "clock": jail.limits.clock,
        "name": exercise.name,
        "asked": names_asked_for(exercise.name),
        "library": {
            name: library_source(other)
            for name, other in every_exercise().items()
            if name != exercise.name and not is_own(other)
        },
    }
    return job, _run(jail, job, *_packed_cases(exercise, seed))


def _run(jail: Jail, job: dict[str, Any], *packed: bytes) -> Outcome:
    """Run a job, and once more if it has no result for a reason that may not be its own."""
    outcome = _run_once(jail, job, *packed)
    was_killed = outcome.reason in KILLED and outcome.cost < jail.limits.seconds  # as without memory a system does
    if was_killed or outcome.reason == TOO_BUSY:
        again = _run_once(jail, job, *packed)
        return replace(again, seconds=outcome.seconds + again.seconds, waited=outcome.waited + again.waited)
    return outcome


def _run_once(jail: Jail, job: dict[str, Any], *packed: bytes) -> Outcome:
    """Run a job; the machine is too busy where time was up by the clock, and others had the processors for longer."""
    outcome = jail.run(job, *packed)
    records = (outcome.answer or {}).get("records")
    last = records[-1] if isinstance(records, list) and records else None
    error = last.get("error") if isinstance(last, dict) else None
    if outcome.waited > jail.limits.seconds and isinstance(error, dict) and "computed" in error:
        return replace(outcome, answer=None, reason=TOO_BUSY)
    return outcome


@lru_cache(maxsize=40)  # who hands in the same gets the same cases
def _packed_cases(exercise: Exercise, seed: int) -> tuple[bytes, bytes]:
    """Return the cases of a job, without a word on what they test, and the models that are called in them."""
    cases, models = without_tables([case.as_dict() for case in behaviour(exercise, seed).cases])
    return pack({"cases": cases}), pack(models) if models else b""


def observed_outside(exercise: Exercise, outcome: Outcome, seed: int) -> Outcome:
    """Return an outcome with observations in place of the records that came out of the jail, which are untrusted."""
    if outcome.answer is None:
        return outcome
    told: dict[str, Any] = {name: outcome.answer[name] for name in ("missing", "crash") if name in outcome.answer}
    if not told:
        try:
            cases = behaviour(exercise, seed).cases
            records = cut_texts(outcome.answer["records"][: len(cases)], MAX_TEXT_LENGTH)
            told["observations"] = observations_of(records, cases)
            told["calls"] = [str(name)[:MAX_NAME_LENGTH] for name in outcome.answer.get("calls", ())][:MAX_CALLS]
        except Exception:  # forged records can make the code that reads them raise anything
            told["malformed"] = True
    return replace(outcome, answer=cut_texts(told, MAX_TEXT_LENGTH))


def judge_answer(exercise: Exercise, job: Mapping[str, Any], outcome: Outcome, jail: Jail, seed: int) -> GradedExercise:
    """Judge an outcome; where the answer goes wrong is found in the jail.

    To judge, to find a name for a mistake, and to find its place may together take what the answer has left of its
    time, and at least ``LEAST_SECONDS``; of computing, since here nothing sleeps, and others may have the processors.
    """
    stopwatch, left = Stopwatch(), max(jail.limits.seconds - outcome.cost, LEAST_SECONDS)
    try:
        with time_limit(left, math.inf):
            outcome = observed_outside(exercise, outcome, seed)
            verdict = judge_outcome(exercise, outcome, seed, jail.limits)
            n_right, n_cases = count_right(exercise, verdict, outcome, seed)
    except TookTooLong:
        verdict, n_right, n_cases = Verdict(exercise.name, "crashed", COULD_NOT_BE_JUDGED), 0, 0
    cost = outcome.cost + stopwatch.computing
    if verdict.passed and exercise.in_little_memory:
        verdict, took = _in_little_memory(verdict, exercise, exercise.in_little_memory(seed), job, jail)
        n_right -= not verdict.passed
        cost += took
    elif outcome.answer is not None and "observations" in outcome.answer and stopwatch.computing < left:
        begun, delayed = time.monotonic(), delay_seconds(os.getpid())
        with _limited(jail, seconds=left - stopwatch.computing):
            verdict, waited = with_place_in_jail(verdict, exercise, outcome.answer["observations"], job, jail, seed)
        waited += delay_seconds(os.getpid()) - delayed  # of what is computed here between its answers
        cost += max(time.monotonic() - begun - waited, 0.0)
    verdict = replace(verdict, message=without_control_codes(readable(verdict.message, MAX_MESSAGE_LENGTH)))
    calls = (outcome.answer or {}).get("calls", []) if verdict.passed else []
    remarks = [f"calls `{name}`, which is what was to be written" for name in map(without_control_codes, calls)]
    if verdict.passed and is_the_solution(job["cells"], exercise.name):
        remarks.append("is the course's solution, word for word")
    return GradedExercise(exercise, verdict, outcome.seconds, n_right, n_cases, cost, remarks)


@contextlib.contextmanager
def _limited(jail: Jail, **limits: float) -> Iterator[None]:
    """Give a jail other limits in the block."""
    usual, jail.limits = jail.limits, replace(jail.limits, **limits)  # type: ignore[arg-type]
    try:
        yield
    finally:
        jail.limits = usual


def _in_little_memory(
    verdict: Verdict, exercise: Exercise, case: Case, job: Mapping[str, Any], jail: Jail
) -> tuple[Verdict, float]:
    """Call a right answer where it must get by with little memory: its process may take no more.

    Returns:
        The verdict, and the seconds that it took.
    """
    with _limited(jail, memory_mb=LITTLE_MEMORY_MB):
        outcome = _run(jail, {**job, "cases": [case.as_dict()]})
    if outcome.reason in (*KILLED, TOO_BUSY):
        return replace(verdict, status="crashed", message=explain_exit(outcome.reason, jail.limits)), outcome.cost
    records = (outcome.answer or {}).get("records")
    seen = records[0] if isinstance(records, list) and records and isinstance(records[0], dict) else {}
    right = observe(exercise.reference, case)
    if distance(seen.get("output"), right.get("output")) <= 1:
        return verdict, outcome.cost
    told = f"The numbers of the small cases are right. But on a large one ({case.label}), "
    error = str(seen.get("error"))
    if "MemoryError" in error or "allocate memory" in error:
        told += (
            f"it takes more than {LITTLE_MEMORY_MB} MB of memory beside its arguments: something is made at once there."
        )
    elif "output" in seen:
        told += "they are not."
    else:
        told += f"it did not return within {jail.limits.seconds:g} s, or it crashed."
    return replace(verdict, status="wrong", message=told), outcome.cost


def count_right(exercise: Exercise, verdict: Verdict, outcome: Outcome, seed: int) -> tuple[int, int]:
    """Return in how many cases an answer is right, and the number of cases."""
    known = behaviour(exercise, seed)
    n_cases = len(known.cases) + (exercise.in_little_memory is not None)
    if verdict.passed:
        return n_cases, n_cases
    try:
        seen = known.normalised((outcome.answer or {})["observations"])
        right = [observation_distance(one, other) <= 1 for one, other in zip(seen, known.expected, strict=False)]
        return sum(right), n_cases
    except Exception:  # as in judge_outcome
        return 0, n_cases


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
