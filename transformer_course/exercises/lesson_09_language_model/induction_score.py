"""Find induction heads, which attend to the token that followed the previous occurrence of the current token."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def induction_score(weights: Float[Tensor, "batch n_heads n n"], period: int) -> Float[Tensor, " n_heads"]:
    """Return each head's mean weight on the token that followed the current token one period earlier."""
    followed = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # query i, key i − period + 1, for i ≥ period − 1
    return followed[..., 1:].mean(dim=(0, -1))  # the first of these queries is still in the first period


def distance(period):
    """subtract 1 from the period → the distance to the copied token: period − 1"""
    return period - 1


def followed(weights, distance):
    """take one diagonal of each head's weights → the weights on the copied token, (batch, n_heads, n − distance)"""
    return weights.diagonal(-distance, dim1=-2, dim2=-1)


def repeated(followed):
    """leave out the first query of the diagonal → the weights of the repeated tokens"""
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
        case(2, 3, 11, 4, "2 texts of 11 tokens, 3 heads, period 4: the last period is incomplete"),
        case(2, 4, 9, 5, "2 texts of 9 tokens, 4 heads, period 5: less than two periods"),
        case(5, 3, 26, 7, "5 texts of 26 tokens, 3 heads, period 7"),
    ]


def hits(weights, period):
    """Return 1 where the token to copy has the largest weight, and 0 elsewhere."""
    largest = weights[:, :, period:].argmax(dim=-1)
    return (largest == torch.arange(1, largest.shape[-1] + 1)).to(weights.dtype)


MISTAKES = [
    Mistake(
        "the_same_token",
        STEPS.but(distance=lambda period: period, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period),
        summary="you measure the weight on the *same* token, one period earlier",
        message=(
            "{summary}. To copy, a head must attend to the token *after* that one. How many positions before the "
            "query is the token to copy?"
        ),
        hints=[
            "A sequence of period 3 begins with A B C A. Which position should an induction head attend to at the "
            "last A?",
        ],
    ),
    Mistake(
        "one_before",
        STEPS.but(distance=lambda period: period + 1, repeated=lambda followed: followed),
        STEPS.but(distance=lambda period: period + 1),
        STEPS.but(
            distance=lambda period: period + 1,
            repeated=lambda followed: torch.nn.functional.pad(followed, (1, 0)),
        ),
        summary="you measure the weight on the token *before* the previous occurrence",
        message=(
            "{summary}. The token to copy comes *after* the previous occurrence. How many positions before the query "
            "is that token?"
        ),
        hints=[
            "A sequence of period 3 begins with A B C A B. Which position should an induction head attend to at the "
            "last B?",
        ],
    ),
    Mistake(
        "mean_over_all_queries",
        STEPS.but(score=lambda repeated, weights: repeated.sum(dim=-1).mean(dim=0) / weights.shape[-1]),
        summary="you divide by the number of all queries, including those with nothing to copy",
        message="{summary}, so no head can reach a score of 1. How many queries are in your sum?",
        hints=["A sequence of 8 tokens has period 4. How many queries have something to copy?"],
    ),
    Mistake(
        "counts_the_largest_weights",
        STEPS.but(repeated=lambda weights, period: hits(weights, period)),
        summary="you count how often the token to copy gets the largest weight",
        message=(
            "{summary}, so a weight of 0.4 counts as 1 or 0. The score is the mean of the weights themselves. Which "
            "weight should you read for each query?"
        ),
        hints=["A head gives the token to copy a weight of 0.4 and every other token less. What is its score?"],
    ),
    Mistake(
        "last_query_left_out",
        STEPS.but(repeated=lambda repeated: repeated[..., :-1]),
        summary="you leave out the last query",
        message="{summary}, although that query also has a token to copy. At which query does your mean end?",
        hints=["A sequence of 6 tokens has period 3. Which three positions have something to copy?"],
    ),
    Mistake(
        "first_text_only",
        STEPS.but(weights=lambda weights: weights[:1]),
        summary="you use only the first sequence of the batch",
        message=(
            "{summary}, but each head's score is a mean over all sequences. Which dimension of `weights` is the batch?"
        ),
        hints=["Does your score change if the second sequence of a batch changes?"],
    ),
]


EXERCISE = Exercise(
    reference=induction_score,
    steps=STEPS,
    cases=induction_score_cases,
    points=2,
    verified=(
        "Your score is each head's mean weight on the token to copy, so you can find induction heads in any model."
    ),
    hints=[
        "Write a sequence of period 3 by hand: A B C A B C. Which key should an induction head attend to at position "
        "3?",
        "The weights of query i on key i − period + 1 are a diagonal of each head's table. `weights.diagonal(k, "
        "dim1=-2, dim2=-1)` takes the diagonal k columns to the right of the main one, or to its left if k < 0.",
        "That diagonal begins at key 0 and query period − 1. This query is still in the first period, where there is "
        "nothing to copy: leave it out, and take the mean over sequences and queries.",
    ],
    messages={
        "left_out_repeated: followed": Wording(
            "Your mean includes the query at position `period` − 1. That query is still in the first period, so it "
            "has nothing to copy. Which query is the first that can copy a token?",
            summary="your mean includes a query that is still in the first period",
            hints=["A sequence of period 3 begins with A B C A. Which token is the first that has appeared before?"],
        ),
        "part_left_out_distance": Wording(
            "{summary}, which is the score of a previous-token head. With a period of 3, how many positions before "
            "the query is the token to copy?",
            summary="you measure the weight on the position just before the query",
            hints=[
                "A sequence of period 3 begins with A B C A. Which position should an induction head attend to at the "
                "last A?",
            ],
        ),
        "sign_followed": (
            Wording(
                "You read the weights above the main diagonal, on *later* tokens. A causal head never attends to "
                "later tokens, so all your scores are 0. Which dimension of the weights is the query, and which is "
                "the key?",
                summary="you read the weights on later tokens",
                hints=["In the table of a causal head, on which side of the main diagonal are all weights 0?"],
            )
        ),
        "slice_repeated: followed[..., 2:]": Wording(
            "{summary}, so the first query with a token to copy doesn't count. How many queries on the diagonal are "
            "in the first period?",
            summary="you leave out two queries of the diagonal instead of one",
        ),
        "slice_repeated: followed[..., :-1]": Wording(
            "{summary}. The first query is still in the first period, so it has nothing to copy. Which end of the "
            "diagonal should you cut off?",
            summary="you leave out the last query of the diagonal instead of the first",
        ),
        "sibling_score: repeated.sum(dim=(0, -1))": Wording(
            "{summary}, so longer sequences give larger scores. What score should a head get if it puts all its "
            "weight on the token to copy?",
            summary="you add up the weights instead of averaging them",
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
