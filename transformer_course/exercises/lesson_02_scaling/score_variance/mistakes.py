"""What goes wrong when the variance of a score is worked out."""

import math

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.score_variance.answer import STEPS

OF_A_PRODUCT = (
    "If every q and k is doubled, by how much does the product q·k grow? And its variance?",
    "Var(q·k) = E[q²] E[k²] for independent q and k with mean 0.",
    "Each of the two factors brings the variance in once: σ² · σ².",
)
OF_A_SUM = (
    "By how much does the variance of a sum grow with each further independent term?",
    "At d_k = 4 and variance 1 the answer is 4; at d_k = 2 and variance 3 it is 18.",
    "d_k equal terms, added up: multiply by d_k, once.",
)

MISTAKES = [
    Mistake(
        "forgets_that_two_are_multiplied",
        STEPS.but(of_a_product=lambda variance: variance),
        does="a product of two numbers is given the variance of one of them",
    ),
    Mistake(
        "adds_the_two_variances",
        STEPS.but(of_a_product=lambda variance: variance + variance),
        does="the variance is added to itself, not multiplied by itself",
        says=(
            "The variances of q and k are added. That would be right for the sum q + k; here the two are multiplied. "
            "Look at a single product."
        ),
        hints=OF_A_PRODUCT,
    ),
    Mistake(
        "forgets_the_variance",
        STEPS.but(of_a_product=lambda: 1.0),
        does="the argument `variance` is not used",
    ),
    Mistake(
        "root_of_the_variance",
        STEPS.but(of_a_product=lambda variance: variance**0.5),
        does="the root of the variance is taken, not its square",
        says=(
            "A product of two numbers is given the *root* of the variance, which is the standard deviation of one of "
            "them. Look at a single product."
        ),
        hints=OF_A_PRODUCT,
    ),
    Mistake(
        "takes_it_for_a_deviation",
        STEPS.but(of_a_product=lambda variance: variance**4),
        STEPS.but(of_a_product=lambda variance: variance**3),
        does="`variance` is multiplied by itself too often",
        says=(
            "`variance` is multiplied by itself too often, as if it were a standard deviation. Look at what the "
            "argument is."
        ),
        hints=["σ is the standard deviation, σ² the variance. Which one is given?"],
    ),
    Mistake(
        "caret",
        STEPS.but(of_a_product=lambda variance: variance ^ 2),
        does="`^` is written for a power",
        says="In Python `^` is no power: it compares the bits of two whole numbers, and crashes at a float.",
        hints=["How does Python write 3 to the power of 2?"],
    ),
    Mistake(
        "spread_of_a_sum_of_entries",
        STEPS.but(total=lambda d_k, variance: math.sqrt(d_k * variance)),
        does="the root is taken of d_k times the variance of one entry",
        says=(
            "The root of d_k times the variance of *one entry* is the standard deviation of a sum of d_k entries. A "
            "score is a sum of products, of two entries each, and its variance is asked for."
        ),
        hints=OF_A_PRODUCT,
    ),
    Mistake(
        "forgets_the_width",
        STEPS.but(count=lambda: 1),
        does="the result does not depend on `d_k`",
    ),
    Mistake(
        "off_by_one",
        STEPS.but(count=lambda d_k: d_k - 1),
        STEPS.but(count=lambda d_k: d_k + 1),
        does="one product too few or too many is counted",
    ),
    Mistake(
        "adds_deviations",
        STEPS.but(count=lambda d_k: d_k**2),
        does="`d_k` is squared",
        says=(
            "The variance grows with d_k², as if all the products always pushed the same way. They are independent: "
            "some are positive, some negative. Look at what adds up."
        ),
        hints=["Of 100 throws of a coin (+1 or -1), is the typical sum near 100 or near 10?"],
    ),
    Mistake(
        "divides_by_the_width",
        STEPS.but(count=lambda d_k: 1 / d_k),
        STEPS.but(count=lambda d_k: d_k**-0.5),
        does="the result shrinks with the width, where it should grow",
        says=(
            "The wider the vectors, the smaller the result: something is divided by the width. A score is a sum, not "
            "a mean."
        ),
        hints=OF_A_SUM,
    ),
    Mistake(
        "adds_the_width",
        STEPS.but(total=lambda of_a_product, count: of_a_product + count),
        does="`d_k` is added, not multiplied",
    ),
    Mistake(
        "multiplies_the_terms",
        STEPS.but(total=lambda of_a_product, count: of_a_product**count),
        does="the variance of a product is raised to the power of d_k",
        says=(
            "The variance of one product is raised to the power of d_k, as if the products were multiplied by each "
            "other. A score adds them up."
        ),
        hints=OF_A_SUM,
    ),
    Mistake(
        "whole_numbers_only",
        STEPS.but(of_the_score=lambda total: int(total)),
        STEPS.but(of_the_score=lambda total: round(total)),
        STEPS.but(of_the_score=lambda total: total // 1),
        STEPS.but(of_the_score=lambda total: float(round(total))).attempt,
        does="the result is made a whole number",
        says="{does}. A variance is any number from 0 on.",
        hints=["Print the result for d_k = 1 and variance 1.5. What should it be?"],
    ),
]
