"""The answer to ``next_token_loss``, plainly and in steps."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercises.shared.log_probability_steps import vocabulary_axis
from transformer_course.steps import InSteps


def next_token_loss(
    logits: Float[Tensor, "batch n vocab_size"], tokens: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, ""]:
    """Return the mean of −log p of the next tokens that are no padding; position t predicts token t + 1."""
    log_p = torch.log_softmax(logits[:, :-1], dim=-1)  # nothing follows the last position
    targets = tokens[:, 1:]
    losses = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n - 1)
    return losses[targets != pad_id].mean()


def predictions(logits):
    """take the logits of all positions but the last

    the logits of the positions that a token follows, (batch, n − 1, vocab_size)
    """
    return logits[:, :-1]


def targets(tokens):
    """take all tokens but the first

    the targets: the token that follows each of these positions, (batch, n − 1)
    """
    return tokens[:, 1:]


def log_probabilities(predictions, vocabulary_axis):
    """take the log-softmax over the vocabulary

    the log-probabilities of all tokens at each position
    """
    return predictions.log_softmax(vocabulary_axis)


def of_targets(log_probabilities, targets):
    """pick the log-probability of each target

    the log-probabilities of the targets, (batch, n − 1)
    """
    return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def losses(of_targets):
    """turn their signs round

    the losses: −log p of each target, (batch, n − 1)
    """
    return -of_targets


def real(targets, pad_id):
    """mark the targets that are no padding

    the mask of the targets that are no padding, (batch, n − 1)
    """
    return targets != pad_id


def total(losses, real):
    """add up the losses of these targets

    the sum of their losses
    """
    return losses[real].sum()


def n_tokens(real):
    """count these targets

    the number of targets that are no padding
    """
    return real.sum()


def loss(total, n_tokens):
    """divide the sum by the count

    the loss: the mean over the targets that are no padding
    """
    return total / n_tokens


STEPS = InSteps(
    predictions,
    targets,
    vocabulary_axis,
    log_probabilities,
    of_targets,
    losses,
    real,
    total,
    n_tokens,
    loss,
    reference=next_token_loss,
)
