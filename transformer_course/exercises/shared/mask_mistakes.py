"""Mistakes in the form of a mask, which every exercise that makes one shares. The last step of each is ``mask``."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant


def of_numbers(steps: InSteps) -> Mistake:
    """``.float()`` and the like."""
    return Mistake(
        "mask_of_numbers",
        steps.but(mask=lambda mask: mask.float()),
        steps.but(mask=lambda mask: mask.long()),
        steps.but(mask=lambda mask: mask.int()),
        steps.but(mask=lambda mask: mask.to(torch.uint8)).attempt,
        does="the mask holds numbers, not True and False",
        says="The places are right, but the entries are numbers. A mask of this course holds True and False.",
        hints=["Print `mask.dtype`. What is asked for?"],
    )


def not_itself(way: Variant) -> Mistake:
    """``<`` for ``<=``, or ``.tril(-1)``."""
    return Mistake(
        "not_itself",
        way,
        does="no position sees itself",
        says=(
            "{does}, only what comes before it. Look at the comparison, or at the diagonal that is the last to stay."
        ),
        hints=["Which positions does the first one see, and which should it see?"],
    )


def to_be_added(steps: InSteps) -> Mistake:
    """0 and −∞."""
    return Mistake(
        "mask_to_be_added",
        steps.but(mask=lambda mask: torch.zeros(mask.shape).masked_fill(mask == 0, -torch.inf)),
        steps.but(mask=lambda mask: torch.zeros(mask.shape).masked_fill(mask == 0, -1e9)).attempt,
        does="the mask is a matrix to be added to the scores, 0 where a query may attend and very negative where not",
        says=(
            "This is a matrix to be *added* to the scores: 0 where a query may attend, and -∞ or nearly that where "
            "not. A mask of True and False is asked for."
        ),
        hints=["Print `mask.dtype`. What is asked for?"],
    )


def a_list(steps: InSteps) -> Mistake:
    """``[[…], […]]``."""
    return Mistake(
        "list_of_lists",
        steps.but(mask=lambda mask: mask.tolist()),
        does="the mask is a list of lists",
        says="The entries are right, but this is a list of lists. A tensor is asked for.",
        hints=["What does `type(mask)` say?"],
    )
