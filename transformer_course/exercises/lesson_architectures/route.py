"""The router of a mixture of experts: choose each token's experts."""

from typing import Any

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.mixture_of_experts import route


def experts(logits, k):
    """find the k largest logits of each token → the experts: the indices of the k largest logits of each token"""
    return logits.topk(k, dim=-1).indices


def chosen(logits, experts):
    """gather the logits of the chosen experts → the logits of the chosen experts"""
    return logits.gather(-1, experts)


def weights(chosen):
    """take the softmax over the chosen experts → the weights: the softmax over the chosen experts"""
    return chosen.softmax(dim=-1)


def output(weights, experts):
    """return weights and experts → the weights and the experts"""
    return weights, experts


STEPS = InSteps(experts, chosen, weights, output, reference=route)


def route_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(n: int, n_experts: int) -> Tensor:
        """Draw logits that differ by at least 0.25 within each row."""
        ranks = torch.rand(n, n_experts, generator=rng).argsort(dim=-1)
        return (ranks + torch.rand(n, n_experts, generator=rng) / 2 - n_experts / 2) / 2

    extreme = torch.tensor([150.0, -150.0, 0.0, 150.0, -150.0])[:, None]
    return [
        Case({"logits": torch.tensor([[0.0, 2.0, 1.0]]), "k": 2}, "one token, the 2 best of 3 experts"),
        Case({"logits": drawn(2, 3), "k": 1}, "2 tokens, one expert of 3 each"),
        Case({"logits": drawn(3, 4), "k": 4}, "3 tokens, all of 4 experts"),
        Case({"logits": drawn(4, 4), "k": 2}, "4 tokens, the 2 best of 4 experts"),
        Case({"logits": drawn(5, 6) - 9.0, "k": 3}, "logits that are all negative"),
        Case({"logits": drawn(5, 6) + extreme, "k": 3}, "logits whose exponentials overflow or underflow"),
        Case({"logits": drawn(7, 8), "k": 2}, "7 tokens, the 2 best of 8 experts"),
        Case({"logits": drawn(31, 16), "k": 5}, "31 tokens, the 5 best of 16 experts"),
    ]


def by_expert(output: Any, case: Case) -> Any:
    """Sort each token's experts in ascending order, with their weights, because the order is irrelevant."""
    if not isinstance(output, tuple | list) or len(output) != 2 or not all(isinstance(x, Tensor) for x in output):
        return output
    weights, experts = output
    if weights.shape == experts.shape and experts.dim() and not experts.is_complex():
        order = experts.argsort(dim=-1, stable=True)
        weights, experts = weights.gather(-1, order), experts.gather(-1, order)
    return weights, experts


BEST = "In the first case, the logits are 0, 2 and 1. Which two experts are the best, and which do you return?"
SUMS = "What does each row of your weights sum to?"


def sorted_alone(experts):
    """Sort the experts but not their weights."""
    return experts.sort(dim=-1).values


def shares(numbers):
    """Divide each row by its sum."""
    return numbers / numbers.sum(dim=-1, keepdim=True)


def table(logits, weights, experts):
    """Return a table of all experts, with weight 0 for experts that are not chosen."""
    return torch.zeros_like(logits).scatter(-1, experts, weights)


