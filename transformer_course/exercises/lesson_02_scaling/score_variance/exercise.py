"""How much a dot product varies."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_02_scaling.score_variance.answer import STEPS, score_variance
from transformer_course.exercises.lesson_02_scaling.score_variance.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case


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


SCORE_VARIANCE = Exercise(
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
    told={
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
