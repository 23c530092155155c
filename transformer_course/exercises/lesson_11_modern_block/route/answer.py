"""The answer to ``route``, plainly and in steps."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def route(logits: Float[Tensor, "n n_experts"], k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """Choose for each token the k experts with the largest logits, with weights that sum to 1 over these."""
    chosen, experts = logits.topk(k, dim=-1)
    return torch.softmax(chosen, dim=-1), experts


def experts(logits, k):
    """find the k largest logits of each token

    the experts: the places of the k largest logits of each token
    """
    return logits.topk(k, dim=-1).indices


def chosen(logits, experts):
    """read their logits

    the logits of the chosen experts
    """
    return logits.gather(-1, experts)


def weights(chosen):
    """take the softmax over them

    the weights: the softmax over the chosen experts
    """
    return chosen.softmax(dim=-1)


def output(weights, experts):
    """return weights and experts

    the weights and the experts
    """
    return weights, experts


STEPS = InSteps(experts, chosen, weights, output, reference=route)
