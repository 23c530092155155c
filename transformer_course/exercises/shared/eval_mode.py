"""Steps and mistakes for answers that run a model in eval mode and then restore its mode.

The last step of the answer restores the mode. Its inputs are ``model``, ``was_training`` and the result.
"""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, with_inputs


def was_training(model):
    """save the model's mode → the model's original mode: its `training` flag"""
    return model.training


def evaluating(model, was_training):
    """switch the model to eval mode → the model in eval mode"""
    return model.eval()


def of_the_mode(steps: InSteps, result: str, first: str) -> list[Mistake]:
    """Return the mistakes in setting the model's mode.

    Args:
        steps: The answer.
        result: The step whose value the last step returns: a tensor with one number.
        first: The step that first calls the model, on ``tokens``.
    """
    return [
        Mistake(
            "forgets_eval",
            steps.but(evaluating=lambda model: model),
            steps.but(evaluating=lambda model: model.train()),
            summary="you don't switch the model to eval mode",
            message=(
                "{summary}. In training mode, dropout changes the logits at random, so your result also measures "
                "dropout. Which method should you call before you run the model?"
            ),
            hints=["Print `model.training` right before you call the model. What should it be?"],
        ),
        Mistake(
            "two_modes",
            steps.but(**{first: lambda model, tokens: model(tokens)}),
            summary="you run the model once in training mode and once in eval mode",
            message=(
                "{summary}, so dropout makes the two outputs differ even if the model is correct. When should you "
                "switch the mode?"
            ),
            hints=[
                "Print `model.training` right before each call of the model. Is it the same each time?",
                "Switch the mode before the first call, and restore it after the last call.",
                "`model.eval()` before both calls, `model.train(was_training)` after them.",
            ],
        ),
        Mistake(
            "stays_in_eval_mode",
            steps.but(**{steps.last: with_inputs(torch.Tensor.item, result)}).attempt,
            message=(
                "Your result is right, but you leave the model in eval mode, so a training loop that calls your "
                "function continues without dropout. What should you do after you last call the model?"
            ),
            hints=[
                "Print `model.training` before and after you call your function.",
                "To restore the mode at the end, you have to save it at the beginning.",
                "`was_training = model.training` first, `model.train(was_training)` last.",
            ],
        ),
        Mistake(
            "always_back_to_training",
            steps.but(
                **{steps.last: with_inputs(lambda model, value: (model.train(), value.item())[1], "model", result)}
            ).attempt,
            message=(
                "Your result is right, but at the end you always switch the model to training mode, even if it was in "
                "eval mode before. What should you pass to `model.train()`?"
            ),
            hints=[
                "Which mode does `model.train()` set? And `model.train(False)`?",
                "`model.training` is the current mode. When do you have to read it?",
                "`was_training = model.training` first, `model.train(was_training)` last.",
            ],
        ),
    ]
