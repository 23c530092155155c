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
        says="Weights and experts have changed places in what is returned.",
        hints=[
            "What does the annotation after `->` promise?",
            "Which of the two comes first?",
            "`return weights, experts`.",
        ],
    ),
    Mistake(
        "experts_as_floats",
        STEPS.but(output=lambda weights, experts: (weights, experts.float())),
        does="the experts are floats",
        says="The experts come as floats. A place in a list of experts is a whole number, int64.",
        hints=[
            "Print `experts.dtype`. What is asked for?",
            "Can a tensor be indexed by floats?",
            "Return what `topk` calls the indices as they are.",
        ],
    ),
    Mistake(
        "experts_in_32_bits",
        STEPS.but(output=lambda weights, experts: (weights, experts.int())),
        does="the experts are int32",
        says="The experts come as int32. Places are int64 everywhere in torch.",
        hints=[
            "Print `experts.dtype`. What is asked for?",
            "What dtype have the indices that `topk` returns?",
            "Return them as they are.",
        ],
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
        hints=[
            "Which shape is asked for, and which comes out?",
            "The softmax of the k chosen logits has k columns.",
            "`torch.softmax(chosen, dim=-1)`, where `chosen` are the k largest logits.",
        ],
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
        hints=[
            "Which shape is asked for, and which comes out?",
            "The number of an expert is the place of its logit in the row.",
            "The experts are the second thing that `logits.topk(k, dim=-1)` returns.",
        ],
    ),
    Mistake(
        "only_the_experts",
        STEPS.but(output=lambda experts: experts),
        does="the experts are returned without weights",
        says="Only the experts are returned. The weights are asked for, too.",
        hints=[
            "What does the annotation after `->` promise?",
            "The weights are a softmax of the logits of these experts.",
            "`return weights, experts`.",
        ],
    ),
    Mistake(
        "stacked",
        STEPS.but(output=lambda weights, experts: torch.stack([weights, experts.to(weights.dtype)])),
        STEPS.but(output=lambda weights, experts: torch.stack([weights, experts.to(weights.dtype)], dim=-1)),
        does="weights and experts come in one tensor",
        says="{does}, so the experts are floats. Two tensors are asked for.",
        hints=[
            "What does the annotation after `->` promise?",
            "A tensor has one dtype. Which has each of the two?",
            "`return weights, experts`.",
        ],
    ),
    Mistake(
        "result_in_lists",
        STEPS.but(output=lambda weights, experts: (weights.tolist(), experts.tolist())),
        does="lists come out, not tensors",
        says="Python lists come out. Tensors are asked for.",
        hints=[
            "What does `type` say of each of the two?",
            "Where is a list made of a tensor?",
            "Without `tolist` there are tensors already.",
        ],
    ),
]
