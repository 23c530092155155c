"""Select the content of a practice session: material that is due today, chosen lessons, or a random interview mix."""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from fsrs import Card

from transformer_course.practice.material import ExerciseText, Material, Question
from transformer_course.practice.schedule import cards, is_due, recall
from transformer_course.workspace.progress import Progress

N_EXERCISES, N_QUESTIONS = 4, 6
"""Default maximum numbers of exercises and questions in a session."""
INTERVIEW_MINUTES = 45

Each = TypeVar("Each", ExerciseText, Question)


@dataclass(frozen=True)
class Selection:
    """The exercises and questions for a session, in order."""

    exercises: Sequence[ExerciseText]
    questions: Sequence[Question]

    def __bool__(self) -> bool:
        return bool(self.exercises or self.questions)

    def __str__(self) -> str:
        parts = [
            _count(len(self.exercises), "exercise from memory", "exercises from memory"),
            _count(len(self.questions), "question", "questions"),
        ]
        return ", ".join(filter(None, parts))


def _count(n: int, singular: str, plural: str) -> str:
    return f"{n} {singular if n == 1 else plural}" if n else ""


def select_due(
    material: Material,
    progress: Progress,
    now: datetime,
    n_exercises: int = N_EXERCISES,
    n_questions: int = N_QUESTIONS,
) -> Selection:
    """Select the exercises and questions that are due today, most forgotten first, followed by new questions.

    Questions come from lessons with at least one passed exercise. Questions that were rated today count toward
    ``n_questions``, so this argument also limits the number of new questions per day.
    """
    states = cards(progress)
    today = now.astimezone().date()
    rated_today = {review.card for review in progress.reviews if review.when.astimezone().date() == today}
    begun = _lessons_begun(material, progress)
    questions = [question for question in material.questions if question.lesson in begun]
    n_rated_today = sum(question.card in rated_today for question in questions)
    new = [question for question in questions if question.card not in states]
    due_questions = _due(questions, states, now, lambda question: question.card)
    return Selection(
        _due(material.exercises, states, now, lambda exercise: exercise.name)[:n_exercises],
        [*due_questions, *new][: max(0, n_questions - n_rated_today)],
    )


def select_lessons(
    material: Material,
    progress: Progress,
    now: datetime,
    lessons: Collection[str],
    n_exercises: int = N_EXERCISES,
    n_questions: int = N_QUESTIONS,
) -> Selection:
    """Select material from the given lessons. Material never practiced comes first, then the most forgotten."""
    states = cards(progress)
    practiced = {review.card for review in progress.reviews}

    def order(card: str) -> float:
        return recall(states[card], now) if card in states and card in practiced else -1.0

    exercises = sorted((each for each in material.exercises if each.lesson in lessons), key=lambda e: order(e.name))
    questions = sorted((each for each in material.questions if each.lesson in lessons), key=lambda q: order(q.card))
    return Selection(exercises[:n_exercises], questions[:n_questions])


def select_interview(
    material: Material,
    progress: Progress,
    rng: random.Random,
    lessons: Collection[str] = (),
    n_exercises: int = N_EXERCISES,
    n_questions: int = N_QUESTIONS,
) -> Selection:
    """Draw a random mix from the given lessons, or by default from passed exercises and their lessons' questions."""
    exercises = [
        each for each in material.exercises if (each.lesson in lessons if lessons else each.name in progress.passed)
    ]
    begun = lessons or _lessons_begun(material, progress)
    questions = [each for each in material.questions if each.lesson in begun]
    return Selection(
        rng.sample(exercises, min(n_exercises, len(exercises))), rng.sample(questions, min(n_questions, len(questions)))
    )


def _lessons_begun(material: Material, progress: Progress) -> set[str]:
    return {each.lesson for each in material.exercises if each.name in progress.passed}


def _due(material: Sequence[Each], states: dict[str, Card], now: datetime, card: Callable[[Each], str]) -> list[Each]:
    due = [each for each in material if card(each) in states and is_due(states[card(each)], now)]
    return sorted(due, key=lambda each: recall(states[card(each)], now))
