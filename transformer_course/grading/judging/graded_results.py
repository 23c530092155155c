"""The results of grading: verdicts and points of exercises and notebooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.sandbox.exit_reasons import KILLED_REASONS, WHILE_OTHERS_RAN, explain_exit
from transformer_course.sandbox.resource_limits import Limits


@dataclass(frozen=True)
class GradedExercise:
    """One exercise of one submission, with its verdict.

    Args:
        exercise: The exercise.
        verdict: The verdict on the learner's answer.
        seconds: Wall-clock time of the answer in the sandbox.
        n_right: Number of passed cases, in which all observations are right.
        n_cases: Number of cases, or 0 if none was judged.
        cost: Total time in seconds for running (minus the time used by others), judging and tracing.
        remarks: Remarks for the instructor: the answer calls the function to implement, or is the course's solution.
        answer: The number of this answer among the notebook's answers.
        n_answers: Number of answers to the exercise in the notebook.
        cell: The index of the cell that defines the answer, or None.
    """

    exercise: Exercise
    verdict: Verdict
    seconds: float
    n_right: int = 0
    n_cases: int = 0
    cost: float = 0.0
    remarks: Sequence[str] = ()
    answer: int = 0
    n_answers: int = 1
    cell: int | None = None

    @property
    def points(self) -> int:
        """The points earned: all points of the exercise, or none."""
        return self.exercise.points if self.verdict.passed else 0

    @property
    def ended_by_others(self) -> str:
        """The reason why there is no result, if that may not be the answer's fault; otherwise empty."""
        if any(self.verdict.message.startswith(explain_exit(reason, Limits())) for reason in KILLED_REASONS):
            return "was killed, as happens when a system runs out of memory"
        return "got too little CPU time" if WHILE_OTHERS_RAN in self.verdict.message else ""


@dataclass(frozen=True)
class Attempt:
    """A student's results for a lesson from one run, which may include several notebooks.

    Args:
        lesson: The lesson that it is stored with, or empty if it is unknown.
        key: Unique key among the student's attempts at the lesson.
        student: The name under which it is stored.
    """

    lesson: str = ""
    key: str = ""
    student: str = ""


@dataclass(frozen=True)
class GradedSubmission:
    """A submission with the verdicts on its exercises.

    Args:
        submission: The notebook.
        exercises: Its exercises in lesson order; empty if the notebook cannot be graded.
        isolation: The level of isolation of its code: ``full``, ``shared user`` or ``none``.
        notes: Notes for the instructor.
        fingerprint: The hashes of its token runs, for comparing submissions.
        answers: The source of the cell that defines each answer, by exercise, for the feedback.
        attempt: The attempt that it belongs to.
    """

    submission: Submission
    exercises: Sequence[GradedExercise]
    isolation: str = ""
    notes: Sequence[str] = ()
    fingerprint: frozenset[int] = frozenset()
    answers: Mapping[str, str] = field(default_factory=dict)
    attempt: Attempt = Attempt()

    @property
    def lesson(self) -> str:
        """The lesson of the notebook, or the lesson that a file without one is stored with, or empty."""
        return self.submission.lesson or self.attempt.lesson

    @property
    def points(self) -> int:
        """The points for core exercises."""
        return sum(one.points for one in self.exercises if not one.exercise.stretch)

    @property
    def bonus(self) -> int:
        """The points for stretch exercises, which are a bonus."""
        return sum(one.points for one in self.exercises if one.exercise.stretch)