MISTAKES = [
    Mistake(
        "worst_experts",
        STEPS.but(experts=lambda logits, k: logits.topk(k, dim=-1, largest=False).indices),
        STEPS.but(logits=lambda logits: -logits),
        summary="you choose the experts with the smallest logits",
        message=(
            "{summary}, so each token goes to the experts that fit it worst. Which end of the sorted logits should you "
            "take?"
        ),
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
        summary="you return ranks instead of the indices of the chosen logits",
        message=(
            "You return ranks, such as 0 for the best expert, instead of expert indices. For the logits 0, 2 and 1, "
            "what is the index of the best expert?"
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
        summary="you find the largest logits along dim 0, so that each expert chooses tokens",
        message=(
            "You find the largest logits along dim 0, so each expert chooses tokens. That is known as expert choice, "
            "but here each token chooses experts. Which `dim` runs over the experts?"
        ),
        hints=["Which dimension of the logits counts the experts?"],
    ),
    Mistake(
        "sorted_without_the_weights",
        STEPS.but(output=lambda weights, experts: (weights, sorted_alone(experts))),
        summary="you return the experts in a different order from their weights",
        message="{summary}, so an expert gets the wrong weight. Do you sort the experts without their weights?",
        hints=["What determines the order of your experts, and what determines the order of your weights?"],
    ),
    Mistake(
        "without_a_gradient",
        STEPS.but(chosen=lambda chosen: chosen.detach()),
        STEPS.but(weights=lambda weights: weights.detach()).attempt,
        summary="you cut the logits off from the gradient",
        message=(
            "Your weights are right, but no gradient reaches the logits, so the router can't learn. Do you use "
            "`detach`, `no_grad` or `.data`?"
        ),
        hints=["The choice of experts has no derivative. Through which tensor can a gradient reach the logits?"],
    ),
    Mistake(
        "sigmoid",
        STEPS.but(logits=lambda logits: logits.sigmoid(), weights=lambda chosen: chosen),
        STEPS.but(logits=lambda logits: logits.sigmoid(), weights=lambda chosen: shares(chosen)),
        STEPS.but(weights=lambda chosen: chosen.sigmoid()),
        STEPS.but(weights=lambda chosen: shares(chosen.sigmoid())),
        STEPS.but(logits=lambda logits: logits.sigmoid()).attempt,
        summary="you apply a sigmoid to the logits",
        message=(
            "{summary}, which treats each logit separately. Some newer models do that, but here, as in Mixtral, the "
            "expert weights for each token sum to 1. Which function produces weights that sum to 1?"
        ),
        hints=["The logits 2 and 1 should get weights of about 0.73 and 0.27. What do you get?"],
    ),
    Mistake(
        "softmax_over_the_tokens",
        STEPS.but(weights=lambda chosen: chosen.softmax(dim=0)),
        STEPS.but(weights=lambda logits, experts: logits.softmax(dim=0).gather(-1, experts)),
        STEPS.but(logits=lambda logits: logits.softmax(dim=0), weights=lambda chosen: chosen).attempt,
        summary="you take the softmax over the tokens",
        message="{summary}, so a token's weights depend on the other tokens. Which `dim` runs over the experts?",
        hints=[SUMS],
    ),
    Mistake(
        "a_weight_for_every_expert",
        STEPS.but(output=lambda logits, weights, experts: (table(logits, weights, experts), experts)),
        STEPS.but(output=table),
        summary="you return a weight for every expert, 0 if it is not chosen",
        message="{summary}, so your weights don't line up with the k experts. How many weights should each token have?",
        hints=["Which shape should the weights have, and which shape do yours have?"],
    ),
]


EXERCISE = Exercise(
    reference=route,
    steps=STEPS,
    cases=route_cases,
    points=2,
    normalize=by_expert,
    verified="You send each token to its k best experts, with weights that sum to 1 over them.",
    hints=[
        "A token has the logits 0, 2 and 1, and k is 2. Which experts does it get, and what should their two weights "
        "sum to?",
        "The weights of a token sum to 1 over its k experts, so the softmax runs over the chosen logits only.",
        "`logits.topk(k, dim=-1)` returns two tensors: the largest values of each row and their indices.",
        "`chosen, experts = logits.topk(k, dim=-1)`, and the weights are `torch.softmax(chosen, dim=-1)`.",
    ],
    messages={
        "reversed_weights: §.flip(-1)": Wording(
            "{summary}, so an expert gets the wrong weight. Do you reorder the weights without their experts?",
            summary="you return the weights in a different order from their experts",
        ),
        "moved_weights": Wording(
            (
                "{summary}, so the weights of the chosen experts sum to less than 1. Which should come first, the "
                "top-k selection or the softmax?"
            ),
            summary="you take the softmax over all experts",
        ),
        "function_logits: logits.softmax(dim=-1)": Wording(
            "You take the softmax twice, first over all experts and then over the chosen ones. The second softmax gets "
            "numbers between 0 and 1, so it makes the weights nearly equal. Which softmax should you drop?",
            summary="you take the softmax of a softmax",
        ),
        "no_softmax_weights: torch.full_like(chosen, 1 / (chosen).shape[-1])": Wording(
            "{summary}, so no gradient reaches the logits, and the router learns nothing. Which function turns the "
            "chosen logits into weights?",
            summary="you give every chosen expert the same weight",
        ),
        "no_softmax_weights: (chosen).flatten(-2).softmax(dim=-1).reshape((chosen).shape)": Wording(
            "{summary}, so only the whole table sums to 1. What should the weights of each token sum to?",
            summary="you take one softmax over all tokens together",
        ),
        "no_softmax_weights: (chosen) / (chosen).sum(dim=-1, keepdim=True)": Wording(
            "{summary}, so a negative logit can give a negative weight. Which function makes all weights positive?",
            summary="you divide the chosen logits by their sum without taking `exp` first",
        ),
    },
    mistakes=MISTAKES,
)
