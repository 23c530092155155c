"""How each weight answers to each score."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, normal


def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Give the derivative of weight i by score j, at row i and column j."""
    return torch.diag(probabilities) - torch.outer(probabilities, probabilities)


def softmax_jacobian_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    return [Case({"probabilities": torch.softmax(normal(rng, n), dim=-1)}, f"{n} weights") for n in (2, 3, 5, 307)]


def only_the_diagonal(probabilities):
    return torch.diag(probabilities * (1 - probabilities))


def one_column(probabilities):
    return probabilities * (1 - probabilities)


def forgets_the_diagonal(probabilities):
    return -torch.outer(probabilities, probabilities)


def plus_sign(probabilities):
    return torch.diag(probabilities) + torch.outer(probabilities, probabilities)


def wrong_sign(probabilities):
    return torch.outer(probabilities, probabilities) - torch.diag(probabilities)


def identity_on_the_diagonal(probabilities):
    return torch.eye(len(probabilities)) - torch.outer(probabilities, probabilities)


def takes_them_for_scores(probabilities):
    return softmax_jacobian(torch.softmax(probabilities, dim=-1))


SOFTMAX_JACOBIAN = Exercise(
    reference=softmax_jacobian,
    cases=softmax_jacobian_cases,
    points=2,
    verified="Every entry p_i (δ_ij − p_j), so every row and column adds up to 0: raising one score takes from the "
    "other weights what it gives to its own. Next: watch it vanish.",
    hints=[
        "Differentiate p_i = exp(s_i) / Σ exp(s) by s_j. Treat i = j and i ≠ j apart.",
        "For i ≠ j only the denominator depends on s_j: −p_i p_j. For i = j the numerator does too: p_i − p_i².",
        "As one formula: p_i δ_ij − p_i p_j. The first part is a diagonal matrix, the second an outer product.",
    ],
    mistakes=[
        Mistake(
            only_the_diagonal,
            "The diagonal is right, but everything beside it is 0. Raising one score also lowers all the *other* "
            "weights: they share the denominator.",
            [
                "If score 1 goes up, does weight 2 stay the same?",
                "The derivative of p_i by s_j for i ≠ j comes from the denominator alone.",
                "It is −p_i p_j.",
            ],
        ),
        Mistake(
            one_column,
            "You give one number per weight: its derivative by its own score. Every weight depends on every score, so "
            "a table is asked for.",
            [
                "What shape is asked for?",
                "Your numbers are its diagonal. What stands beside it?",
                "For i ≠ j: −p_i p_j.",
            ],
        ),
        Mistake(
            forgets_the_diagonal,
            "−p_i p_j is right everywhere but on the diagonal: there the numerator depends on the score as well.",
            [
                "Can raising a score lower its own weight? What does your diagonal say?",
                "For i = j, use the product rule: p_i − p_i².",
                "Add `torch.diag(probabilities)`.",
            ],
        ),
        Mistake(
            plus_sign,
            "You add the outer product. Then raising one score would raise all the weights, and they could not add up "
            "to 1 any longer. Look at the sign.",
            [
                "What do the columns of your table add up to? The weights always add up to 1, so what should they?",
                "When one weight goes up, the others have to go down.",
                "Subtract the outer product.",
            ],
        ),
        Mistake(
            wrong_sign,
            "All the signs are turned round: raising a score would lower its own weight.",
            [
                "Is your diagonal positive?",
                "p_i (1 − p_i) is the diagonal.",
                "Turn the subtraction round.",
            ],
        ),
        Mistake(
            identity_on_the_diagonal,
            "Your diagonal is 1 − p_i², because δ_ij stands there without its factor p_i. Look at the first term.",
            [
                "With p = (1, 0), nothing can move any more. Is your table 0 there?",
                "The formula is p_i (δ_ij − p_j): the p_i multiplies both terms.",
                "Use a diagonal matrix of the probabilities, not the identity.",
            ],
        ),
        Mistake(
            takes_them_for_scores,
            "You take the softmax of something that has been through one already. The argument holds probabilities.",
            [
                "What do the numbers in `probabilities` add up to?",
                "The formula needs only p, not the scores.",
                "Leave the softmax out.",
            ],
        ),
    ],
)
