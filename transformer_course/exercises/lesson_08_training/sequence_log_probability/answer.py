"""The answer to ``sequence_log_probability``, plainly and in steps."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercises.shared.log_probability_steps import log_probabilities, vocabulary_axis
from transformer_course.steps import InSteps


def sequence_log_probability(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, " batch"]:
    """Return the log-probability of each sentence: the sum of those of its tokens, padding left out."""
    log_p = torch.log_softmax(logits, dim=-1)
    of_tokens = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    return of_tokens.masked_fill(targets == pad_id, 0.0).sum(dim=-1)


def of_tokens(log_probabilities, targets):
    """pick that of the target at each position

    the log-probabilities of the targets, (batch, n)
    """
    return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def padding(targets, pad_id):
    """mark the padding

    the mask of the padding, (batch, n)
    """
    return targets == pad_id


def filling():
    """take 0 for what padding adds

    what padding adds to the sum: 0
    """
    return 0.0


def of_real_tokens(of_tokens, padding, filling):
    """put that at the positions of padding

    the log-probabilities of the real tokens, and 0 for padding, (batch, n)
    """
    return of_tokens.masked_fill(padding, filling)


def position_axis():
    """name the axis of the positions

    the axis of the positions: the last of (batch, n)
    """
    return -1


def log_probability(of_real_tokens, position_axis):
    """add up along that axis

    the log-probabilities of the sentences, (batch,)
    """
    return of_real_tokens.sum(dim=position_axis)


STEPS = InSteps(
    vocabulary_axis,
    log_probabilities,
    of_tokens,
    padding,
    filling,
    of_real_tokens,
    position_axis,
    log_probability,
    reference=sequence_log_probability,
)
