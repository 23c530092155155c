"""Mistakes of modules that attend in several heads: with a mask that may be None, and with the merging."""

from collections.abc import Callable
from typing import Any

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant, asking


def of_a_mask_that_may_be_none(steps: InSteps) -> list[Mistake]:
    """Return mistakes with the ``mask`` of a module, which may be None."""
    return [
        Mistake(
            "mask_asked_for_its_truth",
            steps.but(visible=lambda mask: mask if mask else None).attempt,
            message=(
                "Python's `if` asks whether a whole tensor is true, which has no answer. What matters is whether there "
                "is a mask at all. Look at the condition."
            ),
            hints=[
                "What does `bool(torch.tensor([True, False]))` say?",
                "Without a mask, `mask` is None, and nothing else is.",
                "`if mask is not None:`.",
            ],
        ),
    ]


def of_the_merging(steps: InSteps, queries: str) -> list[Mistake]:
    """Return mistakes with the order of the numbers when heads are put side by side.

    Args:
        steps: An answer with the steps ``mixture`` and ``merged``.
        queries: The argument that has the shape of the output.
    """

    def in_the_shape_of(mixture, x):
        return mixture.transpose(1, 2).view(x.shape)

    def as_long_as(mixture, x):
        return mixture.transpose(1, 2).view(*x.shape[:2], -1)

    transposed = [steps.but(merged=asking(view, "mixture", queries)) for view in (in_the_shape_of, as_long_as)]
    return [
        Mistake(
            "merged_by_view",
            steps.but(merged=lambda mixture: mixture.reshape(len(mixture), mixture.shape[2], -1)),
            summary="the heads are merged in the order in which their numbers are stored",
            message=(
                "The heads are put together without a transposition, so that positions get mixed up with one another. "
                "Look at how they are merged."
            ),
            hints=["`parts.merge_heads` does it right. What does it do that is missing here?"],
        ),
        Mistake(
            "transposed_then_viewed",
            *[variant.attempt for variant in transposed],
            message=(
                "`view` refuses: after a transposition the numbers no longer lie in memory in the order in which "
                "`view` would read them."
            ),
            hints=[
                "What does the error message advise?",
                "`parts.merge_heads` gets along with it.",
                "`.contiguous()` before the `.view`, or `.reshape` instead of it.",
            ],
        ),
        Mistake(
            "merged_in_turn",
            steps.but(merged=lambda mixture: mixture.permute(0, 2, 3, 1).flatten(2)),
            summary="the heads are merged so that their features alternate",
            message=(
                "{summary}. Each head should fill neighboring columns. Look at the order of the axes before they are "
                "merged."
            ),
            hints=[
                "With 2 heads of width 2, which columns of the merged table does head 0 fill? They should be 0 and 1."
            ],
        ),
    ]


def split_by_view(*variants: Variant | Callable[..., Any]) -> Mistake:
    """Return the mistake of splitting into heads without a transposition, made in these ways."""
    return Mistake(
        "split_by_view",
        *variants,
        summary="the numbers are dealt out to the heads in the order in which they are stored",
        message=(
            "The heads get positions instead of features, as if the projections had been reshaped without a "
            "transposition. Look at how they are split."
        ),
        hints=["`parts.split_heads` does it right. What does it do that is missing here?"],
    )


def heads_interleaved(*variants: Variant) -> Mistake:
    """Return the mistake of cutting features into pieces of another kind, made in these ways."""
    return Mistake(
        "heads_interleaved",
        *variants,
        summary="the features are dealt out to the heads in turn",
        message=(
            "{summary}. A head should own neighbors. A model that was trained with one layout cannot be used with the "
            "other. Look at how they are split."
        ),
        hints=["With 4 features and 2 heads, which features does head 0 own? They should be 0 and 1."],
    )


def of_the_heads(steps: InSteps, queries: str, n_query: str) -> list[Mistake]:
    """Return mistakes with the mask that the attention of the heads is given.

    Args:
        steps: An answer with the step ``visible``.
        queries: The argument from which the queries are made.
        n_query: What the number of queries is called.
    """
    return [
        Mistake(
            "mask_given_another_axis",
            steps.but(visible=lambda mask: None if mask is None else mask.unsqueeze(1)).attempt,
            steps.but(visible=lambda mask: None if mask is None else mask[:, None, None, :]).attempt,
            message=(
                "The mask is given one axis more than it has. It comes ready to be broadcast to (batch, n_heads, "
                f"{n_query}, {n_query.replace('query', 'key')}). Look at what happens to its shape."
            ),
            hints=[
                "Which shapes have the masks of the cases, and which after the new axis?",
                "Axes that are missing in front, or are 1 long, are stretched by themselves.",
                "Use the mask as it comes, without `unsqueeze` or `None`.",
            ],
        ),
    ]
