"""How each weight answers to each score."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_02_scaling.softmax_jacobian.mistakes import MISTAKES
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Give the derivative of weight i by score j, at row i and column j."""
    return torch.diag(probabilities) - torch.outer(probabilities, probabilities)


def softmax_jacobian_cases(seed: int) -> list[Case]:
    """The last is small enough for a loop over all pairs in Python."""
    rng = generator(seed)
    return [Case({"probabilities": torch.softmax(normal(rng, n), dim=-1)}, f"{n} weights") for n in (2, 3, 5, 31)]


SOFTMAX_JACOBIAN = Exercise(
    reference=softmax_jacobian,
    shares=("probabilities",),
    may_cut_gradients=True,
    cases=softmax_jacobian_cases,
    points=2,
    verified="Every entry p_i (δ_ij − p_j), so every row and column adds up to 0: raising one score takes from the "
    "other weights what it gives to its own. Next: watch it vanish.",
    hints=[
        "Differentiate p_i = exp(s_i) / Σ exp(s) by s_j. Treat i = j and i ≠ j apart.",
        "For i ≠ j only the denominator depends on s_j: −p_i p_j. For i = j the numerator does too: p_i − p_i².",
        "As one formula: p_i δ_ij − p_i p_j. The first part is a diagonal matrix, the second holds every product.",
        "`torch.diag(p)` puts p on a diagonal, `torch.eye(n)` holds δ_ij, and `torch.outer(p, p)`, or "
        "`p[:, None] * p`, holds every p_i p_j.",
    ],
    mistakes=MISTAKES,
)
