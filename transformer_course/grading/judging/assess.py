"""Grade the exercises of a notebook one after the other, within the time allowance of the student's notebooks."""

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

ALLOWANCE_LIMITS = 2
"""Allowance for all exercises of a lesson in all of a student's notebooks, as a multiple of the limit of one."""
MAX_EXTRA_ALLOWANCES = 2
"""After this many more allowances, the rest of a student's notebooks of a lesson is not run."""
IN_TEXT_CELL = "is defined in a text cell, which does not run"
NOT_RUN_MESSAGE = "It was not run: by then, your notebooks of this lesson had already taken more than {seconds:g} s."


class Allowance:
    """The time allowance of all of a student's notebooks of a lesson.

    Args:
        limits: Limits of each exercise. When the allowance is used up, an answer still gets ``MIN_TIME_LIMIT_S``, which
            is enough for a right answer, so an endless loop does not cost points for other exercises.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits, self._seconds = limits, ALLOWANCE_LIMITS * limits.seconds
        self._left = self._seconds

    @property
    def limits(self) -> Limits | None:
        """The limits of the next exercise, or None if it should not run."""
        if self._left < -MAX_EXTRA_ALLOWANCES * self._seconds:
            return None
        # Killing an answer may take a while, and a dependent answer runs again with the course's part.
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
    """Grade all exercises of one submission.

    If there are several answers to an exercise, the first right answer counts. If a wrong answer uses an earlier wrong
    answer from the notebook, it is graded again with the course's answer in place of the earlier one, so a mistake
    costs points only once. When the allowance is used up, only the first answer is graded, immediately with the
    course's answers.

    Args:
        submission: The notebook.
        allowance: The time allowance, shared with the student's other notebooks.
        assess_one: Function that grades one answer to an exercise of a submission within limits.
    """
    if submission.problem:
        return GradedSubmission(submission, [])
    graded: list[GradedExercise] = []
    for exercise in exercises_of(submission.lesson):

        def attempt(choice: AnswerChoice, exercise: Exercise = exercise) -> GradedExercise:
            if (limits := allowance.limits) is None:
                message = NOT_RUN_MESSAGE.format(seconds=int(allowance.spent))
                return GradedExercise(exercise, Verdict(exercise.name, "crashed", message), 0.0)
            one = assess_one(submission, exercise, limits, choice)
            allowance.spend(one.cost)
            return one

        used = _wrong_parts(submission, exercise, graded)
        one = None if used and allowance.is_used_up else _answer_that_counts(attempt, allowance)
        if one is None or (used and not one.verdict.passed):
            mended = attempt(AnswerChoice(one.answer if one else 0, tuple(part.name for part in used)))
            one = _once_mended(mended, used) if mended.verdict.passed else one or mended
        graded.append(_with_hint_at_text_cell(one, submission))
    return GradedSubmission(submission, graded)


def _with_hint_at_text_cell(graded: GradedExercise, submission: Submission) -> GradedExercise:
    """Return the result of an exercise, with a message if only a text cell defines its answer."""
    name, defines = graded.exercise.name, definition_of(graded.exercise.name)
    if graded.verdict.status != "not_started" or not any(map(defines.search, submission.texts)):
        return graded
    message = (
        f"A text cell defines `{name}`. Text cells do not run: turn it into a code cell and submit the notebook again."
    )
    return replace(graded, verdict=replace(graded.verdict, message=message), remarks=[IN_TEXT_CELL])


def _answer_that_counts(attempt: Callable[[AnswerChoice], GradedExercise], allowance: Allowance) -> GradedExercise:
    """Return the first right answer to an exercise, or else the first answer that is more than a stub.

    Answers after the first are tried only within the allowance.
    """
    tried = [attempt(FIRST_ANSWER)]
    while not tried[-1].verdict.passed and len(tried) < tried[0].n_answers and not allowance.is_used_up:
        tried.append(attempt(AnswerChoice(len(tried))))
    return min(tried, key=lambda one: (not one.verdict.passed, one.verdict.status == "not_started"))


def stumbled_over(submission: Submission, error: Exception) -> GradedSubmission:
    """Return a result that reports that the grader itself failed on a notebook."""
    problem = f"The grader failed on this notebook ({type(error).__name__}), so it was not graded."
    return GradedSubmission(replace(submission, problem=submission.problem or problem, written={}), [])


def with_remarks(graded: GradedExercise, library_calls: str) -> GradedExercise:
    """Add the remarks to the feedback; calling the function to implement may cost the points.

    Args:
        graded: The result.
        library_calls: One of ``class_rules.LIBRARY_CALLS``.
    """
    calls = [remark for remark in graded.remarks if remark.startswith("calls ")]
    if library_calls == "full":
        graded = replace(graded, remarks=[remark for remark in graded.remarks if remark not in calls])
    remarks = [f"Remark: it {remark}." for remark in graded.remarks if remark != IN_TEXT_CELL]
    message = "\n".join([graded.verdict.message, *remarks])
    if library_calls == "none" and calls:
        message = f"The numbers are right, but the answer {join_words(calls)}, so it gets no points."
        return replace(graded, verdict=replace(graded.verdict, status="wrong", message=message), n_right=0)
    return replace(graded, verdict=replace(graded.verdict, message=message))


def _wrong_parts(submission: Submission, exercise: Exercise, earlier: Sequence[GradedExercise]) -> list[Exercise]:
    """Return the earlier exercises with wrong answers that an answer uses, directly or indirectly.

    An instructor's own exercises are excluded, because their references never enter the sandbox.
    """
    text = answer_text(submission.cells, exercise.name)
    used = []
    for one in reversed(earlier):
        if re.search(rf"\b{one.exercise.name}\b", text):
            text += f"\n{answer_text(submission.cells, one.exercise.name)}"
            used.append(one)
    return [one.exercise for one in reversed(used) if not one.verdict.passed and not is_own(one.exercise)]


def _once_mended(graded: GradedExercise, parts: Sequence[Exercise]) -> GradedExercise:
    """Return the result with a message about the parts it depends on."""
    names = " and ".join(f"`{part.name}`" for part in parts)
    message = f"This is right with the course's {names} instead of yours, so it gets full points."
    return replace(graded, verdict=replace(graded.verdict, message=f"{message}\n{graded.verdict.message}"))


def assess_exercise(
    submission: Submission, exercise: Exercise, sandbox: Sandbox, seed: int, choice: AnswerChoice = FIRST_ANSWER
) -> GradedExercise:
    """Grade one answer to an exercise of a submission.

    Args:
        submission: The notebook.
        exercise: The exercise.
        sandbox: The sandbox, which gets the cases but never the seed.
        seed: Seed of the cases.
        choice: Which of the notebook's answers to run.
    """
    job, outcome = run_answer(submission, exercise, sandbox, seed, choice)
    return judge_answer(exercise, job, outcome, sandbox, seed)
