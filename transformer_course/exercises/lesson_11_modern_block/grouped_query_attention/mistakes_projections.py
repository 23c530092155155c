"""Mistakes in what goes through the four layers."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import STEPS

MISTAKES = [
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            from_queries=lambda self, x: x @ self.w_q.weight,
            from_keys=lambda self, x: x @ self.w_k.weight,
            from_values=lambda self, x: x @ self.w_v.weight,
        ).attempt,
        STEPS.but(output=lambda self, merged: merged @ self.w_o.weight).attempt,
        says=(
            "The weights of a layer are multiplied by hand, and not transposed: an `nn.Linear` keeps them as (outputs, "
            "inputs). Look at how the layers are used."
        ),
        hints=[
            "Which of the two axes of `self.w_q.weight` belongs to the inputs?",
            "A layer can be called like a function, and then does all that it should.",
            "`self.w_q(x)`, and the same for the others.",
        ],
    ),
]
