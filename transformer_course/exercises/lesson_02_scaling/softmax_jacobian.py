"""How each weight answers to each score."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Return the derivative of weight i with respect to score j, at row i and column j."""
    return torch.diag(probabilities) - torch.outer(probabilities, probabilities)


def delta(probabilities):
    """make the table of all δ_ij → 1 on the diagonal and 0 beside it"""
    return torch.eye(len(probabilities))


def column(probabilities):
    """make a column of the weights → p_i, the same along each row"""
    return probabilities[:, None]


def row(probabilities):
    """make a row of the weights → p_j, the same down each column"""
    return probabilities[None, :]


def own(column, delta):
    """multiply δ_ij by p_i → the weights on a diagonal"""
    return column * delta


def products(column, row):
    """multiply every weight by every weight → all the products p_i p_j"""
    return column * row


def difference(own, products):
    """subtract the products → p_i δ_ij − p_i p_j"""
    return own - products


def jacobian(difference):
    """return the whole table → the Jacobian"""
    return difference


STEPS = InSteps(delta, column, row, own, products, difference, jacobian, reference=softmax_jacobian)


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


MISTAKES = [
    Mistake(
        "squares_subtracted_twice",
        STEPS.but(own=lambda own, probabilities: own - torch.diag(probabilities**2)),
        summary="the square p_i² is subtracted on the diagonal besides the table of products",
        message=(
            "On the diagonal, p_i² is subtracted twice: by the formula for i = j, and again with the table of all "
            "products. Look at what both terms hold there."
        ),
        hints=["For weights of 0.5 and 0.5, the first entry should be 0.25. Which numbers make it up?"],
    ),
    Mistake(
        "one_number_instead_of_products",
        STEPS.but(products=lambda probabilities: probabilities @ probabilities),
        summary="the weights meet in a dot product, which is one number",
        message=(
            "The same number is subtracted everywhere: `@` of two vectors is a dot product, one number. A table of all "
            "the products p_i p_j is needed."
        ),
        hints=["What shape has `probabilities @ probabilities`?"],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "part_left_out_difference: -(products)": (
            "Beside the diagonal stands −p_i p_j. On it, the numerator depends on the score as well, and a "
            "term is missing."
        ),
        "wrong_input_products: own": Wording(
            "{summary}, as if each weight depended on its own score alone. Beside the diagonal stands −p_i p_j.",
            summary="only the diagonal of the table is filled",
            hints=["If one score rises, and the weights still add up to 1, what becomes of the others?"],
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
