"""Judge an answer's results on the trusted side: determine the points, the mistake and its location."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.explain import explain_crash
from transformer_course.checking.formatting import readable
from transformer_course.checking.judge import judge
from transformer_course.checking.tolerance import distance, observation_distance
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import LOW_MEMORY_LIMIT_MB, Exercise
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.printable_text import without_control_codes
from transformer_course.grading.judging.answer_similarity import is_course_solution
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.judging.mistake_locations import (
    MAX_TEXT_LENGTH,
    SecondRun,
    took_too_long,
    with_location,
)
from transformer_course.grading.judging.run_answer import run_job
from transformer_course.running.case import Case
from transformer_course.running.find_answer import MAX_ANSWERS
from transformer_course.running.observe import observations_of, observe
from transformer_course.running.plain_data import cut_texts
from transformer_course.running.time_limit import Stopwatch, TookTooLong, time_limit
from transformer_course.sandbox.exit_reasons import BUSY_REASON, KILLED_REASONS, explain_exit
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome, Sandbox

MIN_TIME_LIMIT_S = 1.0
"""Time limit for an exercise after the allowance is used up, about ten times the time of a right answer."""
QUICK_ANSWER_S = 0.5
"""Maximum time for all cases of an answer that is run again, on other cases, to recognize its mistake."""
COULD_NOT_BE_JUDGED = "The answer returned something too large or too unusual to judge."
MAX_NAME_LENGTH, MAX_CALLS = 100, 3
"""Maximum length and number of the names in a remark about the functions that an answer calls."""
MAX_MESSAGE_LENGTH = 4000
"""Maximum number of characters in a message, which may quote the learner's code and errors."""


def with_observations(exercise: Exercise, outcome: Outcome, seed: int, n_cells: int = 0) -> Outcome:
    """Replace the untrusted records in an outcome with observations computed from these records in this process."""
    if outcome.answer is None:
        return outcome
    problem: dict[str, Any] = {name: outcome.answer[name] for name in ("missing", "crash") if name in outcome.answer}
    if not problem:
        try:
            cases = behavior(exercise, seed).cases
            records = cut_texts(outcome.answer["records"][: len(cases)], MAX_TEXT_LENGTH)
            problem["observations"] = observations_of(records, cases)
            problem["calls"] = [str(name)[:MAX_NAME_LENGTH] for name in outcome.answer.get("calls", ())][:MAX_CALLS]
        except Exception:  # forged records may cause any error
            problem["malformed"] = True
    n_answers, cell = outcome.answer.get("n_answers"), outcome.answer.get("cell")
    problem["n_answers"] = n_answers if type(n_answers) is int and 1 <= n_answers <= MAX_ANSWERS else 1
    problem["cell"] = cell if type(cell) is int and 0 <= cell < n_cells else None
    return replace(outcome, answer=cut_texts(problem, MAX_TEXT_LENGTH))


def judge_answer(
    exercise: Exercise, job: Mapping[str, Any], outcome: Outcome, sandbox: Sandbox, seed: int
) -> GradedExercise:
    """Judge an outcome, and use the sandbox to locate the mistake.

    Judging, recognizing the mistake and locating it may together take the answer's remaining time, but at least
    ``MIN_TIME_LIMIT_S``. The limit is on CPU time, because other processes may be using the CPUs. The answer's second
    run may take the part of this time that exceeds ``MIN_TIME_LIMIT_S``.
    """
    stopwatch, left = Stopwatch(), max(sandbox.limits.seconds - outcome.cost, MIN_TIME_LIMIT_S)
    with contextlib.ExitStack() as stack:
        second_run = SecondRun(exercise, job, sandbox, seed, left - MIN_TIME_LIMIT_S, stack)
        try:
            with time_limit(left, math.inf):
                outcome = with_observations(exercise, outcome, seed, len(job["cells"]))
                verdict = judge_outcome(exercise, outcome, seed, sandbox.limits, second_run)
                n_right, n_cases = count_right(exercise, verdict, outcome, seed)
        except TookTooLong:
            verdict, n_right, n_cases = Verdict(exercise.name, "crashed", COULD_NOT_BE_JUDGED), 0, 0
        if outcome.answer is not None and "observations" in outcome.answer and stopwatch.computing < left:
            verdict = with_location(verdict, exercise, outcome.answer["observations"], second_run, seed)
    cost = outcome.cost + stopwatch.computing + second_run.cost
    if verdict.passed and exercise.low_memory_case:
        verdict, took = _with_low_memory(verdict, exercise, exercise.low_memory_case(seed), job, sandbox)
        n_right -= not verdict.passed
        cost += took
    verdict = replace(verdict, message=without_control_codes(readable(verdict.message, MAX_MESSAGE_LENGTH)))
    answer = outcome.answer or {}
    calls = answer.get("calls", []) if verdict.passed else []
    remarks = [f"calls `{name}`, the function to implement" for name in map(without_control_codes, calls)]
    cell = answer.get("cell")
    if verdict.passed and cell is not None and is_course_solution(job["cells"][cell]["source"], exercise.name):
        remarks.append("is the course's solution, word for word")
    numbers = job.get("answer", 0), answer.get("n_answers", 1), cell
    return GradedExercise(exercise, verdict, outcome.seconds, n_right, n_cases, cost, remarks, *numbers)


