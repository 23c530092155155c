"""What goes wrong when the heads that copy are looked for."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.induction_score.answer import STEPS

MISTAKES = [
    Mistake(
        "the_same_token",
        STEPS.but(distance=lambda period: period, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period),
        does="the weight is that on the *same* token, a period back",
        says=(
            "{does}. To copy, a head has to find what came *after* it. Look at how many positions lie between a query "
            "and that key."
        ),
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
        STEPS.but(distance=lambda: 1, repeated=lambda followed, period: followed[..., period - 1 :]),
        does="the weight is that on the position just before",
        says="That is the score of a previous-token head: {does}, whatever the period is.",
        hints=["Where does `period` enter?"],
    ),
    Mistake(
        "two_periods_left_out",
        STEPS.but(repeated=lambda followed, period: followed[..., period:]),
        does="a whole period of queries is left out, though the diagonal begins near its end",
        says="Too many queries are left out: {does}. Look at which query the first weight of the diagonal belongs to.",
        hints=["With period 3, the first key is position 0. Which query has it three positions back, less one?"],
    ),
    Mistake(
        "divides_by_the_length",
        STEPS.but(score=lambda repeated, weights: repeated.sum(dim=(0, -1)) / weights.shape[0] / weights.shape[-1]),
        does="the sum is divided by all positions of the text",
        says="{does}, also by those that are left out. A head that attends nowhere else should get 1.",
        hints=["How many weights are added up for each head, and by how many are they divided?"],
    ),
    Mistake(
        "of_each_text",
        STEPS.but(score=lambda repeated: repeated.mean(dim=-1)),
        does="every text keeps a score of its own",
        says="{does}. Asked for is one number for each head, over all texts.",
        hints=["Which shape should come out, and which does?"],
    ),
    Mistake(
        "of_all_heads",
        STEPS.but(score=lambda repeated: repeated.mean()),
        does="the mean runs over the heads as well",
        says="One number comes out: {does}. The scores are there to find *which* head it is.",
        hints=["Which axis should be left?"],
    ),
]
