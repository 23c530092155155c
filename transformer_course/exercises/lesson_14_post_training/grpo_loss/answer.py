"""The answer to ``grpo_loss``, plainly and in steps."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.steps import InSteps


def grpo_loss(
    log_p: Float[Tensor, "batch n"],
    log_p_before: Float[Tensor, "batch n"],
    log_p_reference: Float[Tensor, "batch n"],
    advantages: Float[Tensor, " batch"],
    real: Bool[Tensor, "batch n"],
    clip: float,
    beta: float,
) -> Float[Tensor, ""]:
    """Return the loss of GRPO: minus the mean, over all real tokens, of the clipped gain less beta times the drift."""
    ratio = (log_p - log_p_before).exp()
    gain = torch.minimum(ratio * advantages[:, None], ratio.clamp(1 - clip, 1 + clip) * advantages[:, None])
    behind = log_p_reference - log_p
    drift = behind.exp() - behind - 1
    return -(gain - beta * drift)[real].mean()


def ratio(log_p, log_p_before):
    """divide the probability of each token by what it was when the token was sampled

    the ratio of the probabilities: exp(log_p − log_p_before), (batch, n)
    """
    return (log_p - log_p_before).exp()


def clipped(ratio, clip):
    """keep the ratio between 1 − clip and 1 + clip

    the clipped ratio: between 1 − clip and 1 + clip
    """
    return ratio.clamp(1 - clip, 1 + clip)


def of_answers(advantages):
    """stand the advantages in a column

    the advantage of each answer, (batch, 1)
    """
    return advantages[:, None]


def gain(ratio, clipped, of_answers):
    """multiply both by the advantage, and take the smaller

    the gain of each token: the smaller of ratio · advantage and clipped ratio · advantage, (batch, n)
    """
    return torch.minimum(ratio * of_answers, clipped * of_answers)


def behind(log_p_reference, log_p):
    """subtract the model's log-probability from the reference's

    the difference d of the log-probabilities: log_p_reference − log_p, (batch, n)
    """
    return log_p_reference - log_p


def drift(behind):
    """estimate the KL divergence at each token

    the drift from the reference: exp(d) − d − 1, (batch, n)
    """
    return behind.exp() - behind - 1


def objective(gain, drift, beta):
    """subtract beta times the drift from the gain

    what should grow: gain − beta · drift, (batch, n)
    """
    return gain - beta * drift


def mean(objective, real):
    """average over all real tokens of the batch

    the mean over all real tokens
    """
    return objective[real].mean()


def loss(mean):
    """turn the sign round

    the loss: minus the mean
    """
    return -mean


STEPS = InSteps(ratio, clipped, of_answers, gain, behind, drift, objective, mean, loss, reference=grpo_loss)
