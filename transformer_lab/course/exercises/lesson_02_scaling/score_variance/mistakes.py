"""What goes wrong when the variance of a score is worked out."""

from transformer_lab.course.exercise import Mistake


def forgets_that_two_are_multiplied(d_k, variance):
    return d_k * variance


def adds_the_two_variances(d_k, variance):
    return d_k * (variance + variance)


def spread_instead_of_variance(d_k, variance):
    return d_k**0.5 * variance


def takes_it_for_a_deviation(d_k, variance):
    return d_k * variance**4


def forgets_the_width(d_k, variance):
    return variance**2


def forgets_the_variance(d_k, variance):
    return d_k


def adds_deviations(d_k, variance):
    return d_k**2 * variance**2


def already_scaled(d_k, variance):
    return d_k**0.5 * variance**2


def whole_numbers_only(d_k, variance):
    return int(d_k * variance**2)


def rounded(d_k, variance):
    return round(d_k * variance**2)


MISTAKES = [
    Mistake(
        "forgets_that_two_are_multiplied",
        [forgets_that_two_are_multiplied],
        says=(
            "A product of two numbers is given the variance of one of them. That goes unnoticed only at variance 1. Look "
            "at a single product."
        ),
        hints=[
            "If every q and k is doubled, by how much does the product q·k grow? And its variance?",
            "Var(q·k) = E[q²] E[k²] for independent q and k with mean 0.",
            "Each of the two factors brings the variance in once: σ² · σ².",
        ],
    ),
    Mistake(
        "adds_the_two_variances",
        [adds_the_two_variances],
        says=(
            "The variances of q and k are added. That would be right for the sum q + k; here the two are multiplied. Look "
            "at a single product."
        ),
        hints=[
            "If every q and k is doubled, by how much does the product q·k grow? And its variance?",
            "Var(q·k) = E[q²] E[k²] for independent q and k with mean 0.",
            "Each of the two factors brings the variance in once: σ² · σ².",
        ],
    ),
    Mistake(
        "forgets_the_variance",
        [forgets_the_variance],
        says="Right for entries with variance 1 only: the argument `variance` is not used. Look at a single product.",
        hints=[
            "Does the result change when every entry of q and k is doubled? Should it?",
            "One product has the variance E[q²] E[k²], for q and k with mean 0.",
            "That is σ² · σ², d_k times.",
        ],
    ),
    Mistake(
        "spread_instead_of_variance",
        [spread_instead_of_variance],
        says="This is the standard deviation of the score, the typical size. Its square is asked for.",
        hints=[
            "Which of the two adds up over independent terms, the variance or the standard deviation?",
            "At d_k = 4 and variance 1 the answer is 4.",
            "Square the result.",
        ],
    ),
    Mistake(
        "takes_it_for_a_deviation",
        [takes_it_for_a_deviation],
        says="`variance` is treated as a standard deviation, and squared once too often. Look at what the argument is.",
        hints=[
            "σ is the standard deviation, σ² the variance. Which one is given?",
            "In d_k σ⁴, how often does σ² occur?",
            "σ⁴ is the square of the variance.",
        ],
    ),
    Mistake(
        "forgets_the_width",
        [forgets_the_width],
        says="This is the variance of one product. A score adds up d_k of them.",
        hints=[
            "Does the result change with d_k?",
            "The variances of independent terms add up.",
            "d_k equal terms: multiply.",
        ],
    ),
    Mistake(
        "adds_deviations",
        [adds_deviations],
        says=(
            "The variance grows with d_k², as if all the products always pushed the same way. They are independent: "
            "some are positive, some negative. Look at what adds up."
        ),
        hints=[
            "Of 100 throws of a coin (+1 or -1), is the typical sum near 100 or near 10?",
            "Standard deviations do not add up, variances do.",
            "d_k terms, each with its own variance: multiply by d_k once.",
        ],
    ),
    Mistake(
        "already_scaled",
        [already_scaled],
        says="It grows with √d_k. That is how the typical *size* of a score grows; the variance grows faster.",
        hints=[
            "By how much does the variance of a sum grow with each further independent term?",
            "At d_k = 4 and variance 1 the answer is 4.",
            "No root is needed.",
        ],
    ),
    Mistake(
        "whole_numbers_only",
        [whole_numbers_only, rounded],
        says="The formula is right, but its result is cut down to a whole number. A variance is any number above 0.",
        hints=[
            "Print the result for d_k = 1 and variance 1.5. What should it be?",
            "Look for `int`, `round` or `//`.",
            "Return the number as it is.",
        ],
    ),
]
