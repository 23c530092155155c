"""What goes wrong when projections are cut into heads."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.split_heads.answer import STEPS

MISTAKES = [
    Mistake(
        "splits_by_view",
        STEPS.but(heads=lambda x, sizes: x.reshape(len(x), sizes[0], x.shape[1], sizes[1])),
        does=(
            "the numbers are dealt out to the heads in the order in which they are stored, so that heads get "
            "positions, not features"
        ),
        says=(
            "The shape is right, but the heads got positions instead of features: the first head holds everything "
            "about the first positions, and nothing about the last."
        ),
        hints=["In the first case, head 0 should hold 10, 11 of the first position and 20, 21 of the second."],
    ),
    Mistake(
        "transposes_too_early",
        STEPS.but(heads=lambda x, sizes: x.mT.reshape(len(x), sizes[0], x.shape[1], sizes[1])),
        STEPS.but(cut=lambda x, sizes: x.mT.reshape(len(x), x.shape[1], *sizes)),
        STEPS.but(heads=lambda x, sizes: x.mT.reshape(len(x), x.shape[1], *sizes)),
        does="positions and features change places before the features are cut",
        says="{does}, so that what is cut are not features any more. Look at the order of the steps.",
        hints=["In the first case, head 0 should hold 10, 11 of the first position. Which numbers are its first two?"],
    ),
    Mistake(
        "heads_made_into_a_batch",
        STEPS.but(heads=lambda cut: cut.transpose(1, 2).flatten(0, 1)),
        does="batch and heads are made one axis",
        says=(
            "The heads are right, but they have been made one axis with the batch. Some code does so; here the heads "
            "keep an axis of their own."
        ),
        hints=["The shape asked for is (batch, n_heads, n, d_k). Which is it now?"],
    ),
    Mistake(
        "heads_before_batch",
        STEPS.but(heads=lambda cut: cut.permute(2, 0, 1, 3)),
        does="the heads stand in front of the batch",
        says=(
            "The heads are cut as they should be, but they stand in front of the batch. Look at the order of the axes."
        ),
        hints=["The shape asked for is (batch, n_heads, n, d_k). Which is it now?"],
    ),
    Mistake(
        "heads_interleaved",
        STEPS.but(cut=lambda x, n_heads, d_k: x.reshape(*x.shape[:2], d_k, n_heads).mT),
        does="the features are dealt out in turn: head 0 gets 0, h, 2h and so on",
        says=(
            "A fair way to cut, but not the one asked for: the features are dealt out in turn, so head 0 holds "
            "features 0, h, 2h … Each head should hold neighbours. A model that was trained with one layout cannot be "
            "used with the other. Look at which of the two new axes comes first."
        ),
        hints=["With 4 features and 2 heads, which features does head 0 hold? It should be 0 and 1."],
    ),
    Mistake(
        "cuts_the_positions",
        STEPS.but(heads=lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=1), dim=1)),
        does="the positions are cut into pieces instead of the features",
        says=(
            "The *positions* are cut into pieces, not the features: each head knows a part of the sentence, with all "
            "of its features. Look at which axis is cut."
        ),
        hints=["In the first case, head 0 should hold 10, 11 of the first position and 20, 21 of the second."],
    ),
]
