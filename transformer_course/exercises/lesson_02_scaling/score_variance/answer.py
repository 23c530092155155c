"""The answer to ``score_variance``, plainly and in steps."""

from transformer_course.steps import InSteps


def score_variance(d_k: int, variance: float) -> float:
    """Return the variance of a dot product of d_k independent entries with mean 0 and this variance."""
    return d_k * variance**2


def of_a_product(variance):
    """multiply the variances of the two factors

    the variance of one product
    """
    return variance * variance


def count(d_k):
    """count the products

    the number of products in a score
    """
    return d_k


def total(of_a_product, count):
    """add up the variances of the products

    the variance of their sum
    """
    return count * of_a_product


def of_the_score(total):
    """return that variance

    the variance of a score
    """
    return total


STEPS = InSteps(of_a_product, count, total, of_the_score, reference=score_variance)
