"""The answer to ``softmax``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.steps import InSteps


def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    largest = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - largest)  # at most exp(0) = 1, so nothing overflows
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def largest(scores):
    """find the largest score of each row"""
    return scores.amax(dim=-1, keepdim=True)


def shifted(scores, largest):
    """subtract it"""
    return scores - largest


def exponentials(shifted):
    """take `exp` of each number"""
    return torch.exp(shifted)


def total(exponentials):
    """add up each row"""
    return exponentials.sum(dim=-1, keepdim=True)


def weights(exponentials, total):
    """divide by the sum"""
    return exponentials / total


STEPS = InSteps(largest, shifted, exponentials, total, weights, reference=softmax)
