"""What goes wrong when attention is computed in blocks."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_10_inference.blockwise_attention.answer import STEPS

MISTAKES = [
    Mistake(
        "sums_never_corrected",
        [STEPS.but(correction=lambda: lambda largest, new_largest: 1.0)],
        does="the sums so far are not brought to the new maximum",
        says="Where a block brings a larger score, the sums of the blocks before it still belong to the old maximum.",
        hints=[
            "In which case does it go wrong: where the first block holds the largest score, or where a later one does?",
            "A sum of exp(s − old) should become a sum of exp(s − new). What is the factor?",
            "Multiply both sums by `torch.exp(largest - new_largest)` before the block is added.",
        ],
    ),
    Mistake(
        "only_the_total_corrected",
        [STEPS.but(mixture=lambda: lambda mixture, correction, exponentials, values: mixture + exponentials @ values)],
        does="the weighted sum of the values is not brought to the new maximum",
        says="The sum of the exponentials is brought to the new maximum, the sum of the values is not.",
        hints=[
            "Two sums are kept. Which of them depend on the maximum that was subtracted?",
            "Both hold exponentials.",
            "`mixture = correction * mixture + exponentials @ v`.",
        ],
    ),
    Mistake(
        "only_the_mixture_corrected",
        [
            STEPS.but(
                total=lambda: lambda total, correction, exponentials: total + exponentials.sum(dim=-1, keepdim=True)
            )
        ],
        does="the sum of the exponentials is not brought to the new maximum",
        says="The sum of the values is brought to the new maximum, the sum of the exponentials is not.",
        hints=[
            "Two sums are kept. Which of them depend on the maximum that was subtracted?",
            "Both hold exponentials.",
            "`total = correction * total + exponentials.sum(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "not_scaled",
        [STEPS.but(divisor=lambda: 1.0)],
        does="the scores are not divided by √d_k",
        says="The blocks are right, but the scores are not scaled.",
        hints=[
            "What does lesson 02 do to the products of queries and keys?",
            "By what are scores divided, so that their variance does not depend on the width?",
            "Divide by `queries.shape[-1] ** 0.5`.",
        ],
    ),
]
