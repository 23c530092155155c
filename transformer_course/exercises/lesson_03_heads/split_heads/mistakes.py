"""What goes wrong when projections are cut into heads."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.split_heads.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result


def overlapping(x, n_heads, d_k):
    return torch.stack([x[..., i : i + d_k] for i in range(n_heads)], dim=2)


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
        "heads_behind_positions",
        STEPS.but(heads=lambda cut: cut),
        does="the heads stay behind the positions",
    ),
    Mistake(
        "swaps_the_last_two_axes",
        STEPS.but(heads=lambda cut: cut.transpose(-2, -1)),
        does="the axis of the heads comes last",
        says=(
            "The heads have ended up last: the wrong two axes are swapped, or a new axis is put there. Look at which "
            "axes are named."
        ),
        hints=["After the cut the axes are (batch, n, n_heads, d_k), numbered 0 to 3. Where should the heads be?"],
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
        "features_in_front_of_heads",
        STEPS.but(heads=lambda cut: cut.permute(0, 3, 1, 2)),
        STEPS.but(heads=lambda cut: cut.permute(0, 3, 2, 1)),
        does="the axis of the features stands where that of the heads belongs",
    ),
    Mistake(
        "swaps_with_the_batch",
        STEPS.but(heads=lambda cut: cut.transpose(0, 1)),
        STEPS.but(heads=lambda cut: cut.transpose(0, 2)),
        STEPS.but(heads=lambda cut: cut.permute(1, 2, 0, 3)),
        does="the batch is moved away from the front",
        says="The batch is moved: it should stay the first axis. Look at which axes are swapped.",
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
        "as_many_heads_as_features",
        # where two pairs show the same, the one of fewer changes is told: that in which each head has d_k features
        STEPS.but(sizes=lambda n_heads, d_k: (d_k, n_heads), heads=lambda heads: heads),
        does="number and width of the heads are mixed up: d_k heads of n_heads features",
        says=(
            "The number of heads and their width are mixed up: there are d_k heads of n_heads features each. It goes "
            "unnoticed only where the two are equal. Look at the two numbers the last axis is cut into."
        ),
        hints=["With 12 features and 3 heads, how wide is each head?"],
    ),
    Mistake(
        "heads_in_reverse",
        STEPS.but(cut=lambda cut: cut.flip(2)),
        does="the heads come in reverse order",
        says="{does}: head 0 holds the last features. Look at the order in which they are put together.",
        hints=["In the first case, which features does head 0 hold?"],
    ),
    Mistake(
        "slices_overlap",
        STEPS.but(cut=overlapping),
        STEPS.but(
            cut=lambda x, n_heads, d_k: torch.stack(
                [x[..., (s := max(i * d_k - 1, 0)) : s + d_k] for i in range(n_heads)], dim=2
            )
        ).attempt,
        STEPS.but(
            cut=lambda x, n_heads, d_k: torch.stack(
                [x[..., i * (d_k - 1) : i * (d_k - 1) + d_k] for i in range(n_heads)], dim=2
            )
        ).attempt,
        does="each head begins only one feature after the one before it",
        says="The slices overlap: {does}. Look at where a slice begins.",
        hints=["With 12 features and 3 heads, which features should head 1 hold?"],
    ),
    Mistake(
        "slices_one_short",
        STEPS.but(cut=lambda cut: cut[..., :-1]),
        STEPS.but(cut=lambda cut: cut[..., 1:]),
        does="each head lacks the last or the first of its features",
        says="Each head lacks one of its features, the last or the first. Look at where a slice begins and ends.",
        hints=["With 12 features and 3 heads, how wide is each head?"],
    ),
    Mistake(
        "a_head_left_out",
        STEPS.but(cut=lambda cut: torch.stack(cut.unbind(2)[1:], dim=2)),
        STEPS.but(cut=lambda cut: torch.stack(cut.unbind(2)[:-1], dim=2)),
        STEPS.but(cut=lambda cut: cut[:, :, 1:]).attempt,
        STEPS.but(cut=lambda cut: cut[:, :, :-1]).attempt,
        does="the first or the last head is left out",
        says="One head is missing, the first or the last. Look at where the heads begin and end.",
        hints=["How many heads are asked for, and how many come out?"],
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
    Mistake(
        "a_list_of_heads",
        STEPS.but(heads=lambda cut: cut.unbind(2)),
        does="the heads come as separate tensors",
        says=(
            "The heads are right, but they come as separate tensors. One tensor is asked for, with an axis for the "
            "heads, so that all heads can be worked on at once."
        ),
        hints=["What does `type(...)` say of the result?"],
    ),
    Mistake(
        "first_head_only",
        STEPS.but(heads=lambda cut: cut[:, :, 0]),
        STEPS.but(heads=lambda cut: cut[:, :, :1].transpose(1, 2)),
        does="only the first head comes out",
        says="{does}. All of them are asked for, along an axis of their own.",
        hints=["The shape asked for is (batch, n_heads, n, d_k). Which is it now?"],
    ),
    Mistake(
        "everything_for_every_head",
        STEPS.but(heads=lambda x, n_heads: x.unsqueeze(1).repeat(1, n_heads, 1, 1)),
        does="every head gets all the features",
        says="{does}. It should get its own slice of them: d_model / n_heads.",
        hints=["How wide is a head to be, for 12 features and 3 heads?"],
    ),
    Mistake(
        "the_same_slice_for_all",
        STEPS.but(cut=lambda cut: cut[:, :, :1].expand_as(cut)),
        STEPS.but(cut=lambda cut: cut[:, :, -1:].expand_as(cut)),
        does="every head gets the same slice of the features",
        says="{does}. Each should have a slice of its own. Look at its bounds.",
        hints=["Which features belong to head 0, and which to head 1?"],
    ),
    Mistake(
        "divides_to_a_float",
        STEPS.but(d_k=lambda x, n_heads: x.shape[2] / n_heads),
        STEPS.but(
            d_k=lambda x, n_heads: x.shape[2] / n_heads,
            cut=lambda x, n_heads, d_k: x.view(*x.shape[:2], n_heads, d_k),
        ),
        does="the width of a head is a float",
        says="The width of a head came out as a float, and no axis can be 2.0 long. Look at the division.",
        hints=["In a new cell, try `4 / 2`. What type is it?"],
    ),
    Mistake(
        "scaled_on_the_way",
        STEPS.but(x=lambda x, n_heads: x / (x.shape[2] / n_heads) ** 0.5),
        STEPS.but(x=lambda x, n_heads: x / (x.shape[2] / n_heads)),
        STEPS.but(x=lambda x, n_heads: x / n_heads),
        does="the numbers are scaled on the way",
        says="The arrangement is right, but {does}. Nothing is to be computed here.",
        hints=["In the first case, head 0 should hold 10 and 11 as they are."],
    ),
    *of_the_result(
        STEPS,
        "result_with_another_sign",
        "result_scaled",
        "result_transposed",
        "function_of_the_result",
        "only_the_first_result",
    ),
]
