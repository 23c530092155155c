"""What goes wrong when the heads that copy are looked for."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.induction_score.answer import STEPS

MISTAKES = [
    Mistake(
        "the_same_token",
        STEPS.but(distance=lambda period: period, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period),
        does="the weight is that on the *same* token, a period back",
        says="{does}. To copy, a head has to find what came *after* it.",
        hints=["Write a text of period 3 by hand: A B C A. Which position does a head at the last A have to find?"],
    ),
    Mistake(
        "one_before",
        STEPS.but(distance=lambda period: period + 1, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period + 1),
        does="the weight is that on the token *before* the last occurrence",
        says="{does}. What is to be copied came after it: nearer to the query, not farther away.",
        hints=["Write a text of period 3 by hand: A B C A B. Which position does a head at the last B have to find?"],
    ),
    Mistake(
        "previous_token",
        STEPS.but(distance=lambda: 1),
        does="the weight is that on the position just before",
        says="That is the score of a previous-token head: {does}, whatever the period is.",
    ),
    Mistake(
        "mean_over_all_queries",
        STEPS.but(score=lambda repeated, weights: repeated.sum(dim=-1).mean(dim=0) / weights.shape[-1]),
        does="the sum is divided by the number of all queries, also of those with nothing to copy",
        says="{does}. Then no head could reach 1. How many queries stand in the sum?",
    ),
]
