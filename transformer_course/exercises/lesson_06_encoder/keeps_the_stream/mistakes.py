"""What goes wrong when a layer is asked whether it hands x on: signs that others give as well."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.keeps_the_stream.answer import STEPS

MISTAKES = [
    Mistake(
        "looks_at_the_direction",
        STEPS.but(kept=lambda layer, x: bool(torch.cosine_similarity(layer(x), x, dim=-1).min() > 0.9)),
        STEPS.but(kept=lambda reduced, x: bool(torch.cosine_similarity(reduced, x, dim=-1).min() > 0.9)),
        does="only the direction of the output is compared with that of x",
        says="{does}. A norm hardly turns a vector; what it takes out is the size. Compare the sizes, too.",
        hints=["What is the cosine of x and its norm, where the mean of x is 0?"],
    ),
    Mistake(
        "any_dependence_on_size",
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(2 * x), layer(x), atol=1e-3)).attempt,
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(2 * x), layer(x))).attempt,
        STEPS.but(kept=lambda layer, x: not torch.allclose(layer(1000 * x), layer(x), atol=1e-3)).attempt,
        does="any change of the output with the size of x counts",
        says=(
            "{does}. But where the second sum is missing, size still decides how x and the first sublayer's output "
            "mix. Ask how much the output grows, and in which direction."
        ),
        hints=[
            "With the second sum missing, norm(x + a) is passed on. Does it change when x doubles?",
            "A layer that hands x on whole gives nearly 1,000 x for 1,000 x. What does one without a sum give?",
            "So divide the output for the larger x by that number again, and compare it with x itself.",
        ],
    ),
    Mistake(
        "growth_is_enough",
        STEPS.but(kept=lambda reduced: bool(reduced.abs().mean() > 0.1)),
        STEPS.but(kept=lambda reduced, x: bool(reduced.norm() > 0.1 * x.norm())),
        does="it is enough that the output grows with x",
        says="{does}. It does, too, where half of x is lost, or where x is subtracted. Compare it with x.",
        hints=["Which output should a layer have for 1,000 x, if x is only added to?"],
    ),
]
