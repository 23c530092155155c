"""What grading gives: the verdict and the points of an exercise, and those of a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.grading.incoming.submissions import Submission
from transformer_course.sandbox.exit_reasons import KILLED_REASONS, WHILE_OTHERS_RAN, explain_exit
from transformer_course.sandbox.resource_limits import Limits


@dataclass(frozen=True)
class GradedExercise:
    """One exercise of one submission, with its verdict.

    Args:
        exercise: The exercise.
        verdict: The verdict on the learner's answer.
        seconds: Wall-clock time of the answer in the sandbox.
        n_right: Number of cases in which everything observed is right; if it passed, all of them.
        n_cases: Number of cases; 0 where none was judged.
        cost: Seconds that it took in all: in the sandbox, less those of others, to be judged, and to be traced.
        remarks: What the instructor may want to check: that the answer calls the function to implement, or is the
            course's solution.
        answer: The number of this answer among those of the notebook.
        n_answers: Number of answers to the exercise that the notebook has.
        cell: The index of the cell that defines the answer; None if no cell does.
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
        """The points earned: all of the exercise's, or none."""
        return self.exercise.points if self.verdict.passed else 0

    @property
    def ended_by_others(self) -> str:
        """Why there is no answer, where that may be no fault of it; empty otherwise."""
        if any(self.verdict.message.startswith(explain_exit(reason, Limits())) for reason in KILLED_REASONS):
            return "was killed, as happens when a system runs out of memory"
        return "got too little processor time" if WHILE_OTHERS_RAN in self.verdict.message else ""


@dataclass(frozen=True)
class Attempt:
    """What one run found of one student and lesson; several notebooks may be in it.

    Args:
        lesson: The lesson that it is kept with; empty if that is not known.
        key: Tells it from the student's other attempts at the lesson.
        student: The name under which it is kept.
    """

    lesson: str = ""
    key: str = ""
    student: str = ""


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
        attempt: The attempt that it is a part of.
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
        """The lesson of the notebook, or the one that a file without a lesson was kept with; empty if unknown."""
        return self.submission.lesson or self.attempt.lesson

    @property
    def points(self) -> int:
        """The points of its core exercises."""
        return sum(one.points for one in self.exercises if not one.exercise.stretch)

    @property
    def bonus(self) -> int:
        """The points of its stretch exercises, which come on top."""
        return sum(one.points for one in self.exercises if one.exercise.stretch)
