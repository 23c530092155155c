"""What goes wrong in direct preference optimisation."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.dpo_loss.answer import STEPS

MISTAKES = [
    Mistake(
        "forgets_the_minus",
        [STEPS.but(losses=lambda log_probabilities: log_probabilities)],
        does="the minus of −log σ is missing",
        says="The minus is missing: the smaller this loss, the *less* the chosen answer is preferred.",
        hints=[
            "A logarithm of a probability is never above 0. Should a loss be below it?",
            "Training makes the loss smaller. Which way does the probability of the chosen answer go then?",
            "A minus before the log-sigmoid.",
        ],
    ),
    Mistake(
        "chosen_and_rejected_exchanged",
        [STEPS.but(margin=lambda chosen_gain, rejected_gain: rejected_gain - chosen_gain)],
        does="the gain of the chosen answer is subtracted from that of the rejected one",
        says="The difference is taken the wrong way round: the loss falls as the *rejected* answer gets likelier.",
        hints=[
            "The margin should be large where the chosen answer gained much.",
            "Which of the two gains has the minus?",
            "The gain of the chosen answer minus that of the rejected one.",
        ],
    ),
    Mistake(
        "beta_outside",
        [
            STEPS.but(
                scaled=lambda margin: margin,
                log_probabilities=lambda margin, beta: beta * torch.nn.functional.logsigmoid(margin),
            )
        ],
        does="the loss is multiplied by β, and the margin is not",
        says="β multiplies the whole loss. It belongs inside the sigmoid, where it says how much a margin counts.",
        hints=[
            "With equal gains the loss should be log 2, whatever β is.",
            "What does the sigmoid get?",
            "The log-sigmoid of `beta` times the margin.",
        ],
    ),
    Mistake(
        "adds_up",
        [STEPS.but(loss=lambda losses: losses.sum())],
        does="the losses of the pairs are added up, not averaged",
        says="The losses of the pairs are added up. Their mean is asked for, which does not grow with the batch.",
        hints=[
            "What is the loss of 3 pairs that are all alike, compared with one of them?",
            "The mean over the pairs is asked for.",
            "`.mean()` in place of `.sum()`.",
        ],
    ),
]
