"""Run an answer as a job in the sandbox, and run it again if another process may have killed it."""

import json
import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from transformer_course.checking.expected_behavior import behavior
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise, is_own
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.answer_similarity import names_to_implement
from transformer_course.running.plain_data import pack
from transformer_course.running.served_models import without_tables
from transformer_course.sandbox.exit_reasons import BUSY_REASON, may_be_ended_by_others
from transformer_course.sandbox.sandbox import Outcome, Sandbox


@dataclass(frozen=True)
class AnswerChoice:
    """Which of a notebook's answers to an exercise to run.

    Args:
        number: The answer's index in the order of ``find_answers``.
        given: Names of other exercises for which the library's parts replace the notebook's answers.
    """

    number: int = 0
    given: tuple[str, ...] = ()


FIRST_ANSWER = AnswerChoice()


def run_answer(
    submission: Submission,
    exercise: Exercise,
    sandbox: Sandbox,
    seed: int,
    choice: AnswerChoice = FIRST_ANSWER,
) -> tuple[dict[str, Any], Outcome]:
    """Run an answer to an exercise in the sandbox.

    Args:
        submission: The notebook.
        exercise: The exercise.
        sandbox: The sandbox.
        seed: Random seed for the cases.
        choice: The answer to run.

    Returns:
        The job, and its outcome.
    """
    sources = [cell["source"] for cell in submission.cells]
    job = {
        # The ids of the cells are omitted, because a student could hide a table of answers in them.
        "cells": [{"source": source} for source in sources],
        "answer": choice.number,
        "given": list(choice.given),
        "seconds": sandbox.limits.seconds,
        "clock": sandbox.limits.clock,
        "name": exercise.name,
        "asked": names_to_implement(exercise.name),
        "library": library_of(exercise.name, {*choice.given, *parts_named("\n".join(sources))}),
    }
    return job, run_job(sandbox, job, *_packed_cases(exercise, seed))


def run_job(sandbox: Sandbox, job: dict[str, Any], *packed: bytes) -> Outcome:
    """Run a job, and run it again if a signal killed it, for example because the system ran out of memory.

    Both runs together must stay within the time limit: a job that has used more than half of the limit is not run
        again.
    """
    outcome = _run_once(sandbox, job, *packed)
    left = sandbox.limits.seconds - outcome.cost
    if not may_be_ended_by_others(outcome.reason) or left < outcome.cost:
        return outcome
    original, sandbox.limits = sandbox.limits, replace(sandbox.limits, seconds=left)
    try:
        second = _run_once(sandbox, {**job, "seconds": left, "clock": sandbox.limits.clock}, *packed)
    finally:
        sandbox.limits = original
    return replace(second, seconds=outcome.seconds + second.seconds, waited=outcome.waited + second.waited)


def _run_once(sandbox: Sandbox, job: dict[str, Any], *packed: bytes) -> Outcome:
    """Run a job. If it times out because other processes use the CPUs most of the time, report a busy machine."""
    outcome = sandbox.run(job, *packed)
    records = (outcome.answer or {}).get("records")
    last = records[-1] if isinstance(records, list) and records else None
    error = last.get("error") if isinstance(last, dict) else None
    if outcome.waited > sandbox.limits.seconds and isinstance(error, dict) and "computed" in error:
        return replace(outcome, answer=None, reason=BUSY_REASON)
    return outcome


@lru_cache(maxsize=40)  # identical submissions get the same cases
def _packed_cases(exercise: Exercise, seed: int) -> tuple[bytes, bytes]:
    """Return the cases of a job, without labels that reveal their purpose, and the models that the cases call."""
    cases, models = without_tables([case.as_dict() for case in behavior(exercise, seed).cases])
    return pack({"cases": cases}), pack(models) if models else b""


@lru_cache(maxsize=4)  # all exercises of a notebook are graded with the same text
def parts_named(text: str) -> frozenset[str]:
    """Return the exercises named in the code, or all exercises if the code may compute names at run time."""
    names = every_exercise().keys()
    return frozenset(names if "getattr" in text else names & set(re.findall(r"\w+", text)))


def library_of(name: str, needed: set[str]) -> str:
    """Return the locations of the needed parts, and of all parts on which they depend, as JSON.

    The exercise itself and the instructor's own exercises are omitted.
    """
    found: dict[str, dict[str, str]] = {name: {}}
    while needed := needed - found.keys():
        for other in needed:
            found[other] = {} if is_own(exercise := every_exercise()[other]) else library_source(exercise)
        needed = {part for other in needed for part in parts_named(found[other].get("source", ""))}
    return json.dumps({other: location for other, location in sorted(found.items()) if location})


@cache
def library_source(exercise: Exercise) -> dict[str, str]:
    """Return the information that the sandbox needs to load the library's function or class for an exercise.

    Returns:
        The ``module`` if the function or class is in the model library, or else its ``source``, because the sandbox
        contains no exercises.
    """
    module = exercise.reference.__module__
    course = __name__.partition(".grading")[0]
    return {"source": exercise.solution} if module.startswith(f"{course}.") else {"module": module}
