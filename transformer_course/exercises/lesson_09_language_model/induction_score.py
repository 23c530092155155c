"""Find the heads that look for what followed the current token before."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def induction_score(weights: Float[Tensor, "batch n_heads n n"], period: int) -> Float[Tensor, " n_heads"]:
    """Return how much each head attends, on average, to the token that followed the current one a period ago."""
    followed = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # query i, key i − period + 1: from i = period − 1 on
    return followed[..., 1:].mean(dim=(0, -1))  # the first of these queries still stands in the first period


def distance(period):
    """count the positions back to the token that followed → how many positions back that token stands: period − 1"""
    return period - 1


def followed(weights, distance):
    """take a diagonal of each head → the weights on the token that followed, (batch, n_heads, n − distance)"""
    return weights.diagonal(-distance, dim1=-2, dim2=-1)


def repeated(followed):
    """leave out the first query, whose token is new → the weights of the queries whose token occurred before"""
    return followed[..., 1:]


def score(repeated):
    """take the mean over texts and queries → the mean weight of each head, (n_heads,)"""
    return repeated.mean(dim=(0, -1))


STEPS = InSteps(distance, followed, repeated, score, reference=induction_score)


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


MISTAKES = [
    Mistake(
        "the_same_token",
        STEPS.but(distance=lambda period: period, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period),
        summary="the weight is that on the *same* token, a period back",
        message="{summary}. To copy, a head has to find what came *after* it.",
        hints=["Write a text of period 3 by hand: A B C A. Which position does a head at the last A have to find?"],
    ),
    Mistake(
        "one_before",
        STEPS.but(distance=lambda period: period + 1, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period + 1),
        summary="the weight is that on the token *before* the last occurrence",
        message="{summary}. What is to be copied came after it: nearer to the query, not farther away.",
        hints=["Write a text of period 3 by hand: A B C A B. Which position does a head at the last B have to find?"],
    ),
    Mistake(
        "mean_over_all_queries",
        STEPS.but(score=lambda repeated, weights: repeated.sum(dim=-1).mean(dim=0) / weights.shape[-1]),
        summary="the sum is divided by the number of all queries, also of those with nothing to copy",
        message="{summary}. Then no head could reach 1. How many queries stand in the sum?",
    ),
]


EXERCISE = Exercise(
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
    messages={
        "part_left_out_distance": Wording(
            "That is the score of a previous-token head: {summary}, whatever the period is.",
            summary="the weight is that on the position just before",
        ),
        "sign_followed": (
            "All scores are 0, for these weights are on tokens that come *later*, which a causal head cannot see. "
            "Either query and key have changed places, or the number of the diagonal has the wrong sign."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
