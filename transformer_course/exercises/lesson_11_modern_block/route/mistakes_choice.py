"""What goes wrong in choosing the experts."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS

BEST = "In the first case, the logits are 0, 2 and 1. Which two experts are the best?"


def sorted_alone(experts):
    """Sort the experts, and leave the weights as they are."""
    return experts.sort(dim=-1).values


MISTAKES = [
    Mistake(
        "worst_experts",
        STEPS.but(experts=lambda logits, k: logits.topk(k, dim=-1, largest=False).indices),
        STEPS.but(logits=lambda logits: -logits),
        does="the experts with the smallest logits are chosen",
        hints=[BEST],
    ),
    Mistake(
        "ranks_instead_of_experts",
        STEPS.but(output=lambda weights, experts: (weights, torch.arange(experts.shape[-1]).expand_as(experts))),
        STEPS.but(
            output=lambda logits, weights, k: (
                weights,
                logits.argsort(dim=-1, descending=True).argsort(dim=-1)[:, :k],
            )
        ),
        does="ranks are returned, from 0 to k − 1, and not the places of the chosen logits",
        says=(
            "What is returned as experts are ranks, not places: which is the best, the second best … The number of an "
            "expert is the place of its logit in the row. Look at what stands for `experts`."
        ),
        hints=[BEST],
    ),
    Mistake(
        "experts_choose_tokens",
        STEPS.but(
            experts=lambda logits, k: logits.topk(min(k, len(logits)), dim=0).indices,
            chosen=lambda logits, experts: logits.gather(0, experts),
        ),
        STEPS.but(
            experts=lambda logits, k: logits.topk(k, dim=0).indices,
            chosen=lambda logits, experts: logits.gather(0, experts),
            weights=lambda chosen: chosen.softmax(dim=0),
        ).attempt,
        STEPS.but(
            experts=lambda logits, k: logits.topk(k, dim=0).indices,
            chosen=lambda logits, experts: logits.gather(0, experts),
            weights=lambda chosen: chosen.softmax(dim=-1),
        ).attempt,
        STEPS.but(
            experts=lambda logits, k: logits.mT.topk(k, dim=-1).indices,
            chosen=lambda logits, experts: logits.mT.gather(-1, experts),
        ).attempt,
        does="each expert chooses tokens, as the largest logits are sought along the first axis",
        says=(
            "The largest logits are sought along the first axis: each expert chooses tokens. That exists, and is "
            "called expert choice; here each token chooses experts. Look at the axis."
        ),
        hints=["Which axis of the logits counts the experts?"],
    ),
    Mistake(
        "sorted_without_the_weights",
        STEPS.but(output=lambda weights, experts: (weights, sorted_alone(experts))),
        does="the experts are put in another order than their weights",
        says="{does}, so that weights meet the wrong experts. Look for a sort of one without the other.",
        hints=["In which order do the experts stand, and in which the weights?"],
    ),
]
