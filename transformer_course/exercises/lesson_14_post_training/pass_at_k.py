"""pass@k: the probability that at least one of k samples is correct, estimated from n samples."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import digits, generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that k of n samples, drawn without replacement, include a correct sample."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def n_wrong(n, c):
    """count the wrong samples → the number of wrong samples: n − c"""
    return n - c


def all_wrong(n_wrong, k):
    """count the choices of k wrong samples → the number of all-wrong choices: n − c choose k"""
    return math.comb(n_wrong, k)


def choices(n, k):
    """count the choices of k samples → the number of all choices: n choose k"""
    return math.comb(n, k)


def missed(all_wrong, choices):
    """divide the all-wrong choices by all choices → the probability of no right sample"""
    return all_wrong / choices


def passed(missed):
    """subtract the probability from 1 → the probability of a right sample: 1 minus the probability of none"""
    return 1 - missed


STEPS = InSteps(n_wrong, all_wrong, choices, missed, passed, reference=pass_at_k)


def pass_at_k_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, c, k, shows):
        return Case({"n": n, "c": c, "k": k}, shows)

    n = int(torch.randint(20, 40, (), generator=rng))
    right, draws, samples, more_right = digits(seed, 3, 4, 101, 5)
    c, k = 3 + right, 5 + draws
    many, few = 200 + samples, 7 + more_right
    return [
        case(4, 1, 1, "one draw"),
        case(2, 1, 2, "2 draws of 2 samples"),
        case(5, 2, 2, "2 draws of 5 samples, 2 of which are right"),
        case(6, 0, 3, "no right sample"),
        case(6, 6, 3, "all samples right"),
        case(10, 4, 7, "fewer wrong samples than draws"),
        case(n, c, k, f"{k} draws of {n} samples"),
        case(many, few, 10, f"10 draws of {many} samples"),
    ]


MISTAKES = [
    Mistake(
        "drawn_with_putting_back",
        STEPS.but(missed=lambda n, c, k: (1 - c / n) ** k),
        summary="you draw with replacement, so the same sample can be drawn twice",
        message=(
            "{summary}. For n = 2, c = 1 and k = 2, your formula 1 − (1 − c/n)^k gives 0.75, but the probability is 1. "
            "After the first draw, how many samples are left?"
        ),
        hints=["With 2 samples, one of them right, and k = 2, can both draws be wrong?"],
    ),
    Mistake(
        "expected_number",
        STEPS.but(passed=lambda n, c, k: k * c / n),
        STEPS.but(passed=lambda n, c, k: min(1.0, k * c / n)),
        summary="you use the expected number of right samples as the probability of at least one",
        message="{summary}. With n = 4, c = 2 and k = 2, that number is 1. Can both samples still be wrong?",
        hints=["If two of the k samples are right, how often does that choice count? How often should it?"],
    ),
    Mistake(
        "all_right",
        STEPS.but(passed=lambda n, c, k: math.comb(c, k) / math.comb(n, k)),
        summary="you require all k samples to be right",
        message="{summary}, so for c = 1 and k = 2 you get 0. How many right samples are enough?",
        hints=["With c = 1 and k = n, is at least one of the k samples right?"],
    ),
    Mistake(
        "exactly_one",
        STEPS.but(passed=lambda n, c, k: c * math.comb(n - c, k - 1) / math.comb(n, k)),
        summary="you count the choices with exactly one right sample",
        message="{summary}, so a choice with two right samples doesn't count. Which choices should not count?",
        hints=["With all samples right and k = 2, how many right samples does each choice have?"],
    ),
    Mistake(
        "zero_if_few_are_wrong",
        STEPS.but(passed=lambda passed, n_wrong, k: 0.0 if n_wrong < k else passed),
        summary="you return 0 if there are fewer than k wrong samples",
        message=(
            "{summary}. In that case, the k samples can't all be wrong. What is the probability of at least one right "
            "sample?"
        ),
        hints=["With n = 2, c = 1 and k = 2, which samples do you draw?"],
    ),
    Mistake(
        "first_draw_left_out",
        STEPS.but(
            missed=lambda n_wrong, n, k: math.prod((max(n_wrong - i, 0) / (n - i) for i in range(1, k)), start=1.0)
        ),
        summary="you leave out the first of the k draws",
        message="{summary}, so for k = 1 your product is empty and you get 0. At which i should the product start?",
        hints=["How many factors does your product have for k = 1, and how many should it have?"],
    ),
    Mistake(
        "last_factor_left_out",
        STEPS.but(
            missed=lambda n, n_wrong, k: (
                0.0 if n_wrong < k else math.prod((1 - k / i for i in range(n_wrong + 1, n)), start=1.0)
            )
        ),
        summary="you leave out the last factor of the product, 1 − k/n",
        message=(
            "{summary}, so with a single right sample your product is empty and you get 0. Where should `range` end?"
        ),
        hints=["With n = 4 and c = 1, which values does your `range` give?"],
    ),
    Mistake(
        "n_in_every_draw",
        STEPS.but(missed=lambda n_wrong, n, k: math.prod(((n_wrong - i) / n for i in range(k)), start=1.0)),
        summary="you divide by n in every draw",
        message=(
            "{summary}, so the probability of only wrong samples is too small. After the first draw, how many of the n "
            "samples are left?"
        ),
        hints=["You draw 2 of 5 samples, and the first is wrong. How many are left, and how many of them are wrong?"],
    ),
    Mistake(
        "order_counts_once",
        STEPS.but(all_wrong=lambda n_wrong, k: math.perm(n_wrong, k)),
        STEPS.but(choices=lambda n, k: math.perm(n, k)),
        summary="you count ordered choices in one of the two numbers and unordered choices in the other",
        message=(
            "{summary}, so (A, B) and (B, A) count as two choices in one number but as one choice in the other. Which "
            "two functions do you use?"
        ),
        hints=[
            "In how many ways can you choose 2 of 3 samples? What does each of your two functions return?",
        ],
    ),
]


EXERCISE = Exercise(
    reference=pass_at_k,
    steps=STEPS,
    cases=pass_at_k_cases,
    points=2,
    stretch=True,
    verified="You draw no sample twice, and if k is larger than the number of wrong samples, the probability is 1.",
    hints=[
        "Of 5 samples, 2 are right, and you draw 2. In how many of the 10 possible choices are both wrong?",
        "At least one sample is right unless all k are wrong. Of all choices of k samples, count those that take only "
        "the n − c wrong ones.",
        "`math.comb(n, k)` counts the choices of k out of n, and is 0 if k is larger than n.",
    ],
    messages={
        "argument_for_another_k: n": Wording(
            "{summary}, so you get 1 as soon as a single sample is right. For n = 10, c = 1 and k = 1, the "
            "probability is 0.1.",
            summary="you draw all n samples instead of k",
            hints=["How many samples do you draw if k is 1?"],
        ),
        "shifted_k: k - 1": Wording(
            "{summary}, so for k = 1 you get 0. Does a loop in your code end one iteration too early?",
            summary="you draw only k − 1 samples",
        ),
        "left_out_passed: missed": Wording(
            "{summary}. If all samples are right, you get 0 instead of 1.",
            summary="you return the probability that all k samples are *wrong*",
        ),
    },
    mistakes=MISTAKES,
)
