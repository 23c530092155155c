"""Answers that look at a model in eval mode and leave it in the mode in which it came: their steps and mistakes.

The last step of the answer sets the mode back and asks for ``model``, ``was_training`` and the result.
"""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, asking


def was_training(model):
    """remember the mode of the model → the mode in which the model came: its `training`"""
    return model.training


def evaluating(model, was_training):
    """switch the model to eval mode → the model in eval mode"""
    return model.eval()


def of_the_mode(steps: InSteps, result: str, first: str) -> list[Mistake]:
    """Return the mistakes about the mode.

    Args:
        steps: The answer.
        result: The step whose value, a tensor of one number, the last step returns.
        first: The step that calls the model for the first time, on ``tokens``.
    """
    return [
        Mistake(
            "forgets_eval",
            steps.but(evaluating=lambda model: model),
            steps.but(evaluating=lambda model: model.train()),
            summary="the model is not switched to eval mode",
            message=(
                "{summary}. While it trains, dropout changes its logits, and what is measured is not what the model "
                "does when it is used."
            ),
            hints=["Print `model.training` just before the model is called."],
        ),
        Mistake(
            "two_modes",
            steps.but(**{first: lambda model, tokens: model(tokens)}),
            summary="one of the two runs is made in training mode, the other in eval mode",
            message=(
                "One of the two runs is made in training mode and the other in eval mode. Where these differ, even a "
                "healthy model is accused. Look at when the mode is switched."
            ),
            hints=["Print `model.training` just before each call of the model."],
        ),
        Mistake(
            "stays_in_eval_mode",
            steps.but(**{steps.last: asking(torch.Tensor.item, result)}).attempt,
            message=(
                "The numbers are right, and the model stays in eval mode. Somebody in the middle of training would "
                "train on without dropout. Look at what is done to the model after the last call."
            ),
            hints=[
                "Print `model.training` before a call and after it.",
                "Which mode it came in has to be known at the end, so it has to be noted at the beginning.",
                "`was_training = model.training` first, `model.train(was_training)` last.",
            ],
        ),
        Mistake(
            "always_back_to_training",
            steps.but(
                **{steps.last: asking(lambda model, value: (model.train(), value.item())[1], "model", result)}
            ).attempt,
            message=(
                "The numbers are right, and at the end the model is put into training mode, even if it came in eval "
                "mode. It should be left as it was. Look at what `model.train()` is given."
            ),
            hints=[
                "Which mode does `model.train()` switch to? And `model.train(False)`?",
                "`model.training` says which mode it is in. When does it have to be asked?",
                "`was_training = model.training` first, `model.train(was_training)` last.",
            ],
        ),
    ]
