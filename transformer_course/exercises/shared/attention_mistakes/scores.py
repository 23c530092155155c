"""Mistakes in the table of scores: in the transposition of the keys, and in the products."""

from collections.abc import Callable

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.exercises.shared.attention_mistakes.selection import first_of
from transformer_course.steps import InSteps, Step, Variant, asking

TRANSPOSES_THE_BATCH = Wording(
    "Right for one table; with a batch in front, *all* the axes of the keys are turned round (or torch refuses to). "
    "The batch should stay where it is. Look at how the keys are transposed.",
    summary="the keys are transposed as if they were a single table, without a batch",
    hints=["What shape does `.T` make of keys of shape (7, 3, 4)?"],
)
"""What is said of ``.T`` where ``.mT`` is right."""


def of_the_transposition(steps: InSteps, keys: str = "keys") -> list[Mistake]:
    """Return the mistakes in the transposition of the keys: of the value of this name."""

    def turned(change: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(turned=asking(change, keys))

    return [
        Mistake(
            "reshapes_the_keys",
            turned(lambda keys: keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])),
            does="the numbers of the keys are read in their old order along exchanged axes",
            says=(
                "The keys get the shape of transposed ones, but not their numbers: `reshape` and `view` only break the "
                "same sequence of numbers into other rows, so each column mixes several keys."
            ),
            hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`."],
        ),
    ]


def _product(steps: InSteps, change: Step) -> Variant:
    """Return the answer that makes the table of products otherwise."""
    return steps.but(**{first_of(steps, "products", "scores"): change})


def of_the_products(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in what is multiplied by what, where every query should meet every key."""
    return [
        Mistake(
            "query_i_with_key_i",
            _product(steps, lambda queries, keys: (queries * keys).sum(dim=-1)),
            does="query i is compared with key i only",
            says=(
                "{does}: one number each, or a crash where there are more keys than queries. Every query has to meet "
                "every key."
            ),
            hints=["How many scores are there for 2 queries and 3 keys?"],
        ),
    ]
