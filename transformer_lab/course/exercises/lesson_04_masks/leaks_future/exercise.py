"""The leak test: change what comes later, and see whether anything before it moves."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_04_masks.leaks_future import mistakes_comparison, mistakes_perturbation
from transformer_lab.course.exercises.lesson_04_masks.leaks_future.leaky_models import leaks_future_cases


def leaks_future(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> bool:
    """Say whether any output of the model, as it is in eval mode, depends on a token that comes later."""
    was_training = model.training
    model.eval()
    before, n_tokens = model(tokens), tokens.max() + 1
    leaks = False
    for position in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % n_tokens  # surely a token, surely another
        after = model(changed)
        leaks |= not torch.allclose(after[:, :position], before[:, :position], atol=1e-4)
    model.train(was_training)
    return leaks


LEAKS_FUTURE = Exercise(
    reference=leaks_future,
    cases=leaks_future_cases,
    points=4,
    verified="A change at every later place was tried, every earlier output was watched, and neither dropout nor "
    "rounding raised a false alarm. (Whether the model is back in the mode in which it came is not checked.) Next: ask "
    "three models.",
    hints=[
        "Run the model once as it is. Then change the token at one position, in a copy, and run it again. Which "
        "outputs may have moved, and which may not?",
        "Do that for every position but the first: the outputs at `[:, :position]` belong to what came before it. "
        "`torch.allclose(a, b, atol=1e-4)` compares up to rounding.",
        "The new token must differ from the old one, and must be one that the model knows. The ids go from 0 to "
        "`tokens.max()` at least, and `%` brings one that gets too large back to 0.",
        "`model.eval()` switches off what is random in training, and `model.training` tells whether it was on, so that "
        "`model.train(...)` can leave the model as it was.",
    ],
    mistakes=[*mistakes_comparison.MISTAKES, *mistakes_perturbation.MISTAKES],
)
