"""The answer to ``smoothed_cross_entropy``, plainly and in steps."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercises.shared.log_probability_steps import log_probabilities, vocabulary_axis
from transformer_course.steps import InSteps


def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float
) -> Float[Tensor, ""]:
    """Return the mean loss of all but padding; the right token gets 1 − smoothing, all share the smoothing."""
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return losses[targets != pad_id].mean()


def surprises(log_probabilities):
    """turn their signs round

    the surprises: −log p of all tokens at each position
    """
    return -log_probabilities


def of_targets(surprises, targets):
    """pick −log p of each target

    the surprises of the targets, (batch, n)
    """
    return surprises.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def average(surprises):
    """average −log p over the vocabulary

    the mean of −log p over the vocabulary, (batch, n)
    """
    return surprises.mean(dim=-1)


def target_weight(smoothing):
    """take 1 − smoothing as the weight of the target

    the weight of the target: 1 − smoothing
    """
    return 1 - smoothing


def smoothing_weight(smoothing):
    """take smoothing as the weight of the average

    the weight of the average: smoothing
    """
    return smoothing


def losses(of_targets, average, target_weight, smoothing_weight):
    """add the two, each times its weight

    the losses of all positions, (batch, n)
    """
    return target_weight * of_targets + smoothing_weight * average


def real(targets, pad_id):
    """mark the positions that are no padding

    the mask of the real tokens, (batch, n)
    """
    return targets != pad_id


def total(losses, real):
    """add up the losses of these positions

    the sum of the losses of all real tokens
    """
    return losses[real].sum()


def n_tokens(real):
    """count these positions

    the number of real tokens
    """
    return real.sum()


def loss(total, n_tokens):
    """divide the sum by the count

    the loss: the mean over the real tokens
    """
    return total / n_tokens


STEPS = InSteps(
    vocabulary_axis,
    log_probabilities,
    surprises,
    of_targets,
    average,
    target_weight,
    smoothing_weight,
    losses,
    real,
    total,
    n_tokens,
    loss,
    reference=smoothed_cross_entropy,
)
