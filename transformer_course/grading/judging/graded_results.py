"""The results of grading: verdicts and points for exercises and notebooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.sandbox.exit_reasons import KILLED_REASONS, WHILE_OTHERS_RAN, explain_exit
from transformer_course.sandbox.resource_limits import Limits


@dataclass(frozen=True)
class GradedExercise:
    """One exercise in one submission, with its verdict.

    Args:
        exercise: The exercise.
        verdict: The verdict on the learner's answer.
        seconds: Wall-clock time of the answer in the sandbox.
        n_right: Number of passed cases. In a passed case, all observations are right.
        n_cases: Number of cases, or 0 if no case was judged.
        cost: Total time in seconds for running (minus waiting for other processes), judging and tracing.
        remarks: Remarks for the instructor, such as that the answer calls the function to implement.
        answer: The index of this answer among the notebook's answers.
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
        """All points of the exercise if the answer passed, or else 0."""
        return self.exercise.points if self.verdict.passed else 0

    @property
    def ended_by_others(self) -> str:
        """The reason for a missing result that the answer may not have caused, or an empty string."""
        if any(self.verdict.message.startswith(explain_exit(reason, Limits())) for reason in KILLED_REASONS):
            return "was killed, perhaps because the system ran out of memory"
        return "got too little CPU time" if WHILE_OTHERS_RAN in self.verdict.message else ""


@dataclass(frozen=True)
class Attempt:
    """A student's results for a lesson from one run, which may include several notebooks.

    Args:
        lesson: The lesson under which the attempt is stored, or empty if the lesson is unknown.
        key: A key that is unique among the student's attempts at the lesson.
        student: The name of the student under which the attempt is stored.
    """

    lesson: str = ""
    key: str = ""
    student: str = ""


@dataclass(frozen=True)
class GradedSubmission:
    """A submission with the verdicts on its exercises.

    Args:
        submission: The notebook.
        exercises: The graded exercises in lesson order; empty if the notebook cannot be graded.
        isolation: The level of isolation for its code: ``full``, ``shared user`` or ``none``.
        notes: Notes for the instructor.
        fingerprint: The hashes of its token runs, for comparing submissions.
        answers: The source of the cell that defines each answer, keyed by exercise, for the feedback.
        attempt: The attempt to which the submission belongs.
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
        """The notebook's lesson, or else the lesson under which the file is stored, or empty."""
        return self.submission.lesson or self.attempt.lesson

    @property
    def points(self) -> int:
        """The points for core exercises."""
        return sum(result.points for result in self.exercises if not result.exercise.stretch)

    @property
    def bonus(self) -> int:
        """The bonus points for stretch exercises."""
        return sum(result.points for result in self.exercises if result.exercise.stretch)
