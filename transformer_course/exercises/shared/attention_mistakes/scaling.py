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
            "root_of_the_number_of_keys",
            steps.but(width=lambda keys: keys.shape[-2]),
            does="the number of keys is taken for d_k",
            says=(
                "{does}. How many keys there are has nothing to do with the size of a single score: look at which "
                "length is taken."
            ),
            hints=["How many products are added up in one score?"],
        ),
        Mistake(
            "root_of_the_number_of_queries",
            steps.but(width=lambda queries: queries.shape[-2]),
            does="the number of queries is taken for d_k",
            says="{does}. A score does not know how many other queries there are: look at which length is taken.",
            hints=["How many products are added up in one score?"],
        ),
        Mistake(
            "root_of_the_first_length",
            steps.but(width=lambda keys: len(keys)),
            steps.but(width=lambda queries: len(queries)),
            does="the first length of the queries or keys is taken for d_k",
        ),
        Mistake(
            "root_of_the_second_length",
            steps.but(width=lambda keys: keys.shape[1]),
            steps.but(width=lambda queries: queries.shape[1]),
            does="the length that is taken for d_k is number 1, counted from the front",
            says=(
                "Right for one table; with a batch in front, length number 1 counts vectors or heads, because it is "
                "counted from the front. Look at how the width is found."
            ),
            hints=[
                "Of keys of shape (7, 3, 4), `shape[1]` is 3. Which of the numbers is d_k?",
                "Which index means the last length, however many stand in front?",
            ],
        ),
        Mistake(
            "root_of_d_v",
            steps.but(width=lambda values: values.shape[-1]),
            does="the width of the values is taken for d_k",
            says=(
                "The width of the *values* is taken for d_k. It often equals that of the keys, and then nobody "
                "notices, but the values take no part in the scores."
            ),
            hints=["Which vectors are multiplied in a score?"],
        ),
        Mistake(
            "a_fixed_width",
            steps.but(width=lambda: 64),
            *(steps.but(width=_constant(n)).attempt for n in (8, 512, 1024)),
            does="a fixed number is taken for d_k",
            says=(
                "The divisor is the same number whatever the width of the vectors: a fixed one, or one that another "
                "cell of the notebook has left behind. Look at where the divisor comes from."
            ),
            hints=[
                "Does every name in the function stand for an argument, or for something made inside it?",
                "The width has to be read off the arguments, at every call.",
                "`d_k = queries.shape[-1]`, inside the function.",
            ],
        ),
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
            "averages_the_products",
            steps.but(products=lambda products, queries: products / queries.shape[-1]),
            does="the mean of the products of each query and key is taken, not their sum",
            says=(
                "The products of each query and key are averaged, not added up: that divides every score by the width "
                "once more. Look at how the products become one number."
            ),
            hints=["Which number comes out for the query [1, 1] and the key [1, 1], before it is scaled?"],
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
            "half_of_d_k",
            steps.but(divisor=lambda width: width / 2),
            does="the divisor is half of d_k",
            says="The scores are divided by half of d_k, where its root is wanted. Look at how the divisor is made.",
            hints=["In a new cell, try `64 ** 1 / 2` and `64 / 2`. Is either of them 8?"],
        ),
        Mistake(
            "multiplies_by_the_root",
            scaled(lambda products, divisor: products * divisor),
            does="the products are multiplied by what should divide them",
            says=(
                "The scores are multiplied by √d_k: they get larger instead of smaller. Look at the direction of the "
                "scaling."
            ),
            hints=["Are the scores of wide vectors too large or too small?"],
        ),
        Mistake(
            "multiplies_by_d_k",
            scaled(lambda products, width: products * width),
            does="the products are multiplied by d_k",
            says="The scores are multiplied by d_k: they get larger instead of smaller. Look at what is done with d_k.",
            hints=[
                "Are the scores of wide vectors too large or too small?",
                "By what must numbers of variance d_k be divided to have variance 1?",
                "Divide by √d_k.",
            ],
        ),
        Mistake(
            "another_power",
            steps.but(divisor=lambda width: width**0.25),
            steps.but(divisor=lambda width: width**2),
            steps.but(divisor=lambda width: width ** (1 / 3)).attempt,
            steps.but(divisor=lambda width: math.log(width)).attempt,
            does="the divisor is another power of d_k than its root, or a logarithm",
            says=(
                "The divisor grows with d_k, but not as its square root does. Look at which function of d_k is taken."
            ),
            hints=["What is the divisor at d_k = 4 and at d_k = 16? It should double."],
        ),
        Mistake(
            "rounded_root",
            steps.but(divisor=lambda width: math.isqrt(width)),
            does="the root of d_k is rounded down to a whole number",
            says="Right where d_k is 1, 4, 9, 16 …; elsewhere {does}. Look at how the root is taken.",
            hints=[
                "What is the divisor at d_k = 8?",
                "`int`, `//` and `math.isqrt` drop what stands behind the point.",
                "`math.sqrt(d_k)` or `d_k ** 0.5`.",
            ],
        ),
        Mistake(
            "whole_number_division",
            scaled(lambda products, divisor: products // divisor),
            scaled(lambda products, width: products // width).attempt,
            does="a division rounds the products down to whole numbers",
            says="The scores are rounded down to whole numbers: `//` drops what stands behind the point.",
            hints=[
                "What are `5 // 2` and `5 / 2`?",
                "Look for a division with two strokes.",
                "Divide with a single stroke.",
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
        Mistake(
            "the_measured_spread",
            scaled(lambda products: products / products.std()),
            scaled(lambda products: products / products.std(dim=-1, keepdim=True)),
            does="the scores are divided by their own standard deviation",
            says=(
                "{does}. That comes near √d_k for many scores of random vectors, but it depends on which others are in "
                "the batch, and takes away any sharpness that was learned. The divisor should depend on the width "
                "alone."
            ),
            hints=[
                "If the queries are made 10 times longer, should the weights change? With this divisor they do not."
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
            steps.but(keys=lambda keys: F.normalize(keys, dim=-1)),
            steps.but(queries=lambda queries: F.normalize(queries, dim=-1)),
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
