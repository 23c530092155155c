"""Choose the experts of each token."""

from typing import Any

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_11_modern_block.route import mistakes
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_lab.layers.mixture_of_experts import route


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


ROUTE = Exercise(
    reference=route,
    steps=STEPS,
    cases=route_cases,
    points=2,
    normalise=by_expert,
    verified="Each token goes to its k best experts, with weights that sum to 1 over these.",
    hints=[
        "Two steps: find the k largest logits of each token; make weights of these logits alone.",
        "`logits.topk(k, dim=-1)` returns two tensors: the largest numbers of each row, and where they stand.",
        "The weights of a token sum to 1 over its k experts, so the softmax runs over the chosen logits.",
        "`chosen, experts = logits.topk(k, dim=-1)`, and the weights are `torch.softmax(chosen, dim=-1)`.",
    ],
    told={
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
    mistakes=mistakes.MISTAKES,
)
