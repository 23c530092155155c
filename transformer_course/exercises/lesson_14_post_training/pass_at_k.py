"""pass@k: how probable it is that at least one of k samples is right, estimated from n of them."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import digits, generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that k of n samples, drawn without putting back, hold one of the c right ones."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def n_wrong(n, c):
    """count the wrong samples → the number of wrong samples: n − c"""
    return n - c


def all_wrong(n_wrong, k):
    """count the ways of choosing k wrong samples → the number of choices of k that are all wrong: n − c choose k"""
    return math.comb(n_wrong, k)


def choices(n, k):
    """count the ways of choosing k samples → the number of choices of k samples: n choose k"""
    return math.comb(n, k)


def missed(all_wrong, choices):
    """divide the one by the other → the probability that all k are wrong"""
    return all_wrong / choices


def passed(missed):
    """subtract it from 1 → the probability that at least one is right: 1 minus that all are wrong"""
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
        case(2, 1, 2, "as many draws as samples"),
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
        summary="the same sample may be drawn several times",
        message=(
            "{summary}, as if each draw were put back. That is 1 − (1 − c/n)^k, which is too low on average: the "
            "estimate of a power is not the power of an estimate."
        ),
        hints=["2 samples, one of them right, k = 2: can both draws be wrong?"],
    ),
    Mistake(
        "expected_number",
        STEPS.but(passed=lambda n, c, k: k * c / n),
        STEPS.but(passed=lambda n, c, k: min(1.0, k * c / n)),
        summary="the expected number of right samples stands for the probability of one",
        message="{summary}. Two right samples among the k count once.",
        hints=["With c = n and k = 3, what comes out, and what should?"],
    ),
    Mistake(
        "all_right",
        STEPS.but(passed=lambda n, c, k: math.comb(c, k) / math.comb(n, k)),
        summary="all k samples have to be right",
        message="{summary}. At least one is asked for.",
        hints=["With c = 1 and k = n, is one of the k samples right?"],
    ),
    Mistake(
        "order_counts_once",
        STEPS.but(all_wrong=lambda n_wrong, k: math.perm(n_wrong, k)),
        STEPS.but(choices=lambda n, k: math.perm(n, k)),
        summary="the order of the samples counts in one of the two numbers only",
    ),
]


EXERCISE = Exercise(
    reference=pass_at_k,
    steps=STEPS,
    cases=pass_at_k_cases,
    points=2,
    stretch=True,
    verified="No sample is drawn twice, and where fewer are wrong than are drawn, one of them must be right.",
    hints=[
        "Turn the question round: how probable is it that all k samples are wrong?",
        "Of all ways of choosing k of n samples, how many take only wrong ones? There are n − c of those.",
        "`math.comb(n, k)` counts the ways of choosing k of n, and is 0 where k is larger than n.",
    ],
    messages={
        "argument_for_another_k: n": Wording(
            "{summary}. Of the n samples, only k are drawn.",
            summary="it counts only whether any of all n samples is right",
            hints=["With n = 10, c = 1 and k = 1, how probable is a right one?"],
        ),
        "left_out_passed: missed": Wording(summary="the probability that all k are *wrong* is returned"),
    },
    mistakes=MISTAKES,
)
