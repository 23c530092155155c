"""What goes wrong in choosing the experts, in their weights, and in what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS

BEST = "In the first case, the logits are 0, 2 and 1. Which two experts are the best?"
SUMS = "Print the sum of each row of the weights."


def sorted_alone(experts):
    """Sort the experts, and leave the weights as they are."""
    return experts.sort(dim=-1).values


def shares(numbers):
    """Divide by the sum of each row."""
    return numbers / numbers.sum(dim=-1, keepdim=True)


def table(logits, weights, experts):
    """Return a table of all experts, with the weight 0 where an expert is not chosen."""
    return torch.zeros_like(logits).scatter(-1, experts, weights)


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
    Mistake(
        "without_a_gradient",
        STEPS.but(chosen=lambda chosen: chosen.detach()),
        STEPS.but(weights=lambda weights: weights.detach()).attempt,
        does="no gradient reaches the logits",
        says=(
            "The numbers are right, and {does}. The weights are the only way on which one can: which experts are "
            "chosen has no derivative. Look for `detach`, `no_grad` or `.data`."
        ),
        hints=["Through what does the loss depend on the logits?"],
    ),
    Mistake(
        "sigmoid",
        STEPS.but(logits=lambda logits: logits.sigmoid(), weights=lambda chosen: chosen),
        STEPS.but(logits=lambda logits: logits.sigmoid(), weights=lambda chosen: shares(chosen)),
        STEPS.but(weights=lambda chosen: chosen.sigmoid()),
        STEPS.but(weights=lambda chosen: shares(chosen.sigmoid())),
        STEPS.but(logits=lambda logits: logits.sigmoid()).attempt,
        does="a sigmoid makes the weights, not a softmax",
        says=(
            "A sigmoid makes the weights: it looks at each logit alone. Some newer models do so; here, as in Mixtral, "
            "the weights are a softmax. Look at the function."
        ),
        hints=["In the first case, what weights do the logits 2 and 1 get? They should be about 0.73 and 0.27."],
    ),
    Mistake(
        "softmax_over_the_tokens",
        STEPS.but(weights=lambda chosen: chosen.softmax(dim=0)),
        STEPS.but(weights=lambda logits, experts: logits.softmax(dim=0).gather(-1, experts)),
        STEPS.but(logits=lambda logits: logits.softmax(dim=0), weights=lambda chosen: chosen).attempt,
        does="the softmax runs over the tokens",
        says="{does}: a token's weights depend on its neighbours. Look at its axis.",
        hints=[SUMS],
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
]
