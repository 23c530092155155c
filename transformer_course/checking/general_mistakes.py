"""Mistakes that can occur in any exercise: their names, summaries and hints."""

from collections.abc import Sequence
from dataclasses import dataclass

CHANGES_ARGUMENT = "changes_argument"
"""Changing an argument in place."""
CHANGES_MODE = "changes_mode"
"""Leaving a model in train mode when it was in eval mode, or the reverse."""
GRADIENT_CUT = "gradient_cut"
"""Blocking a gradient that should pass."""
REMEMBERS_A_CALL = "remembers_an_earlier_call"
"""Returning the result of an earlier call again."""

GRADIENT_HINTS = (
    "Your numbers are right. Call `.sum().backward()` on the output, and look at the `.grad` of each input: is it "
    "None, or smaller than it should be?",
    "Backpropagation follows the operations that torch recorded. `.detach()`, `.data`, `torch.no_grad()`, `.item()`, "
    "`.numpy()`, `.tolist()` and `torch.tensor(…)` return values without that record.",
    "Leave these out and compute with the tensors themselves: torch has a function for every step.",
)
IN_PLACE_HINTS = (
    "Your call changes the caller's tensor. Which line modifies it?",
    "`x += y`, `x[…] = y` and methods whose names end in `_` change the tensor itself. A plain sum, `masked_fill` or "
    "`torch.where` creates a new tensor.",
    "Write `x = x + y`, or begin with `x = x.clone()`.",
)
MODE_HINTS = (
    "Is `model.training` the same after the call as before it?",
    "`model.eval()` and `model.train()` change the caller's model, and your code doesn't restore its mode.",
    "Save `was_training = model.training`, and call `model.train(was_training)` before you return.",
)
MEMORY_HINTS = (
    "Call your function twice, with two tensors of the same shape. Does the second result depend on the second tensor?",
    "A dict outside the function, an attribute, a default argument that is a list, or `functools.cache` keeps the "
    "result of an earlier call.",
    "Compute the result again in each call, from the arguments alone.",
)


@dataclass(frozen=True)
class GeneralMistake:
    """Texts about a mistake that can occur in any exercise.

    Args:
        summary: What the learner does, as a clause in the second person.
        hints: Hints, each of which reveals a little more.
    """

    summary: str
    hints: Sequence[str]


GENERAL_MISTAKES = {
    CHANGES_ARGUMENT: GeneralMistake("you change an argument", IN_PLACE_HINTS),
    CHANGES_MODE: GeneralMistake("you leave a model in a different mode", MODE_HINTS),
    GRADIENT_CUT: GeneralMistake("you block a gradient", GRADIENT_HINTS),
    REMEMBERS_A_CALL: GeneralMistake("you return results of an earlier call", MEMORY_HINTS),
}
