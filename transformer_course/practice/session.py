"""The functions that a practice notebook uses: ``begin``, ``check``, ``hint``, ``solution``, ``ask`` and ``score``."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from transformer_course.checking.message_panel import Panel
from transformer_course.checking.verdict import Verdict
from transformer_course.lesson import notebook
from transformer_course.lesson_folder import published_lessons
from transformer_course.practice.material import Question, read_material
from transformer_course.practice.question_widget import QuestionWidget
from transformer_course.practice.schedule import cards, days_until_due
from transformer_course.workspace import saved_parts
from transformer_course.workspace.progress import Review, read_progress, record_review

__all__ = ["ask", "begin", "check", "hint", "score", "solution"]


class PracticeSession:
    """State of a practice session: ratings, mistakes, help and time.

    Args:
        shell: IPython shell of the notebook, or None outside a notebook.
        n_exercises: Number of exercises.
        minutes: Time limit in minutes, or None for no limit.
    """

    def __init__(self, shell: Any = None, n_exercises: int = 0, minutes: float | None = None) -> None:
        self.shell, self.n_exercises, self.minutes = shell, n_exercises, minutes
        self._start = time.monotonic()
        self.ratings: dict[str, str] = {}
        """Ratings by exercise or question, in the order of rating."""
        self.mistakes: dict[str, list[str]] = {}
        """Mistakes that failed checks reported, keyed by exercise. The list is empty if no mistake was recognized."""
        self.helped: set[str] = set()
        """Exercises for which a hint or a solution was shown."""

    @property
    def minutes_used(self) -> float:
        """Minutes since the session started."""
        return (time.monotonic() - self._start) / 60

    @property
    def clock(self) -> str:
        """The time used, and the time limit if there is a limit."""
        used = int(self.minutes_used)
        if self.minutes is None:
            return f"{used} {'minute' if used == 1 else 'minutes'}"
        return f"{used} of {self.minutes:g} minutes"

    def rate(self, card: str, rating: str) -> str:
        """Record a card's first rating in this session. Return a message with its due date, or the recording error."""
        if card in self.ratings:
            return ""
        self.ratings[card] = rating
        folder = saved_parts.record_folder(self.shell)
        if folder is None:
            return "This is not recorded because there is no lesson folder."
        now = datetime.now(UTC)
        try:
            record_review(folder, Review(card, rating, now))
            days = days_until_due(cards(read_progress(folder))[card], now)
        except OSError as error:
            return f"This could not be recorded: {error}."
        return f"It comes back {'tomorrow' if days <= 1 else f'in {days} days'}."

    def judge(self, verdict: Verdict) -> Verdict:
        """Record a check's verdict and return the verdict, with the effect on the schedule in its message."""
        name = verdict.exercise
        if not verdict.passed:
            if verdict.status != "not_started":
                named = self.mistakes.setdefault(name, [])
                named += [mistake for mistake in verdict.mistakes if mistake not in named]
            return verdict
        rating = "again" if name in self.helped else "hard" if name in self.mistakes else "good"
        lines = [f"All cases passed after {self.clock}.", self.rate(name, rating)]
        return replace(verdict, message="\n".join(filter(None, lines)))

    def report(self) -> Panel:
        """Return the score of the session and the reported mistakes."""
        exercises = {name: rating for name, rating in self.ratings.items() if not name.startswith("question-")}
        n_exercises = max(self.n_exercises, len(exercises))
        n_first = sum(rating == "good" for rating in exercises.values())
        lines = [f"Exercises: {len(exercises)} of {n_exercises} passed, {n_first} of them on the first check."]
        n_questions = len(self.ratings) - len(exercises)
        if n_questions:
            known = sum(self.ratings[card] in ("good", "easy") for card in self.ratings if card not in exercises)
            lines.append(f"Questions: {known} of {n_questions} known.")
        for name, named in self.mistakes.items():
            if named:
                words = ", ".join(mistake.replace("_", " ") for mistake in named)
                lines.append(f"Mistakes in `{name}`: {words}.")
        if self.minutes is not None and self.minutes_used > self.minutes:
            lines.append("You took longer than planned.")
        return Panel(f"Practice: {self.clock}", "\n".join(lines), "good" if len(exercises) == n_exercises else "help")


_sessions: list[PracticeSession] = []


def begin(n_exercises: int = 0, minutes: float | None = None) -> None:
    """Start a session and its clock.

    Args:
        n_exercises: Number of exercises.
        minutes: Time limit in minutes, or None for no limit.
    """
    _sessions[:] = [PracticeSession(notebook.current_session().shell, n_exercises, minutes)]
    if minutes is not None:
        end = datetime.now().astimezone().timestamp() + 60 * minutes
        print(f"You have {minutes:g} minutes, until {datetime.fromtimestamp(end):%H:%M}.")


def current() -> PracticeSession:
    """Return the current session, starting one if necessary."""
    if not _sessions:
        begin()
    return _sessions[-1]


def check(attempt: Any, name: Any = None) -> Verdict:
    """Check an answer as in a lesson, and schedule the exercise. Your saved parts do not change."""
    practice, lesson = current(), notebook.current_session()
    practice.helped |= {exercise for exercise, given in lesson.hints_given.items() if given.n_given}
    verdict = practice.judge(lesson.check_only(attempt, name))
    notebook.show(verdict)
    return verdict


def hint(attempt: Any, name: Any = None) -> Panel:
    """Return the next hint. You will then practice this exercise again soon."""
    return notebook.hint(attempt, name)


def solution(attempt: Any, name: Any = None) -> Panel:
    """Return a correct answer. You will then practice this exercise again soon."""
    with contextlib.suppress(Exception):
        current().helped.add(name if isinstance(name, str) else attempt.__name__)
    return notebook.solution(attempt, name)


def ask(*questions: str) -> QuestionWidget:
    """Ask questions one at a time. Click to show the answer, then rate how well you knew it.

    Args:
        questions: Names of the questions.
    """
    by_card = {question.card: question for question in read_material(published_lessons()).questions}
    known: Sequence[Question] = [by_card[card] for card in questions if card in by_card]
    return QuestionWidget(known, current().rate)


def score() -> Panel:
    """Return a summary of the session: passed exercises, time and reported mistakes."""
    panel = current().report()
    notebook.show(panel)
    return panel
