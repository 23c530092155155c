"""Mistakes in the division by the root of d_k: another length, another function of it, or another place."""

import math

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.shared.attention_mistakes.selection import first_of
from transformer_course.steps import InSteps, Step, Variant


def of_the_width(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which another length is taken for d_k."""
    return [
        Mistake(
            "the_whole_shape",
            steps.but(width=lambda queries: queries.shape, divisor=lambda width: math.sqrt(width)).attempt,
            steps.but(width=lambda queries: queries.shape, divisor=lambda width: width**0.5).attempt,
            steps.but(width=lambda queries: queries.size, divisor=lambda width: math.sqrt(width)).attempt,
            steps.but(width=lambda queries: queries.size, divisor=lambda width: width**0.5).attempt,
            says="The root is taken of something that is not a number: it crashes. Look at what stands for d_k.",
            hints=[
                "What are `queries.shape` and `queries.size`?",
                "The lengths of all axes are in it. Which one is d_k?",
                "`queries.shape[-1]`.",
            ],
        ),
    ]


def _constant(number: float) -> Step:
    return lambda: number


def of_the_scaling(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in the division by the root of d_k."""
    name = first_of(steps, "scaled", "scores")

    def scaled(change: Step) -> Variant:
        return steps.but(**{name: change})

    return [
        Mistake(
            "no_scaling",
            scaled(lambda products: products),
            does="the products are not divided by √d_k",
            says="The scores are not scaled: at large d_k most rows put nearly all their weight on one key.",
            hints=["How does the spread of q·k grow with d_k? `score_variance` of lesson 02 says it."],
        ),
        Mistake(
            "divides_by_d_k",
            steps.but(divisor=lambda width: width),
            does="in all, the products are divided by a whole length, and not by its root",
            says=(
                "All in all, the scores are divided by d_k, and not by its root: the weights become more and more "
                "even as d_k grows. Look at how dividing changes a variance."
            ),
            hints=["If all scores are divided by c, what happens to their variance?"],
        ),
        Mistake(
            "power_without_brackets",
            steps.but(divisor=lambda width: 2 * width),
            does="the half in an exponent has no brackets, so that d_k is divided by 2",
            says=(
                "A power of one half is meant, and Python reads something else: `**` binds more tightly than `/`. Look "
                "at what the scores are really divided by."
            ),
            hints=[
                "In a new cell, try `64 ** 1 / 2`. Is it 8?",
                "A power is taken first, then everything else from left to right.",
                "Write the exponent as one number, 0.5, or use `math.sqrt`.",
            ],
        ),
        Mistake(
            "root_of_an_int",
            steps.but(divisor=lambda width: torch.sqrt(width)).attempt,
            does="`torch.sqrt` is given a Python number",
            says=(
                "`torch.sqrt` takes tensors, and a length is an ordinary Python number: it crashes. Look for the root "
                "of a number."
            ),
            hints=[
                "What is the type of `queries.shape[-1]`?",
                "The module `math` has functions for ordinary numbers.",
                "`math.sqrt(…)`, or `** 0.5`.",
            ],
        ),
    ]


def of_scaling_too_early(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which the scores of lesson 01 are scaled or normalised."""
    return [
        Mistake(
            "scaled_too_early",
            steps.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
            does="the scores are divided by √d",
            says=(
                "{does}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked "
                "for."
            ),
            hints=["The formula of this lesson is softmax(q kᵀ)."],
        ),
        Mistake(
            "scaled_by_a_length",
            steps.but(scores=lambda scores, queries: scores / queries.shape[-1]),
            steps.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
            steps.but(scores=lambda scores: scores / scores.shape[-1]).attempt,
            steps.but(scores=lambda scores: scores / scores.shape[-2] ** 0.5).attempt,
            does="the scores are divided by d, or by the number of keys or its root",
            says=(
                "The scores are divided by a length: by d, or by a number of vectors. Here the plain dot products are "
                "asked for. Look for a division, or a mean."
            ),
            hints=["The formula of this lesson is softmax(q kᵀ)."],
        ),
        Mistake(
            "cosines",
            steps.but(scores=lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT),
            steps.but(scores=lambda queries, keys: _unit(queries) @ _unit(keys).mT),
            steps.but(keys=lambda keys: _unit(keys)),
            steps.but(queries=lambda queries: _unit(queries)),
            does="queries or keys are divided by their lengths",
            says="{does}. Here the plain dot products are asked for.",
            hints=["Make a query 10 times longer. Should its weights get sharper?"],
        ),
    ]


def _unit(x):
    """Return vectors of length 1, and nan for vectors of zeros."""
    return x / x.norm(dim=-1, keepdim=True)


def of_values_scaled_too(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which something else is divided by the root of d_k than the scores."""
    return [
        Mistake(
            "scales_the_output",
            steps.but(mixture=lambda mixture, divisor: mixture / divisor).attempt,
            steps.but(mixture=lambda mixture, width: mixture / width).attempt,
            says=(
                "The output is smaller than any weighted average of the values: besides the scores, the weights or "
                "the values are divided too. Look at where the divisions stand."
            ),
            hints=[
                "With a single key, the output should be its value exactly. Is it?",
                "Which numbers grow with d_k: the scores, the weights or the values?",
                "Divide the scores, before the softmax, and nothing else.",
            ],
        ),
    ]
