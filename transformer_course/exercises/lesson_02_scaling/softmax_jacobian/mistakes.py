"""What goes wrong in the Jacobian of a softmax."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.softmax_jacobian.answer import STEPS


def squares(probabilities):
    """Return p_i² on a diagonal."""
    return torch.diag(probabilities**2)


MISTAKES = [
    Mistake(
        "one_column",
        STEPS.but(jacobian=lambda difference: difference.diagonal()),
        does="only the diagonal is returned, as a vector",
        says=(
            "One number per weight comes out: its derivative by its own score. Every weight depends on every score, "
            "so a table is asked for."
        ),
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "squares_subtracted_twice",
        STEPS.but(own=lambda own, probabilities: own - squares(probabilities)),
        does="the square p_i² is subtracted on the diagonal besides the table of products",
        says=(
            "On the diagonal, p_i² is subtracted twice: by the formula for i = j, and again with the table of all "
            "products. Look at what both terms hold there."
        ),
        hints=["For weights of 0.5 and 0.5, the first entry should be 0.25. Which numbers make it up?"],
    ),
    Mistake(
        "diagonal_alone",
        STEPS.but(products=lambda products: torch.diag(products.diagonal())),
        does="only the diagonal of the table is filled",
        says="{does}, as if each weight depended on its own score alone. Beside the diagonal stands −p_i p_j.",
        hints=["If one score rises, and the weights still add up to 1, what becomes of the others?"],
    ),
    Mistake(
        "squares_alone",
        STEPS.but(jacobian=lambda probabilities: -probabilities * probabilities),
        STEPS.but(jacobian=lambda probabilities: probabilities * probabilities),
        does="the weights are multiplied by themselves, entry by entry, and make no table",
        says=(
            "One number per weight comes out: a vector times itself, entry by entry. A table is asked for, with every "
            "product p_i p_j. Look at the shapes that are multiplied."
        ),
        hints=["What shape has `p * p`, and what shape `p * p.T`? Transposing a vector changes nothing."],
    ),
    Mistake(
        "one_number_instead_of_products",
        STEPS.but(products=lambda probabilities: probabilities @ probabilities),
        STEPS.but(jacobian=lambda probabilities: probabilities @ probabilities),
        STEPS.but(jacobian=lambda probabilities: -(probabilities @ probabilities)),
        does="the weights meet in a dot product, which is one number",
        says=(
            "The same number is subtracted everywhere, or is all there is: `@` of two vectors is a dot product, one "
            "number. A table of all the products p_i p_j is needed."
        ),
        hints=["What shape has `probabilities @ probabilities`?"],
    ),
    Mistake(
        "true_minus_a_number",
        STEPS.but(difference=lambda probabilities: True - probabilities[0]),
        does="a truth value, `i == j`, stands in front of a minus",
        says=(
            "A comparison such as `i == j` is True or False, and torch does not subtract from these: it crashes. Look "
            "at what stands in front of the minus."
        ),
        hints=["δ_ij has to be a number, 1 or 0."],
    ),
]
