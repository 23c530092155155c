"""The mistake of using dropout in an exercise without dropout."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, with_inputs


def dropped(steps: InSteps, *names: str, name: str = "dropout") -> Mistake:
    """Return the mistake of applying dropout after one of the named steps, in training mode or in both modes."""

    def drops(step: str, p: float, in_both: bool) -> Callable[..., object]:
        def drop(module: nn.Module, value: Tensor) -> Tensor:
            return F.dropout(value, p, in_both or module.training)

        return steps.but(**{step: with_inputs(drop, "self", step)}).attempt

    return Mistake(
        name,
        *[drops(step, p, in_both) for in_both, p in ((False, 0.1), (False, 0.5), (True, 0.1)) for step in names],
        message=(
            "You apply dropout, so two calls with the same input return different outputs. This exercise uses no "
            "dropout."
        ),
        hints=[
            "Call your module twice with the same input, in training mode and in eval mode. What differs?",
            "Nothing in the formula is random.",
            "Remove the dropout.",
        ],
    )
