"""How each weight answers to each score."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_02_scaling.softmax_jacobian.answer import STEPS, softmax_jacobian
from transformer_course.exercises.lesson_02_scaling.softmax_jacobian.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def softmax_jacobian_cases(seed: int) -> list[Case]:
    """The last is small enough for a loop over all pairs in Python."""
    rng = generator(seed)

    def case(n: int) -> Case:
        return Case({"probabilities": torch.softmax(normal(rng, n), dim=-1)}, f"{n} weights")

    # Can be done in the head: 0.16 on the diagonal, -0.16 beside it.
    readable = Case({"probabilities": torch.tensor([0.8, 0.2])}, "the weights 0.8 and 0.2")
    decided = Case({"probabilities": torch.tensor([0.01, 0.97, 0.02])}, "nearly all the weight in one place")
    even = Case({"probabilities": torch.tensor([0.25, 0.5, 0.25])}, "two equal weights of three")
    return [readable, case(2), case(3), even, decided, case(5), case(31)]


SOFTMAX_JACOBIAN = Exercise(
    reference=softmax_jacobian,
    steps=STEPS,
    distributions=("probabilities",),
    may_cut_gradients=True,
    cases=softmax_jacobian_cases,
    points=2,
    verified="Every entry p_i (δ_ij − p_j), so every row and column adds up to 0: raising one score takes from the "
    "other weights what it gives to its own.",
    hints=[
        "Differentiate p_i = exp(s_i) / Σ exp(s) by s_j. Treat i = j and i ≠ j apart.",
        "For i ≠ j only the denominator depends on s_j: −p_i p_j. For i = j the numerator does too: p_i − p_i².",
        "As one formula: p_i δ_ij − p_i p_j. The first part is a diagonal matrix, the second holds every product.",
        "`torch.diag(p)` puts p on a diagonal, `torch.eye(n)` holds δ_ij, and `torch.outer(p, p)`, or `p[:, None] * "
        "p`, holds every p_i p_j.",
    ],
    told={
        "part_left_out_difference: -(products)": (
            "Beside the diagonal stands −p_i p_j. On it, the numerator depends on the score as well, and a "
            "term is missing."
        ),
        "left_out_own": (
            "The diagonal is 1 − p_i², because δ_ij stands there without its factor p_i. Look at the first term."
        ),
        "slice_row: probabilities[:, None]": (
            "Each product has the same weight twice, p_i p_i, where p_i p_j is asked for. Look at which axis the "
            "weights run along in each of the two factors."
        ),
        "call_left_out_delta: probabilities": (
            "`torch.eye` is given the weights themselves. It asks for a number: how many rows the table has."
        ),
    },
    mistakes=MISTAKES,
)
