"""The answer to ``dpo_loss`` in steps; the plain one is the library's."""

import torch

from transformer_course.steps import InSteps
from transformer_lab.training.fine_tuning import dpo_loss


def chosen_gain(chosen, reference_chosen):
    """subtract the reference's log-probability of the chosen answer from the model's

    how much likelier the chosen answer became: chosen − reference_chosen
    """
    return chosen - reference_chosen


def rejected_gain(rejected, reference_rejected):
    """subtract the reference's log-probability of the rejected answer from the model's

    how much likelier the rejected answer became: rejected − reference_rejected
    """
    return rejected - reference_rejected


def margin(chosen_gain, rejected_gain):
    """subtract the second difference from the first

    the margin: the gain of the chosen answer minus that of the rejected one
    """
    return chosen_gain - rejected_gain


def scaled(margin, beta):
    """multiply it by β

    the margin times β
    """
    return beta * margin


def log_probabilities(scaled):
    """take the logarithm of the sigmoid

    the log-probability that the chosen answer is preferred: log σ(β · margin)
    """
    return torch.nn.functional.logsigmoid(scaled)


def losses(log_probabilities):
    """turn the sign round

    the loss of each pair, (batch,)
    """
    return -log_probabilities


def loss(losses):
    """take the mean over the pairs

    the loss: the mean over the pairs
    """
    return losses.mean()


STEPS = InSteps(chosen_gain, rejected_gain, margin, scaled, log_probabilities, losses, loss, reference=dpo_loss)
