"""Choose the experts of each token."""

from typing import Any

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.mixture_of_experts import route


def experts(logits, k):
    """find the k largest logits of each token → the experts: the places of the k largest logits of each token"""
    return logits.topk(k, dim=-1).indices


def chosen(logits, experts):
    """read their logits → the logits of the chosen experts"""
    return logits.gather(-1, experts)


def weights(chosen):
    """take the softmax over them → the weights: the softmax over the chosen experts"""
    return chosen.softmax(dim=-1)


def output(weights, experts):
    """return weights and experts → the weights and the experts"""
    return weights, experts


STEPS = InSteps(experts, chosen, weights, output, reference=route)


def route_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(n: int, n_experts: int) -> Tensor:
        """Draw logits of which no two in a row are nearer to each other than 0.25."""
        ranks = torch.rand(n, n_experts, generator=rng).argsort(dim=-1)
        return (ranks + torch.rand(n, n_experts, generator=rng) / 2 - n_experts / 2) / 2

    extreme = torch.tensor([150.0, -150.0, 0.0, 150.0, -150.0])[:, None]
    return [
        Case({"logits": torch.tensor([[0.0, 2.0, 1.0]]), "k": 2}, "one token, the 2 best of 3 experts"),
        Case({"logits": drawn(2, 3), "k": 1}, "2 tokens, one expert of 3 each"),
        Case({"logits": drawn(3, 4), "k": 4}, "3 tokens, all of 4 experts"),
        Case({"logits": drawn(4, 4), "k": 2}, "as many tokens as experts"),
        Case({"logits": drawn(5, 6) - 9.0, "k": 3}, "logits that are all negative"),
        Case({"logits": drawn(5, 6) + extreme, "k": 3}, "exponentials that are infinite, or all 0"),
        Case({"logits": drawn(7, 8), "k": 2}, "7 tokens, the 2 best of 8 experts"),
        Case({"logits": drawn(31, 16), "k": 5}, "31 tokens, the 5 best of 16 experts"),
    ]


def by_expert(output: Any, case: Case) -> Any:
    """Return weights and experts with the experts of each token in ascending order: any order means the same."""
    if not isinstance(output, tuple | list) or len(output) != 2 or not all(isinstance(x, Tensor) for x in output):
        return output
    weights, experts = output
    if weights.shape == experts.shape and experts.dim() and not experts.is_complex():
        order = experts.argsort(dim=-1, stable=True)
        weights, experts = weights.gather(-1, order), experts.gather(-1, order)
    return weights, experts


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
        summary="the experts with the smallest logits are chosen",
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
        summary="ranks are returned, from 0 to k − 1, and not the places of the chosen logits",
        message=(
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
        summary="each expert chooses tokens, as the largest logits are sought along the first axis",
        message=(
            "The largest logits are sought along the first axis: each expert chooses tokens. That exists, and is "
            "called expert choice; here each token chooses experts. Look at the axis."
        ),
        hints=["Which axis of the logits counts the experts?"],
    ),
    Mistake(
        "sorted_without_the_weights",
        STEPS.but(output=lambda weights, experts: (weights, sorted_alone(experts))),
        summary="the experts are put in another order than their weights",
        message="{summary}, so that weights meet the wrong experts. Look for a sort of one without the other.",
        hints=["In which order do the experts stand, and in which the weights?"],
    ),
    Mistake(
        "without_a_gradient",
        STEPS.but(chosen=lambda chosen: chosen.detach()),
        STEPS.but(weights=lambda weights: weights.detach()).attempt,
        summary="no gradient reaches the logits",
        message=(
            "The numbers are right, and {summary}. The weights are the only way on which one can: which experts are "
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
        summary="a sigmoid makes the weights, not a softmax",
        message=(
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
        summary="the softmax runs over the tokens",
        message="{summary}: a token's weights depend on its neighbors. Look at its axis.",
        hints=[SUMS],
    ),
    Mistake(
        "a_weight_for_every_expert",
        STEPS.but(output=lambda logits, weights, experts: (table(logits, weights, experts), experts)),
        STEPS.but(output=table),
        summary="the weights have a column for every expert, 0 where it is not chosen",
        message=(
            "The weights have a column for every expert, most of them 0. Asked for are k of them, in the order of the "
            "chosen experts. Look at the shape of the weights."
        ),
        hints=["Which shape is asked for, and which comes out?"],
    ),
]


EXERCISE = Exercise(
    reference=route,
    steps=STEPS,
    cases=route_cases,
    points=2,
    normalize=by_expert,
    verified="Each token goes to its k best experts, with weights that sum to 1 over these.",
    hints=[
        "Two steps: find the k largest logits of each token; make weights of these logits alone.",
        "`logits.topk(k, dim=-1)` returns two tensors: the largest numbers of each row, and where they stand.",
        "The weights of a token sum to 1 over its k experts, so the softmax runs over the chosen logits.",
        "`chosen, experts = logits.topk(k, dim=-1)`, and the weights are `torch.softmax(chosen, dim=-1)`.",
    ],
    messages={
        "reversed_weights: §.flip(-1)": (
            "The weights are put in another order than their experts, so that experts get the wrong weights. "
            "Look for a sort of one without the other."
        ),
        "moved_weights": (
            "The softmax runs over all experts, so the weights of the chosen ones sum to less than 1. Look at "
            "what comes first, the choice or the softmax, and at the sums."
        ),
        "function_logits: logits.softmax(dim=-1)": (
            "The softmax is taken twice, first over all experts and then over the chosen ones. The second is "
            "given numbers between 0 and 1, and makes them nearly equal. Look at what goes into it."
        ),
        "no_softmax_weights: torch.full_like(chosen, 1 / (chosen).shape[-1])": (
            "Every chosen expert gets the same weight, whatever its logit. No gradient reaches the logits "
            "then, and the router learns nothing. Look at what becomes of the chosen logits."
        ),
        "no_softmax_weights: (chosen).flatten(-2).softmax(dim=-1).reshape((chosen).shape)": (
            "One softmax runs over all tokens together, so only the whole table sums to 1. Look at its axis."
        ),
    },
    mistakes=MISTAKES,
)
