"""What goes wrong in a softmax at the exponential: with what makes the numbers positive."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.softmax.answer import STEPS

MISTAKES = [
    Mistake(
        "no_exponential_shifted",
        STEPS.but(exponentials=lambda shifted: shifted),
        does="no `exp` is taken of the shifted scores",
    ),
    Mistake(
        "absolute_values",
        STEPS.but(exponentials=lambda scores: scores.abs()),
        STEPS.but(exponentials=lambda scores: scores**2),
        STEPS.but(scores=lambda scores: scores.abs()),
        STEPS.but(scores=lambda scores: scores**2),
        does="negative scores lose their sign, by an absolute value or a square",
        says=(
            "No weight is negative, and -2 gets as much as 2: the sign of the scores is lost. Look for another way to "
            "make the numbers positive."
        ),
        hints=["What are the weights for the scores [2, -2]? Which of the two should be larger?"],
    ),
    Mistake(
        "smallest_first",
        STEPS.but(shifted=lambda scores, largest: largest - scores),
        STEPS.but(shifted=lambda scores: -scores),
        STEPS.but(scores=lambda scores: -scores),
        does="the exponents have the wrong sign",
        says="The smallest score gets the largest weight: {does}. Look at what is subtracted from what.",
        hints=["What are the weights for the scores [0, 1]? Which of the two should be larger?"],
    ),
    Mistake(
        "logarithm",
        STEPS.but(shares=lambda shifted, total: shifted - total.log()),
        STEPS.but(weights=lambda weights: weights.log()),
        does="a logarithm is taken of the result",
        says="These are the logarithms of the weights: all negative. Their `exp` would add up to 1.",
        hints=["Can a weight be negative?"],
    ),
    Mistake(
        "exp_of_a_number",
        STEPS.but(exponentials=lambda scores: math.exp(scores)),
        does="a whole tensor is given where a number is asked for, as by `math.exp`",
        says=(
            "`math.exp` takes a single number, and the scores are a tensor: it crashes. Look for the `exp` that takes "
            "a whole tensor."
        ),
        hints=["The functions of `math` know nothing of tensors. Which module has functions that do?"],
    ),
    Mistake(
        "one_row_number_by_number",
        STEPS.but(
            exponentials=lambda scores: [math.exp(s) for s in scores],
            total=lambda exponentials: sum(exponentials),
            shares=lambda exponentials, total: torch.tensor([e / total for e in exponentials]),
        ),
        STEPS.but(
            exponentials=lambda shifted: [math.exp(s) for s in shifted],
            total=lambda exponentials: sum(exponentials),
            shares=lambda exponentials, total: torch.tensor([e / total for e in exponentials]),
        ),
        STEPS.but(
            exponentials=lambda scores: [math.exp(s) for s in scores],
            total=lambda exponentials: sum(exponentials),
            shares=lambda exponentials, total: [e / total for e in exponentials],
        ),
        does="`math.exp` is taken of one entry of `scores` after another, as if each were a number",
        says=(
            "Scores of a single row are numbers, one after another; of several rows, each entry is a whole row, and "
            "`math.exp` of a row crashes. Look for functions that take a whole tensor."
        ),
        hints=["What is one `s` of `for s in scores` when there are 2 rows?"],
    ),
    Mistake(
        "array_of_numpy",
        STEPS.but(weights=lambda weights: weights.numpy()),
        does="an array of numpy comes out, not a tensor",
        says=(
            "An array of numpy comes out. A tensor is asked for: no gradient can pass through an array, so nothing "
            "before this step could be trained. Look at where the tensor is left."
        ),
        hints=["Which line turns the tensor into an array?"],
    ),
    Mistake(
        "shifted_to_positive",
        STEPS.but(exponentials=lambda scores, axis: scores - scores.amin(dim=axis, keepdim=True)),
        STEPS.but(exponentials=lambda scores: scores - scores.min()),
        does="the smallest score is subtracted so that none is negative, in place of `exp`",
        says=(
            "No weight is negative, and the smallest score gets 0: the smallest is subtracted, and there is no `exp`. "
            "A difference of 1 between two scores should mean a factor of e between their weights."
        ),
        hints=["What are the weights for the scores [0, 1, 2]? How many times as much should 2 get as 1?"],
    ),
    Mistake(
        "another_function",
        STEPS.but(exponentials=lambda scores: torch.relu(scores)),
        STEPS.but(exponentials=lambda scores: torch.sigmoid(scores)),
        STEPS.but(exponentials=lambda scores: torch.nn.functional.softplus(scores)),
        STEPS.but(exponentials=lambda shifted: torch.expm1(shifted)),
        does="another function than `exp` is to make the numbers positive",
        says=(
            "Another function than `exp` is used (`relu`, `sigmoid`, `softplus` or `expm1`). A difference of 1 "
            "between two scores should always mean a factor of e between their weights."
        ),
        hints=["What are the weights for the scores [0, 1] and [1, 2]? They should be the same."],
    ),
    Mistake(
        "sigmoid_of_each",
        STEPS.but(shares=lambda scores: torch.sigmoid(scores)),
        STEPS.but(shares=lambda scores: torch.exp(scores) / (1 + torch.exp(scores))),
        does="each score is put through a sigmoid by itself",
        says=(
            "Each number lies between 0 and 1, and no row adds up to 1: a sigmoid takes each score by itself. The "
            "scores of a row should share 1 between them."
        ),
        hints=["If one score of a row rises, what should become of the other weights? What does?"],
    ),
    Mistake(
        "another_base",
        STEPS.but(exponentials=lambda shifted: 2.0**shifted),
        STEPS.but(exponentials=lambda shifted: 10.0**shifted),
        does="the base of the powers is 2 or 10, not e",
        says=(
            "A difference of 1 between two scores means a factor of 2, or of 10, between their weights. It should be "
            "e. Look at the base of the powers."
        ),
        hints=["How many times as much does the score 1 get as the score 0?"],
    ),
    Mistake(
        "temperature",
        STEPS.but(scores=lambda scores: scores / 2),
        STEPS.but(scores=lambda scores: scores * 2),
        STEPS.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores: scores / scores.shape[-1]),
        STEPS.but(scores=lambda scores: scores / 10),
        STEPS.but(scores=lambda scores: scores / 1000),
        STEPS.but(scores=lambda scores: scores / scores.norm(dim=-1, keepdim=True)),
        STEPS.but(
            scores=lambda scores: (scores - scores.mean(dim=-1, keepdim=True)) / scores.std(dim=-1, keepdim=True)
        ),
        STEPS.but(
            scores=lambda scores: (
                (scores - scores.amin(dim=-1, keepdim=True))
                / (scores.amax(dim=-1, keepdim=True) - scores.amin(dim=-1, keepdim=True))
            )
        ),
        does="the scores are multiplied or divided by a number",
        says=(
            "A difference of 1 between two scores no longer means a factor of e between their weights: the scores are "
            "multiplied or divided by a number first. Look at what is done to the scores."
        ),
        hints=["How many times as much should the score 1 get as the score 0? How many times does it?"],
    ),
    Mistake(
        "softmax_twice",
        STEPS.but(weights=lambda weights: torch.softmax(weights, dim=-1)),
        does="a softmax is taken of the weights once more",
        says="The weights are too even: a softmax has been taken of numbers that are weights already.",
        hints=["What does a softmax make of the weights 1 and 0?"],
    ),
    Mistake(
        "largest_score_only",
        STEPS.but(weights=lambda scores: torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).float()),
        STEPS.but(weights=lambda scores: (scores == scores.amax(-1, keepdim=True)).float()),
        STEPS.but(weights=lambda scores: torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1])),
        STEPS.but(weights=lambda scores: scores.argmax(-1)),
        does="only the largest score counts, as in a hard maximum",
        says=(
            "The largest score gets everything, or is all that is told. Every score should get its share, however "
            "small."
        ),
        hints=["What should the scores [1, 1.1] get? Nearly the same, or everything for one?"],
    ),
]
