"""The variance of a dot product."""

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def score_variance(d_k: int, variance: float) -> float:
    """Return the variance of a dot product over d_k independent entries with mean 0 and the given variance."""
    return d_k * variance**2


def of_a_product(variance):
    """multiply the variances of q and k → the variance of one product"""
    return variance * variance


def count(d_k):
    """count the products → the number of products"""
    return d_k


def total(of_a_product, count):
    """add up the variances of the products → the variance of the sum"""
    return count * of_a_product


def of_the_score(total):
    """return the variance of the sum → the variance of a score"""
    return total


STEPS = InSteps(of_a_product, count, total, of_the_score, reference=score_variance)


def score_variance_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    low, high = uniform(rng, 0.3, 0.7), uniform(rng, 1.5, 3.0)
    return [
        Case({"d_k": 2, "variance": 3.0}, "2 products of entries with variance 3"),
        Case({"d_k": 1, "variance": high}, "a single product"),
        Case({"d_k": 4, "variance": 1.0}, "4 products of entries with variance 1"),
        Case({"d_k": 7, "variance": low}, "7 products of entries with a variance below 1"),
        Case({"d_k": 7, "variance": 2 * high}, "7 products again, of entries with a larger variance"),
        Case({"d_k": 2, "variance": 3.0}, "the first call again"),
        Case({"d_k": 512, "variance": high}, "512 products of entries with a variance above 1"),
    ]


MISTAKES = [
    Mistake(
        "caret",
        STEPS.but(of_a_product=lambda variance: variance ^ 2),
        summary="you write a power with `^`",
        message=(
            "{summary}. In Python, `^` is the bitwise XOR of two integers, so your code crashes for a float. Which "
            "operator raises a number to a power?"
        ),
        hints=["In a new cell, try `3 ^ 2`. You want 9. What do you get?"],
    ),
]


EXERCISE = Exercise(
    reference=score_variance,
    steps=STEPS,
    may_cut_gradients=True,
    cases=score_variance_cases,
    points=1,
    verified="The variance of a score is d_k times the variance of one product, which is the product of two variances.",
    hints=[
        "You need a formula in d_k and the variance. (Random samples only come close, and give a different result "
        "each time.) Start with d_k = 1: the score is one product q·k of two independent numbers with mean 0. What "
        "is the mean of q² k², written E[q² k²]?",
        "For independent numbers, the mean of a product is the product of the means: E[q²] E[k²].",
        "The variances of independent terms add up. There are d_k terms, all with the same variance.",
    ],
    messages={
        "part_left_out_of_a_product": Wording(
            "{summary}: for 2 products of entries with variance 3, you return 6 instead of 18. What is the variance of "
            "the product of one entry of q and one entry of k?",
            summary="you use the variance of only one of the two factors",
            hints=["If k were always 1, what would the variance of q·k be? Is it the same if k varies?"],
        ),
        "function_of_the_score: § ** 0.5": Wording(
            "{summary}: for 2 products of entries with variance 3, that is 4.24 instead of 18. What is the square of a "
            "standard deviation?",
            summary="you take a square root at the end, so you return a standard deviation",
            hints=[
                "If you double every q and k, the variance of q·k grows by a factor of 16. By what factor does your "
                "result grow?"
            ],
        ),
        "function_variance: variance ** 2": Wording(
            "You raise `variance` to the fourth power, as if it were a standard deviation: for d_k = 1 and variance 3, "
            "you return 81 instead of 9. `variance` is already σ². Which power of it do you need?",
            summary="you raise `variance` to the fourth power",
            hints=[
                "What is the variance of one product q·k if q and k both have the variance σ²?",
                "The variance of one product is the product of the two variances.",
                "`variance ** 2` is the variance of one product.",
            ],
        ),
        "operator_of_a_product: (variance) + (variance)": Wording(
            "You add the variances of q and k, which gives the variance of the sum q + k: for variance 3, 6 instead of "
            "9. A score adds up *products* q k. What is the variance of a single product?",
            summary="you add the variances of q and k",
            hints=[
                "The variance of q k is the mean of q² k². For independent q and k, how does that mean depend on the "
                "means of q² and k²?"
            ],
        ),
        "moved_of_a_product": Wording(
            "Your variance grows with d_k², as if all d_k products were equal. Independent products partly cancel, so "
            "doubling d_k should only double the variance. Which quantity adds up: the standard deviation or the "
            "variance?",
            summary="you square d_k as well",
            hints=["If you double d_k, by what factor does your variance grow?"],
        ),
    },
    mistakes=MISTAKES,
)