@contextlib.contextmanager
def _limited(sandbox: Sandbox, **limits: float) -> Iterator[None]:
    """Change some limits of a sandbox inside the block."""
    original, sandbox.limits = sandbox.limits, replace(sandbox.limits, **limits)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sandbox.limits = original


def _with_low_memory(
    verdict: Verdict, exercise: Exercise, case: Case, job: Mapping[str, Any], sandbox: Sandbox
) -> tuple[Verdict, float]:
    """Call a right answer in a process with a low memory limit.

    Returns:
        The verdict, and the time in seconds.
    """
    # Limit files and pipes as well, because an answer could store numbers there.
    with _limited(sandbox, memory_mb=LOW_MEMORY_LIMIT_MB, disk_mb=1, file_mb=1, open_files=16):
        outcome = run_job(sandbox, {**job, "cases": [case.as_dict()]})
    if outcome.reason in (*KILLED_REASONS, BUSY_REASON):
        return replace(verdict, status="crashed", message=explain_exit(outcome.reason, sandbox.limits)), outcome.cost
    records = (outcome.answer or {}).get("records")
    found = records[0] if isinstance(records, list) and records and isinstance(records[0], dict) else {}
    right = observe(exercise.reference, case)
    if distance(found.get("output"), right.get("output")) <= 1:
        return verdict, outcome.cost
    message = f"Your answer is right on small cases. But on a large case ({case.label}), "
    error = found.get("error")
    error = f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else ""
    if "MemoryError" in error or "allocate memory" in error:
        message += f"it uses more than {LOW_MEMORY_LIMIT_MB} MB in addition to its arguments, because it computes "
        message += "everything at once."
    elif "output" in found:
        message += "it is wrong."
    elif error and "TookTooLong" not in error:
        message += f"it crashes: {error}"
    else:
        message += f"it did not return within {sandbox.limits.seconds:g} s, or it crashed."
    return replace(verdict, status="wrong", message=message), outcome.cost


def count_right(exercise: Exercise, verdict: Verdict, outcome: Outcome, seed: int) -> tuple[int, int]:
    """Return the number of passed cases and the number of cases."""
    known = behavior(exercise, seed)
    n_cases = len(known.cases) + (exercise.low_memory_case is not None)
    if verdict.passed:
        return n_cases, n_cases
    try:
        found = known.normalized((outcome.answer or {})["observations"])
        right = [
            observation_distance(observed, other) <= 1 for observed, other in zip(found, known.expected, strict=False)
        ]
        return sum(right), n_cases
    except Exception:  # forged observations, as in judge_outcome
        return 0, n_cases


def judge_outcome(
    exercise: Exercise, outcome: Outcome, seed: int, limits: Limits, second_run: SecondRun | None = None
) -> Verdict:
    """Return the verdict on a result from the sandbox, which is untrusted and may be any plain data.

    If a quick answer is wrong, its mistake is recognized in a ``second_run``. The cases of this run are the same for
    the whole class, so the results of each known mistake are computed only once.
    """
    if outcome.answer is None:
        return Verdict(exercise.name, "crashed", explain_exit(outcome.reason, limits))
    try:
        if "missing" in outcome.answer:
            return Verdict(exercise.name, "not_started", f"No cell defines `{exercise.name}`.")
        if "crash" in outcome.answer:
            return Verdict(exercise.name, "crashed", explain_crash("The cell", outcome.answer["crash"]))
        parts = every_exercise().keys() - {exercise.name}
        observed = outcome.answer["observations"]
        elsewhere = second_run if outcome.cost < QUICK_ANSWER_S and not took_too_long(observed) else None
        return judge(exercise, seed, observed, parts, elsewhere)
    except Exception:  # forged observations may cause any error
        return Verdict(exercise.name, "crashed", "The answer sent results that could not be read.")
