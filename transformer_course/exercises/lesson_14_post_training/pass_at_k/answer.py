"""The answer to ``pass_at_k``, plainly and in steps."""

import math

from transformer_course.steps import InSteps


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that k of n samples, drawn without putting back, hold one of the c right ones."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def n_wrong(n, c):
    """count the wrong samples

    the number of wrong samples: n − c
    """
    return n - c


def all_wrong(n_wrong, k):
    """count the ways of choosing k wrong samples

    the number of choices of k that are all wrong: n − c choose k
    """
    return math.comb(n_wrong, k)


def choices(n, k):
    """count the ways of choosing k samples

    the number of choices of k samples: n choose k
    """
    return math.comb(n, k)


def missed(all_wrong, choices):
    """divide the one by the other

    the probability that all k are wrong
    """
    return all_wrong / choices


def passed(missed):
    """subtract it from 1

    the probability that at least one is right: 1 minus that all are wrong
    """
    return 1 - missed


STEPS = InSteps(n_wrong, all_wrong, choices, missed, passed, reference=pass_at_k)
