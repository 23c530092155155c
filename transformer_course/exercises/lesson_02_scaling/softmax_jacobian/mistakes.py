"""What goes wrong in the Jacobian of a softmax."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.softmax_jacobian.answer import STEPS

MISTAKES = [
    Mistake(
        "squares_subtracted_twice",
        STEPS.but(own=lambda own, probabilities: own - torch.diag(probabilities**2)),
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
        "one_number_instead_of_products",
        STEPS.but(products=lambda probabilities: probabilities @ probabilities),
        does="the weights meet in a dot product, which is one number",
        says=(
            "The same number is subtracted everywhere: `@` of two vectors is a dot product, one number. A table of all "
            "the products p_i p_j is needed."
        ),
        hints=["What shape has `probabilities @ probabilities`?"],
    ),
]
