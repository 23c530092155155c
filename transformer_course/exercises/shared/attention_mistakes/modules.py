"""Mistakes in multi-head modules: the optional mask, and splitting and merging heads."""

from collections.abc import Callable
from typing import Any

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant, with_inputs


def of_a_mask_that_may_be_none(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in handling an optional ``mask``."""
    return [
        Mistake(
            "mask_asked_for_its_truth",
            steps.but(visible=lambda mask: mask if mask else None).attempt,
            message=(
                "You use the mask as a condition. A tensor with several entries is neither true nor false, so PyTorch "
                "raises an error. What should your condition check instead?"
            ),
            hints=[
                "What does `bool(torch.tensor([True, False]))` do?",
                "Check whether there is a mask at all. Without one, `mask` is None.",
                "`if mask is not None:`.",
            ],
        ),
    ]


def of_the_merging(steps: InSteps, queries: str) -> list[Mistake]:
    """Return the mistakes in merging the heads.

    Args:
        steps: An answer with the steps ``mixture`` and ``merged``.
        queries: The argument with the same shape as the output.
    """

    def in_the_shape_of(mixture, x):
        return mixture.transpose(1, 2).view(x.shape)

    def as_long_as(mixture, x):
        return mixture.transpose(1, 2).view(*x.shape[:2], -1)

    transposed = [steps.but(merged=with_inputs(view, "mixture", queries)) for view in (in_the_shape_of, as_long_as)]
    return [
        Mistake(
            "merged_by_view",
            steps.but(merged=lambda mixture: mixture.reshape(len(mixture), mixture.shape[2], -1)),
            summary="you merge the heads with a reshape and no transpose",
            message=(
                "You merge the heads with a reshape but no transpose, so each row of your result mixes several "
                "positions. Which two dimensions should you swap before the reshape?"
            ),
            hints=["`parts.merge_heads` has two steps. Which step is missing from your code?"],
        ),
        Mistake(
            "transposed_then_viewed",
            *[variant.attempt for variant in transposed],
            message=(
                "You call `view` on a transposed tensor, which is not contiguous in memory, so `view` raises an "
                "error. What does the error message suggest?"
            ),
            hints=[
                "What is `x.transpose(1, 2).is_contiguous()`?",
                "`view` never copies the numbers. `reshape` copies them if it has to, and so does `parts.merge_heads`.",
                "Call `.contiguous()` before `.view`, or use `.reshape` instead.",
            ],
        ),
        Mistake(
            "merged_in_turn",
            steps.but(merged=lambda mixture: mixture.permute(0, 2, 3, 1).flatten(2)),
            summary="you interleave the features of the heads",
            message=(
                "{summary}: with 2 heads, head 0 fills columns 0, 2, 4 … instead of the first half of the columns. "
                "What should the order of the dimensions be when you merge the heads?"
            ),
            hints=["With 2 heads of width 2, which columns of the merged matrix should head 0 fill?"],
        ),
    ]


def split_by_view(*variants: Variant | Callable[..., Any]) -> Mistake:
    """Return the mistake of splitting into heads without a transpose, with these variants."""
    return Mistake(
        "split_by_view",
        *variants,
        summary="you split the features into heads with a reshape and no transpose",
        message=(
            "You split the features into heads with a reshape but no transpose, so each head gets some of the "
            "positions instead of some of the features. What should come after the reshape?"
        ),
        hints=["`parts.split_heads` has two steps. Which step is missing from your code?"],
    )


def heads_interleaved(*variants: Variant) -> Mistake:
    """Return the mistake of assigning features to the heads in turn, with these variants."""
    return Mistake(
        "heads_interleaved",
        *variants,
        summary="you give each head every `n_heads`-th feature",
        message=(
            "{summary}: with 4 features and 2 heads, head 0 gets features 0 and 2 instead of 0 and 1. Weights trained "
            "with one layout don't work with the other. Which features should head 1 get?"
        ),
        hints=["In `x.view(batch, n, a, b)`, do neighboring features share their index in `a` or in `b`?"],
    )


def of_the_heads(steps: InSteps, queries: str, n_query: str) -> list[Mistake]:
    """Return the mistakes in the shape of the mask.

    Args:
        steps: An answer with the step ``visible``.
        queries: The argument that is projected to the queries.
        n_query: Name that stands for the number of queries in messages.
    """
    return [
        Mistake(
            "mask_given_another_axis",
            steps.but(visible=lambda mask: None if mask is None else mask.unsqueeze(1)).attempt,
            steps.but(visible=lambda mask: None if mask is None else mask[:, None, None, :]).attempt,
            message=(
                f"You add a dimension to the mask, but it already broadcasts to (batch, n_heads, {n_query}, "
                f"{n_query.replace('query', 'key')}) without that, so your code crashes or masks the wrong entries. "
                "What shape does the mask have after your change?"
            ),
            hints=[
                "What shapes do the masks in the cases have? What shapes do they have after you add a dimension?",
                "Broadcasting adds leading dimensions that are missing and expands dimensions of length 1.",
                "Use the mask as it is, without `unsqueeze` or `None`.",
            ],
        ),
    ]
