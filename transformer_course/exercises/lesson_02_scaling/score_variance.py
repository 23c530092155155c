"""How much a dot product varies."""

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def score_variance(d_k: int, variance: float) -> float:
    """Return the variance of a dot product of d_k independent entries with mean 0 and this variance."""
    return d_k * variance**2


def of_a_product(variance):
    """multiply the variances of the two factors → the variance of one product"""
    return variance * variance


def count(d_k):
    """count the products → the number of products in a score"""
    return d_k


def total(of_a_product, count):
    """add up the variances of the products → the variance of their sum"""
    return count * of_a_product


def of_the_score(total):
    """return that variance → the variance of a score"""
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
        Case({"d_k": 2, "variance": 3.0}, "the first call once more"),
        Case({"d_k": 512, "variance": high}, "512 products of entries with a variance above 1"),
    ]


MISTAKES = [
    Mistake(
        "caret",
        STEPS.but(of_a_product=lambda variance: variance ^ 2),
        summary="`^` is written for a power",
        message="In Python `^` is no power: it compares the bits of two whole numbers, and crashes at a float.",
        hints=["How does Python write 3 to the power of 2?"],
    ),
]


EXERCISE = Exercise(
    reference=score_variance,
    steps=STEPS,
    may_cut_gradients=True,
    cases=score_variance_cases,
    points=1,
    verified="d_k products, each with the product of two variances.",
    hints=[
        "What is asked for is a formula in d_k and the variance. (Drawing random numbers comes near its value, but "
        "never hits it, and gives another result each time.) Start with d_k = 1: the score is one product q·k of two "
        "independent numbers with mean 0. What is the mean of q² k², written E[q² k²]?",
        "For independent numbers the mean of a product is the product of the means: E[q²] E[k²].",
        "The variances of independent terms add up. There are d_k of them, all equal.",
    ],
    messages={
        "part_left_out_of_a_product": Wording(
            "{summary}. Look at a single product: both of its factors vary.",
            summary="a product gets the variance of a single one of its factors",
        ),
        "function_of_the_score: § ** 0.5": Wording(
            "{summary}. The variance is asked for.",
            summary="the root is taken at the end, which makes a standard deviation",
            hints=["If every q and k is doubled, the variance of q·k is multiplied by 16. Is what you return?"],
        ),
        "operator_of_a_product: (variance) + (variance)": (
            "The variances of q and k are added. That would be right for the sum q + k; here the two are "
            "multiplied. Look at a single product."
        ),
        "moved_of_a_product": (
            "The variance grows with d_k², as if all the products always pushed the same way. They are "
            "independent: some are positive, some negative. Look at what adds up."
        ),
    },
    mistakes=MISTAKES,
)
