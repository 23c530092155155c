"""Mistakes in how two tensors become one number, the largest difference.

There are the steps ``differences``, a tensor, ``sizes``, the same without signs, and ``largest``.
"""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.steps import InSteps


def of_the_largest_difference(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in how two tensors become one number."""
    return [
        Mistake(
            "signs_left_in",
            [
                steps.but(sizes=lambda differences: differences),
                steps.but(sizes=lambda differences: -differences),
                steps.but(sizes=lambda differences: differences, largest=lambda sizes: sizes.max().abs()),
                steps.but(sizes=lambda differences: -differences, largest=lambda sizes: sizes.max().abs()),
            ],
            does="the maximum is taken of differences with their signs",
            says=(
                "The maximum is taken of differences with their signs: among them, −5 counts for less than 1. Look at "
                "what is done before the maximum is taken."
            ),
            hints=[
                "What is the maximum of −5 and 1, and which of them is the larger difference?",
                "The sign only says which of the two is larger. First leave out all signs, then take the maximum.",
                "`.abs().max()`.",
            ],
        ),
        Mistake(
            "mean_of_the_differences",
            [steps.but(largest=lambda sizes: sizes.mean())],
            does="the mean of the differences is taken, not the largest",
            says=(
                "The *mean* of the differences comes out. A fault at a single position nearly vanishes in it. Look at "
                "how many numbers become one."
            ),
            hints=[
                "Of 1000 logits, one is wrong by 5. What is the mean difference, and what the largest?",
                "The largest is asked for.",
                "`.abs().max()`.",
            ],
        ),
        Mistake(
            "sum_of_the_differences",
            [steps.but(largest=lambda sizes: sizes.sum())],
            does="the differences are added up",
            says="The differences are added up: the number grows with the length of the text. One is asked for.",
            hints=[
                "What becomes of the number if the text is twice as long?",
                "One number of all is asked for, not their sum.",
                "`.abs().max()`.",
            ],
        ),
        Mistake(
            "length_of_the_difference",
            [steps.but(largest=lambda sizes: torch.linalg.vector_norm(sizes))],
            does="the norm of the differences is taken, not the largest",
            says="The norm of all differences comes out. The largest single one is asked for.",
            hints=[
                "For the differences 3 and 4, what is the norm, and what is the largest?",
                "One number of all is asked for.",
                "`.abs().max()`.",
            ],
        ),
    ]
