"""What goes wrong in choosing experts."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_11_modern_block.route.answer import STEPS

MISTAKES = [
    Mistake(
        "softmax_over_all",
        [STEPS.but(weights=lambda logits, experts: logits.softmax(dim=-1).gather(-1, experts))],
        does="the softmax runs over all experts, not over the chosen ones",
        says=(
            "The softmax runs over all experts, so the weights of the chosen ones sum to less than 1. Look at what is "
            "done first, the choice or the softmax."
        ),
        hints=[
            "Print the sum of each row of the weights.",
            "What is not chosen takes part in the sum that is divided by.",
            "Take the softmax of the k chosen logits.",
        ],
    ),
    Mistake(
        "worst_experts",
        [STEPS.but(experts=lambda logits, k: logits.topk(k, dim=-1, largest=False).indices)],
        does="the experts with the smallest logits are chosen",
        says="The experts with the smallest logits are chosen. Look at the order in which the logits are sorted.",
        hints=[
            "In the first case, which experts have the largest logits? Those at the places 1 and 2.",
            "`sort` and `argsort` begin with the smallest unless they are told otherwise.",
            "`logits.topk(k, dim=-1)` begins with the largest.",
        ],
    ),
    Mistake(
        "experts_as_floats",
        [STEPS.but(output=lambda weights, experts: (weights, experts.float()))],
        does="the experts are floats",
        says="The experts come as floats. A place in a list of experts is a whole number, int64.",
        hints=[
            "Print `experts.dtype`. What is asked for?",
            "Can a tensor be indexed by floats?",
            "Return what `topk` calls the indices as they are.",
        ],
    ),
    Mistake(
        "logits_as_weights",
        [STEPS.but(weights=lambda chosen: chosen)],
        does="the chosen logits are returned as weights",
        says="The chosen logits are returned as weights: they may be negative, and do not sum to 1. A step is missing.",
        hints=[
            "Print the sum of each row of the weights.",
            "Which function makes weights of scores?",
            "`torch.softmax(chosen, dim=-1)`.",
        ],
    ),
]
