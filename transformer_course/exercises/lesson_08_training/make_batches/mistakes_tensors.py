"""What goes wrong when the sequences of a batch are padded and masked."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.make_batches.answer import STEPS


def before(pad_id):
    """Pad on the left."""
    return lambda ids, width: [pad_id] * (width - len(ids)) + ids


def cut(pad_id):
    """Pad and cut."""
    return lambda ids, width: (ids + [pad_id] * (width - len(ids)))[:width]


def with_zeros(ids, width):
    return ids + [0] * (width - len(ids))


def side_of(groups, side, width, filled):
    """Return the sources or the targets of each batch, padded otherwise than the other side."""
    return [torch.tensor([filled(pair[side], width(group, side)) for pair in group]) for group in groups]


MISTAKES = [
    Mistake(
        "as_wide_as_the_longest_of_all",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(pair[side]) for pair in pairs)),
        does="all batches are padded to the longest sequence of *all* pairs",
        says=(
            "Every batch is as wide as the longest sequence of *all* the pairs. Batches of short sentences are then "
            "mostly padding, and sorting was in vain."
        ),
        hints=["How wide should a batch be whose sources have 1 and 2 tokens?"],
    ),
    Mistake(
        "one_width_for_both_sides",
        STEPS.but(width=lambda: lambda group, side: max(max(map(len, pair)) for pair in group)),
        does="source and target of a batch are padded to one common width",
        says="Source and target are padded to one common width. Each side has its own longest sequence.",
        hints=["What shapes should the source and the target of a batch have, if they have 2 tokens and 3?"],
    ),
    Mistake(
        "wide_as_the_last",
        STEPS.but(width=lambda: lambda group, side: len(group[-1][side])),
        does="a side is as wide as the last pair of the batch, not as the longest",
        says=(
            "A side is as wide as the *last* pair of the batch. That is right for sources, which are sorted, but the "
            "targets are not."
        ),
        hints=[
            "Which target of the batch is the longest?",
            "The pairs are in the order of their *sources*.",
            "`max` of the lengths, for each side.",
        ],
    ),
    Mistake(
        "padding_in_front",
        STEPS.but(filled=before),
        STEPS.but(sources=lambda groups, width, pad_id: side_of(groups, 0, width, before(pad_id))),
        STEPS.but(targets=lambda groups, width, pad_id: side_of(groups, 1, width, before(pad_id))),
        does="the padding stands in front of the tokens",
        says="The padding stands *in front*. Then bos and the first words would be at another position in each row.",
        hints=["Where in each row is the first token?"],
    ),
    Mistake(
        "padded_with_zero",
        STEPS.but(filled=lambda: lambda ids, width: ids + [0] * (width - len(ids))),
        STEPS.but(sources=lambda groups, width: side_of(groups, 0, width, with_zeros)),
        STEPS.but(targets=lambda groups, width: side_of(groups, 1, width, with_zeros)),
        STEPS.but(pad_id=lambda: 0),
        does="0 is appended, whatever `pad_id` is",
        says="What is appended is 0, whatever `pad_id` is. Not every vocabulary has its padding at 0.",
        hints=["Does `pad_id` occur where the sequences are filled up?"],
    ),
    Mistake(
        "mask_compares_with_zero",
        STEPS.but(real=lambda sources: [source != 0 for source in sources]),
        does="the mask hides token 0, whatever `pad_id` is",
        says="{does}. Not every vocabulary has its padding at 0.",
        hints=["In one case the padding is token 7. What does the mask say there?"],
    ),
    Mistake(
        "mask_without_axes",
        STEPS.but(masks=lambda real: real),
        STEPS.but(masks=lambda real: [mask[:, None, :] for mask in real]).attempt,
        STEPS.but(masks=lambda real: [mask[:, None, :, None] for mask in real]).attempt,
        STEPS.but(masks=lambda real: [mask[:, :, None, None] for mask in real]).attempt,
        STEPS.but(masks=lambda real: [mask[None, None] for mask in real]).attempt,
        does="the mask does not have the axes (batch, 1, 1, n_source)",
        says=(
            "The entries of the mask are right, its axes are not: it should be (batch, 1, 1, n_source), so that it "
            "fits scores of (batch, n_heads, n_query, n_key)."
        ),
        hints=["Print the shape of the mask."],
    ),
    Mistake(
        "parts_instead_of_batches",
        STEPS.but(batches=lambda sources, targets, masks: (sources, targets, masks)).attempt,
        says=(
            "There are three lists here: all sources, all targets, all masks. A list of batches is wanted, each of "
            "which has the three."
        ),
        hints=[
            "What should `len(make_batches(pairs, 1, 0))` be for 3 pairs?",
            "A loop over the result should give one batch after the other.",
            "`zip` turns three lists into triples.",
        ],
    ),
    Mistake(
        "lists_for_tensors",
        STEPS.but(
            sources=lambda groups, width, filled: [
                [filled(pair[0], width(group, 0)) for pair in group] for group in groups
            ],
            targets=lambda groups, width, filled: [
                [filled(pair[1], width(group, 1)) for pair in group] for group in groups
            ],
            real=lambda sources, pad_id: [torch.tensor(source) != pad_id for source in sources],
        ).attempt,
        says="The ids are right, but they are lists of lists. A model takes tensors.",
        hints=[
            "What does `type(source)` say?",
            "One function of torch makes a tensor of lists of equal length.",
            "`torch.tensor(…)` round the padded lists.",
        ],
    ),
]
