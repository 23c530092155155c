"""Mistakes in what becomes of a result at the very end, which can be made in nearly every exercise."""

from collections.abc import Callable, Collection, Sequence

from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant, asking


def of_the_result(steps: InSteps, *but: str) -> list[Mistake]:
    """Return the mistakes in what becomes of a tensor that is otherwise the right answer.

    Args:
        steps: An answer in steps, the last of which is a tensor.
        but: The names of those that the exercise tells in its own words, or that are none there.
    """

    def handed_on(function: Callable[[Tensor], object]) -> Variant:
        return steps.but(**{steps.last: asking(function, steps.last)})

    return [
        mistake
        for mistake in [
            Mistake(
                "result_with_another_sign",
                handed_on(lambda result: -result),
                does="the result has the wrong sign",
                says="{does}. Look for a minus.",
                hints=["Which sign should the first number have?"],
            ),
            Mistake(
                "result_scaled",
                handed_on(lambda result: result / 2),
                handed_on(lambda result: result * 2),
                handed_on(lambda result: result / result.shape[-1]),
                handed_on(lambda result: result / len(result)).attempt,
                does="the result is multiplied or divided by a number",
                says="The result is multiplied or divided by a number at the end. Look for a factor, or a mean.",
                hints=["By which factor do the numbers differ from those that are asked for?"],
            ),
            Mistake(
                "result_transposed",
                handed_on(lambda result: result.mT),
                does="the last two axes of the result are exchanged",
                hints=["What shape is asked for, and what shape comes out?"],
            ),
            Mistake(
                "function_of_the_result",
                handed_on(lambda result: result.softmax(dim=-1)),
                handed_on(lambda result: result.tanh()),
                handed_on(lambda result: result.sigmoid()).attempt,
                does="the result goes through a further function",
                says="{does}, such as a softmax. It is asked for as it is.",
                hints=["Can a number of the result be negative, or above 1?"],
            ),
            Mistake(
                "result_in_a_list",
                handed_on(lambda result: result.tolist()),
                handed_on(lambda result: list(result)).attempt,
                does="a list comes out, not a tensor",
                says="A Python list comes out. A tensor is asked for.",
                hints=["What does `type` say of the result?"],
            ),
            Mistake(
                "result_with_another_axis",
                handed_on(lambda result: result[None]),
                handed_on(lambda result: result.unsqueeze(-1)),
                does="the result has one more axis, of length 1",
                says=(
                    "The numbers are right, with one more axis of length 1 around them. Look at the shape that is "
                    "asked for."
                ),
                hints=["What shape is asked for, and what shape comes out?"],
            ),
            Mistake(
                "axes_of_length_1_removed",
                handed_on(lambda result: result.squeeze()),
                does="every axis of length 1 is removed from the result",
                says="{does}, even one that only happens to have this length.",
                hints=["What shape comes out for a single query, or a single sentence?"],
            ),
            Mistake(
                "only_the_first_result",
                handed_on(lambda result: result[:1]),
                handed_on(lambda result: result[0]).attempt,
                does="only the first entry of the result is returned",
                says="{does}, along its first axis. All are asked for.",
                hints=["What shape is asked for, and what shape comes out?"],
            ),
        ]
        if mistake.name not in but
    ]


def rounded(
    steps: InSteps,
    *names: str,
    does: str = "numbers are rounded on the way",
    says: str = "{does}. The error is small, and no gradient passes through a rounding.",
    digits: Collection[int] = range(5),
    also: Sequence[Variant | Callable[..., object]] = (),
) -> Mistake:
    """Return the mistake of rounding.

    Args:
        steps: The answer.
        names: The steps whose value may be rounded, to as many as four digits.
        does: What is rounded.
        says: What comes of it.
        digits: The numbers of digits that may meet another mistake.
        also: Other ways of rounding.
    """

    def way(name: str, decimals: int) -> Variant | Callable[..., object]:
        variant = steps.but(**{name: asking(lambda value: value.round(decimals=decimals), name)})
        return variant if decimals in digits else variant.attempt

    return Mistake(
        "rounded",
        *[way(name, decimals) for name in names for decimals in range(5)],
        *also,
        does=does,
        says=says,
        hints=["Which line rounds, or makes whole numbers?"],
    )


def dropped(steps: InSteps, *names: str, name: str = "dropout") -> Mistake:
    """Return the mistake of dropout, in a module with these steps, in train mode or in both."""

    def drops(step: str, p: float, in_both: bool) -> Callable[..., object]:
        def drop(module: nn.Module, value: Tensor) -> Tensor:
            return F.dropout(value, p, in_both or module.training)

        return steps.but(**{step: asking(drop, "self", step)}).attempt

    return Mistake(
        name,
        *[drops(step, p, in_both) for in_both, p in ((False, 0.1), (False, 0.5), (True, 0.1)) for step in names],
        says="Some numbers are dropped at random. In these exercises there is no dropout.",
        hints=[
            "Call it twice with the same input, in train mode and in eval mode. What differs?",
            "Nothing in the formula is random.",
            "Leave the dropout out.",
        ],
    )


def in_float64(steps: InSteps) -> Mistake:
    """Return the mistake of numbers with twice as many digits as all others have."""
    return Mistake(
        "in_float64",
        steps.but(**{steps.last: asking(lambda result: result.double(), steps.last)}),
        does="the result comes in float64",
        says="The numbers are right, but they come in float64, and scores are in float32.",
        hints=["What does `.dtype` say of the result?"],
    )
