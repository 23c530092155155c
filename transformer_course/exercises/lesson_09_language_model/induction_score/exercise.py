"""Find the heads that look for what followed the current token before."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_09_language_model.induction_score.answer import STEPS, induction_score
from transformer_course.exercises.lesson_09_language_model.induction_score.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def induction_score_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n_heads, n, period, shows):
        scores = 2 * normal(rng, batch, n_heads, n, n)
        future = scores.new_ones(n, n).triu(1).bool()
        return Case({"weights": scores.masked_fill(future, -float("inf")).softmax(dim=-1), "period": period}, shows)

    return [
        case(1, 1, 6, 3, "one text of 6 tokens, one head, period 3"),
        case(1, 2, 8, 4, "one text of 8 tokens, 2 heads, period 4"),
        case(3, 2, 7, 2, "3 texts of 7 tokens, 2 heads, period 2"),
        case(2, 3, 11, 4, "2 texts of 11 tokens, 3 heads, period 4: the last period is not complete"),
        case(2, 4, 9, 5, "2 texts of 9 tokens, 4 heads, period 5: less than two periods"),
        case(5, 3, 26, 7, "5 texts of 26 tokens, 3 heads, period 7"),
    ]


INDUCTION_SCORE = Exercise(
    reference=induction_score,
    steps=STEPS,
    cases=induction_score_cases,
    points=2,
    verified="Each head has its mean weight on the token to be copied: induction heads can be found in any model.",
    hints=[
        "Write a text of period 3 by hand: A B C A B C. Which key should an induction head at position 3 attend to?",
        "Query i, key i − period + 1: these weights lie on a diagonal of each head's table. "
        "`weights.diagonal(k, dim1=-2, dim2=-1)` takes that k to the right of the main one, or to its left if k < 0.",
        "The diagonal begins at the key 0, so at the query period − 1. That query is in the first period, and nothing "
        "came before it: leave out this one, and take the mean over texts and queries.",
    ],
    told={
        "sign_followed": (
            "All scores are 0, for these weights are on tokens that come *later*, which a causal head cannot see. "
            "Either query and key have changed places, or the number of the diagonal has the wrong sign."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
