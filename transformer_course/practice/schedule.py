"""Compute when an exercise or a question is due again, with FSRS, the Free Spaced Repetition Scheduler.

FSRS uses a card's ratings to estimate how fast the learner forgets the card. It schedules the next review for the day
when the probability of recall falls to 90 %: https://github.com/open-spaced-repetition. Only the reviews are stored.
The state of a card is computed from its reviews.
"""

from datetime import datetime

from fsrs import Card, Rating, Scheduler

from transformer_course.workspace.progress import Progress

SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
"""Scheduler without minute-long learning steps, because sessions are daily, and without randomized intervals."""
FIRST_PASS = "good"
"""Rating recorded when an exercise passes in its lesson."""


def cards(progress: Progress) -> dict[str, Card]:
    """Return the cards of all passed exercises and all rated questions, keyed by name.

    An exercise enters the schedule when it passes in its lesson. A question enters when it is first rated.
    """
    reviews = [(when, exercise, FIRST_PASS) for exercise, when in progress.passed.items()]
    reviews += [(review.when, review.card, review.rating) for review in progress.reviews]
    states: dict[str, Card] = {}
    for when, name, rating in sorted(reviews):
        card = states.get(name) or Card(card_id=len(states) + 1)
        states[name], _ = SCHEDULER.review_card(card, Rating[rating.capitalize()], when)
    return states


def is_due(card: Card, now: datetime) -> bool:
    """Return whether a card is due today in the local time zone."""
    return card.due.astimezone().date() <= now.astimezone().date()


def days_until_due(card: Card, now: datetime) -> int:
    """Return the number of days until a card is due in the local time zone."""
    return (card.due.astimezone().date() - now.astimezone().date()).days


def recall(card: Card, now: datetime) -> float:
    """Return the estimated probability that the learner still remembers a card."""
    return SCHEDULER.get_card_retrievability(card, now)
