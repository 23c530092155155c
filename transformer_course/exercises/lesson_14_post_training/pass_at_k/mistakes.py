"""What goes wrong when pass@k is estimated from n samples."""

import math

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_14_post_training.pass_at_k.answer import STEPS

MISTAKES = [
    Mistake(
        "drawn_with_putting_back",
        STEPS.but(missed=lambda n, c, k: (1 - c / n) ** k),
        does="the same sample may be drawn several times",
        says=(
            "{does}, as if each draw were put back. That is 1 − (1 − c/n)^k, which is too low on average: the estimate "
            "of a power is not the power of an estimate."
        ),
        hints=["2 samples, one of them right, k = 2: can both draws be wrong?"],
    ),
    Mistake(
        "expected_number",
        STEPS.but(passed=lambda n, c, k: k * c / n),
        STEPS.but(passed=lambda n, c, k: min(1.0, k * c / n)),
        does="the expected number of right samples stands for the probability of one",
        says="{does}. Two right samples among the k count once.",
        hints=["With c = n and k = 3, what comes out, and what should?"],
    ),
    Mistake(
        "probability_of_missing",
        STEPS.but(passed=lambda missed: missed),
        does="the probability that all k are *wrong* is returned",
    ),
    Mistake(
        "all_right",
        STEPS.but(passed=lambda n, c, k: math.comb(c, k) / math.comb(n, k)),
        does="all k samples have to be right",
        says="{does}. At least one is asked for.",
        hints=["With c = 1 and k = n, is one of the k samples right?"],
    ),
    Mistake(
        "the_k_first",
        STEPS.but(passed=lambda c: float(c > 0)),
        does="it counts only whether any of all n samples is right",
        says="{does}. Of the n samples, only k are drawn.",
        hints=["With n = 10, c = 1 and k = 1, how probable is a right one?"],
    ),
    Mistake(
        "order_counts_once",
        STEPS.but(all_wrong=lambda n_wrong, k: math.perm(n_wrong, k)),
        STEPS.but(choices=lambda n, k: math.perm(n, k)),
        does="the order of the samples counts in one of the two numbers only",
    ),
]
