"""How much a dot product varies."""

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, uniform


def score_variance(d_k: int, variance: float) -> float:
    """Give the variance of a dot product of d_k independent entries with mean 0 and this variance."""
    return d_k * variance**2


def score_variance_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    low, high = uniform(rng, 0.3, 0.7), uniform(rng, 1.5, 3.0)
    return [
        Case({"d_k": 1, "variance": high}, "a single product"),
        Case({"d_k": 4, "variance": 1.0}, "4 products of entries with variance 1"),
        Case({"d_k": 7, "variance": low}, "7 products of entries with a variance below 1"),
        Case({"d_k": 512, "variance": high}, "512 products of entries with a variance above 1"),
    ]


def forgets_that_two_are_multiplied(d_k, variance):
    return d_k * variance


def spread_instead_of_variance(d_k, variance):
    return d_k**0.5 * variance


def takes_it_for_a_deviation(d_k, variance):
    return d_k * variance**4


def forgets_the_width(d_k, variance):
    return variance**2


def adds_deviations(d_k, variance):
    return d_k**2 * variance**2


def already_scaled(d_k, variance):
    return d_k**0.5 * variance**2


SCORE_VARIANCE = Exercise(
    reference=score_variance,
    cases=score_variance_cases,
    points=1,
    verified="d_k products, each with the product of two variances. Next: undo the d_k.",
    hints=[
        "Start with d_k = 1: the score is one product q·k of two independent numbers with mean 0. What is E[q² k²]?",
        "For independent numbers the expectation of a product is the product of the expectations: E[q²] E[k²].",
        "The variances of independent terms add up. There are d_k of them, all equal.",
    ],
    mistakes=[
        Mistake(
            forgets_that_two_are_multiplied,
            "You let a product of two numbers have the variance of one of them. That goes unnoticed only at variance "
            "1. Look at a single product.",
            [
                "If every q and k is doubled, by how much does the product q·k grow? And its variance?",
                "Var(q·k) = E[q²] E[k²] for independent q and k with mean 0.",
                "Each of the two factors brings the variance in once.",
            ],
        ),
        Mistake(
            spread_instead_of_variance,
            "This is the standard deviation of the score, the typical size. Its square is asked for.",
            [
                "Which of the two adds up over independent terms, the variance or the standard deviation?",
                "At d_k = 4 and variance 1 the answer is 4.",
                "Square what you have.",
            ],
        ),
        Mistake(
            takes_it_for_a_deviation,
            "You treat `variance` as a standard deviation and square it once too often. Look at what the argument is.",
            [
                "σ is the standard deviation, σ² the variance. Which one are you given?",
                "In d_k σ⁴, how often does σ² occur?",
                "σ⁴ is the square of the variance.",
            ],
        ),
        Mistake(
            forgets_the_width,
            "This is the variance of one product. A score adds up d_k of them.",
            [
                "Does your answer change with d_k?",
                "The variances of independent terms add up.",
                "d_k equal terms: multiply.",
            ],
        ),
        Mistake(
            adds_deviations,
            "The variance grows with d_k², as if all the products always pushed the same way. They are independent: "
            "some are positive, some negative. Look at what adds up.",
            [
                "If you add 100 throws of a coin (+1 or -1), is the typical sum near 100 or near 10?",
                "Standard deviations do not add up, variances do.",
                "d_k terms, each with its own variance: multiply by d_k once.",
            ],
        ),
        Mistake(
            already_scaled,
            "It grows with √d_k. That is how the typical *size* of a score grows; the variance grows faster.",
            [
                "By how much does the variance of a sum grow with each further independent term?",
                "At d_k = 4 and variance 1 the answer is 4.",
                "No root is needed.",
            ],
        ),
    ],
)
