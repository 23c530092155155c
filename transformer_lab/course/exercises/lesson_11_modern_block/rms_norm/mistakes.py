"""What goes wrong in dividing by the root mean square."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS

MISTAKES = [
    Mistake(
        "mean_subtracted",
        [
            STEPS.but(wide=lambda wide, axis: wide - wide.mean(dim=axis, keepdim=True)),
        ],
        does="the mean is subtracted from x",
        says="The mean is subtracted, as in LayerNorm. RMSNorm leaves it where it is. Look for a mean of x itself.",
        hints=[
            "In the first case, which number should be left of a feature that is 0?",
            "How many means does the formula have, and of what?",
            "Square x itself, and divide x itself.",
        ],
    ),
    Mistake(
        "variance",
        [
            STEPS.but(mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True, unbiased=False)),
        ],
        does="the variance is taken, which is about the mean, not the mean square",
        says=(
            "The variance is taken, in which the squares are those of deviations from the mean. RMSNorm squares the "
            "features themselves. Look at what is squared."
        ),
        hints=[
            "In the first case the mean square is 20 / 4 = 5. What comes out here?",
            "`var` and `std` subtract the mean.",
            "`wide.square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "eps_beside_the_root",
        [
            STEPS.but(
                with_eps=lambda mean_square: mean_square,
                root=lambda with_eps, eps: torch.sqrt(with_eps) + eps,
            )
        ],
        does="eps is added to the root, not under it",
        says="eps is added to the root mean square. It belongs under the root. Look at where eps stands.",
        hints=[
            "In the first case the mean square is 5 and eps is 4. What should be divided by?",
            "By 3, the root of 5 + 4; not by 4 + √5.",
        ],
    ),
    Mistake(
        "no_weight",
        [STEPS.but(stretched=lambda narrow: narrow)],
        does="the weight has no effect",
        says="The weight has no effect. The normalised vectors are stretched, each feature by its own number.",
        hints=[
            "Which argument can be changed without changing the result?",
            "`weight` has the shape (d): a number for each feature.",
            "Multiply by the weight at the end.",
        ],
    ),
]
