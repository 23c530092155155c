"""Grade the exercises in a notebook, within the time allowance for the student's notebooks."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from transformer_course.checking.formatting import join_words
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import exercises_of, is_own
from transformer_course.grading.incoming.cell_text import definition_of
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.answer_similarity import answer_text
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.judge_answer import MIN_TIME_LIMIT_S, judge_answer
from transformer_course.grading.judging.run_answer import FIRST_ANSWER, AnswerChoice, run_answer
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

ALLOWANCE_FACTOR = 2
"""Time allowance for all of a student's notebooks for a lesson, as a multiple of the time limit for one exercise."""
MAX_EXTRA_ALLOWANCES = 2
"""When a student's notebooks for a lesson have exceeded the allowance by this factor, no more answers are run."""
IN_TEXT_CELL = "is defined in a Markdown or raw cell, which does not run"
NOT_RUN_MESSAGE = "It was not run, because your notebooks for this lesson had already taken more than {seconds:g} s."


class Allowance:
    """The time allowance for all of a student's notebooks for a lesson.

    Args:
        limits: Limits for each exercise. When the allowance is used up, an answer still gets ``MIN_TIME_LIMIT_S``. This
            is enough for a right answer, so an endless loop does not cost points for other exercises.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits, self._seconds = limits, ALLOWANCE_FACTOR * limits.seconds
        self._left = self._seconds

    @property
    def limits(self) -> Limits | None:
        """The limits for the next exercise, or None if it should not run."""
        if self._left < -MAX_EXTRA_ALLOWANCES * self._seconds:
            return None
        # Reserve time for killing the answer, and for running a dependent answer again with the course's part.
        left = self._left - self._limits.grace - MIN_TIME_LIMIT_S
        return replace(self._limits, seconds=min(self._limits.seconds, max(left, MIN_TIME_LIMIT_S)))

    @property
    def is_used_up(self) -> bool:
        """Whether an answer gets only ``MIN_TIME_LIMIT_S``."""
        return self._left <= MIN_TIME_LIMIT_S

    def spend(self, seconds: float) -> None:
        """Subtract time from the allowance."""
        self._left -= seconds

    @property
    def spent(self) -> float:
        """The time used so far."""
        return self._seconds - self._left


def assess(
    submission: Submission,
    allowance: Allowance,
    assess_one: Callable[[Submission, Exercise, Limits, AnswerChoice], GradedExercise],
) -> GradedSubmission:
    """Grade all exercises in one submission.

    If there are several answers to an exercise, the first right answer counts. If a wrong answer uses an earlier wrong
    answer from the notebook, it is graded again with the course's answer instead of the earlier answer, so a mistake
    costs points only once. When the allowance is used up, only the first answer is graded, and the course's answers
    replace the earlier answers from the start.

    Args:
        submission: The notebook.
        allowance: The time allowance, shared with the student's other notebooks.
        assess_one: Function that grades one answer to an exercise within the given limits.
    """
    if submission.problem:
        return GradedSubmission(submission, [])
    graded: list[GradedExercise] = []
    for exercise in exercises_of(submission.lesson):

        def attempt(choice: AnswerChoice, exercise: Exercise = exercise) -> GradedExercise:
            if (limits := allowance.limits) is None:
                message = NOT_RUN_MESSAGE.format(seconds=int(allowance.spent))
                return GradedExercise(exercise, Verdict(exercise.name, "crashed", message), 0.0)
            result = assess_one(submission, exercise, limits, choice)
            allowance.spend(result.cost)
            return result

        used = _wrong_parts(submission, exercise, graded)
        result = None if used and allowance.is_used_up else _answer_that_counts(attempt, allowance)
        if result is None or (used and not result.verdict.passed):
            retried = attempt(AnswerChoice(result.answer if result else 0, tuple(part.name for part in used)))
            result = _with_dependency_message(retried, used) if retried.verdict.passed else result or retried
        graded.append(_with_text_cell_message(result, submission))
    return GradedSubmission(submission, graded)


def _with_text_cell_message(graded: GradedExercise, submission: Submission) -> GradedExercise:
    """Add a message to the result of an exercise if only a Markdown or raw cell defines its answer."""
    name, defines = graded.exercise.name, definition_of(graded.exercise.name)
    if graded.verdict.status != "not_started" or not any(map(defines.search, submission.texts)):
        return graded
    message = (
        f"You define `{name}` in a Markdown or raw cell, which does not run. Turn it into a code cell and submit the "
        "notebook again."
    )
    return replace(graded, verdict=replace(graded.verdict, message=message), remarks=[IN_TEXT_CELL])


def _answer_that_counts(attempt: Callable[[AnswerChoice], GradedExercise], allowance: Allowance) -> GradedExercise:
    """Return the first right answer to an exercise, or else the first answer that is more than a stub.

    Answers after the first are tried only within the allowance.
    """
    tried = [attempt(FIRST_ANSWER)]
    while not tried[-1].verdict.passed and len(tried) < tried[0].n_answers and not allowance.is_used_up:
        tried.append(attempt(AnswerChoice(len(tried))))
    return min(tried, key=lambda result: (not result.verdict.passed, result.verdict.status == "not_started"))


def grader_failure(submission: Submission, error: Exception) -> GradedSubmission:
    """Return a result that reports an error in the grader itself."""
    problem = f"The grader failed on this notebook ({type(error).__name__}), so it was not graded."
    return GradedSubmission(replace(submission, problem=submission.problem or problem, written={}), [])


def with_remarks(graded: GradedExercise, library_calls: str) -> GradedExercise:
    """Add the remarks to the feedback.

    Depending on the rules, an answer that calls the function to implement gets no points.

    Args:
        graded: The result.
        library_calls: One of ``class_rules.LIBRARY_CALLS``.
    """
    calls = [remark for remark in graded.remarks if remark.startswith("calls ")]
    if library_calls == "full":
        graded = replace(graded, remarks=[remark for remark in graded.remarks if remark not in calls])
    remarks = [f"Remark: your answer {remark}." for remark in graded.remarks if remark != IN_TEXT_CELL]
    message = "\n".join([graded.verdict.message, *remarks])
    if library_calls == "none" and calls:
        message = f"The numbers are right, but your answer {join_words(calls)}, so it gets no points."
        return replace(graded, verdict=replace(graded.verdict, status="wrong", message=message), n_right=0)
    return replace(graded, verdict=replace(graded.verdict, message=message))


def _wrong_parts(submission: Submission, exercise: Exercise, earlier: Sequence[GradedExercise]) -> list[Exercise]:
    """Return the earlier exercises with wrong answers on which an answer depends, directly or indirectly.

    The instructor's own exercises are excluded, because their references never enter the sandbox.
    """
    text = answer_text(submission.cells, exercise.name)
    used = []
    for result in reversed(earlier):
        if re.search(rf"\b{result.exercise.name}\b", text):
            text += f"\n{answer_text(submission.cells, result.exercise.name)}"
            used.append(result)
    return [result.exercise for result in reversed(used) if not result.verdict.passed and not is_own(result.exercise)]


def _with_dependency_message(graded: GradedExercise, parts: Sequence[Exercise]) -> GradedExercise:
    """Add a message about the parts on which the answer depends."""
    names = " and ".join(f"`{part.name}`" for part in parts)
    message = f"Your answer is right with the course's {names} instead of yours, so it gets full points."
    return replace(graded, verdict=replace(graded.verdict, message=f"{message}\n{graded.verdict.message}"))


def assess_exercise(
    submission: Submission, exercise: Exercise, sandbox: Sandbox, seed: int, choice: AnswerChoice = FIRST_ANSWER
) -> GradedExercise:
    """Grade one answer to an exercise in a submission.

    Args:
        submission: The notebook.
        exercise: The exercise.
        sandbox: The sandbox, which receives the cases but never the seed.
        seed: Random seed for the cases.
        choice: The answer to run.
    """
    job, outcome = run_answer(submission, exercise, sandbox, seed, choice)
    return judge_answer(exercise, job, outcome, sandbox, seed)
