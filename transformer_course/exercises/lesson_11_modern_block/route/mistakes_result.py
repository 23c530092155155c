"""What goes wrong in what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS


def table(logits, weights, experts):
    """Return a table of all experts, with the weight 0 where an expert is not chosen."""
    return torch.zeros_like(logits).scatter(-1, experts, weights)


MISTAKES = [
    Mistake(
        "experts_first",
        STEPS.but(output=lambda weights, experts: (experts, weights)),
        does="the experts are returned first, then the weights",
    ),
    Mistake(
        "experts_as_floats",
        STEPS.but(output=lambda weights, experts: (weights, experts.float())),
        does="the experts are floats",
        says="The experts come as floats. A place in a list of experts is a whole number, int64.",
        hints=["Print `experts.dtype`. What is asked for?"],
    ),
    Mistake(
        "experts_in_32_bits",
        STEPS.but(output=lambda weights, experts: (weights, experts.int())),
        does="the experts are int32",
        says="The experts come as int32. Places are int64 everywhere in torch.",
        hints=["Print `experts.dtype`. What is asked for?"],
    ),
    Mistake(
        "a_weight_for_every_expert",
        STEPS.but(output=lambda logits, weights, experts: (table(logits, weights, experts), experts)),
        STEPS.but(output=table),
        does="the weights have a column for every expert, 0 where it is not chosen",
        says=(
            "The weights have a column for every expert, most of them 0. Asked for are k of them, in the order of the "
            "chosen experts. Look at the shape of the weights."
        ),
        hints=["Which shape is asked for, and which comes out?"],
    ),
    Mistake(
        "one_hot_experts",
        STEPS.but(
            output=lambda logits, weights, experts: (
                weights,
                torch.zeros_like(logits).scatter(-1, experts, 1.0).bool(),
            )
        ),
        STEPS.but(
            output=lambda logits, weights, experts: (
                weights,
                torch.nn.functional.one_hot(experts, logits.shape[-1]),
            )
        ),
        does="the experts are a table of which are chosen, not their numbers",
        says="The experts come as a table that says which are chosen. Asked for are their numbers, k for each token.",
        hints=["Which shape is asked for, and which comes out?"],
    ),
    Mistake(
        "stacked",
        STEPS.but(output=lambda weights, experts: torch.stack([weights, experts.to(weights.dtype)])),
        STEPS.but(output=lambda weights, experts: torch.stack([weights, experts.to(weights.dtype)], dim=-1)),
        does="weights and experts come in one tensor",
        says="{does}, so the experts are floats. Two tensors are asked for.",
        hints=["What does the annotation after `->` promise?"],
    ),
    Mistake(
        "result_in_lists",
        STEPS.but(output=lambda weights, experts: (weights.tolist(), experts.tolist())),
        does="lists come out, not tensors",
        says="Python lists come out. Tensors are asked for.",
        hints=["What does `type` say of each of the two?"],
    ),
]
