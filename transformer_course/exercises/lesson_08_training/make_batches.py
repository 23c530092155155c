"""From lists of ids to batches: pairs of similar length together, padded, with the mask of the source."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def make_batches(
    pairs: list[tuple[list[int], list[int]]], batch_size: int, pad_id: int
) -> list[tuple[Int[Tensor, "batch n_source"], Int[Tensor, "batch n_target"], Bool[Tensor, "batch 1 1 n_source"]]]:
    """Return a list of (source, target, source_mask), each padded, for pairs of lists of ids."""

    def pad(sequences):
        width = max(map(len, sequences))
        return torch.tensor([ids + [pad_id] * (width - len(ids)) for ids in sequences])

    ordered = sorted(pairs, key=lambda pair: len(pair[0]))  # equal lengths stay in their order
    batches = []
    for start in range(0, len(ordered), batch_size):
        sources, targets = zip(*ordered[start : start + batch_size], strict=True)
        source = pad(sources)
        batches.append((source, pad(targets), (source != pad_id)[:, None, None, :]))
    return batches


def lengths(pairs):
    """count the tokens of each source → the lengths of the sources"""
    return [len(source) for source, _ in pairs]


def order(lengths):
    """sort by these lengths, shortest first → the order of the pairs: by length of the source"""
    return sorted(range(len(lengths)), key=lengths.__getitem__)


def ordered(pairs, order):
    """put the pairs in this order → the pairs in order"""
    return [pairs[i] for i in order]


def starts(ordered, batch_size):
    """begin a batch at every `batch_size`-th pair → the pairs at which batches begin"""
    return range(0, len(ordered), batch_size)


def groups(ordered, starts, batch_size):
    """take so many pairs from there → the pairs of each batch"""
    return [ordered[start : start + batch_size] for start in starts]


def width():
    """find the longest sequence of a batch, for each side → the width of a side of a batch: its longest sequence"""
    return lambda group, side: max(len(pair[side]) for pair in group)


def filled(pad_id):
    """append padding up to this width → a padded sequence"""
    return lambda ids, width: ids + [pad_id] * (width - len(ids))


def sources(groups, width, filled):
    """make a tensor of the sources of each batch → the sources of each batch, (batch, n_source)"""
    return [torch.tensor([filled(pair[0], width(group, 0)) for pair in group]) for group in groups]


def targets(groups, width, filled):
    """make a tensor of the targets of each batch → the targets of each batch, (batch, n_target)"""
    return [torch.tensor([filled(pair[1], width(group, 1)) for pair in group]) for group in groups]


def real(sources, pad_id):
    """mark the tokens of the source that are no padding → the mask of the real tokens, (batch, n_source)"""
    return [source != pad_id for source in sources]


def masks(real):
    """add an axis for the heads and one for the queries → the masks, (batch, 1, 1, n_source)"""
    return [mask[:, None, None, :] for mask in real]


def batches(sources, targets, masks):
    """put source, target and mask of each batch into a tuple → the batches"""
    return list(zip(sources, targets, masks, strict=True))


STEPS = InSteps(
    lengths,
    order,
    ordered,
    starts,
    groups,
    width,
    filled,
    sources,
    targets,
    real,
    masks,
    batches,
    reference=make_batches,
)


def make_batches_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def draw(length: int, pad_id: int) -> list[int]:
        ids = torch.randint(1 if pad_id == 0 else 0, 29, (length,), generator=rng)
        return (ids + (ids >= pad_id) * (pad_id > 0)).tolist()  # every token but the padding

    def case(lengths: list[tuple[int, int]], batch_size: int, pad_id: int, shows: str) -> Case:
        pairs = [(draw(n, pad_id), draw(m, pad_id)) for n, m in lengths]
        return Case({"pairs": pairs, "batch_size": batch_size, "pad_id": pad_id}, shows)

    many = torch.randint(1, 31, (311, 2), generator=rng).tolist()
    return [
        case([(2, 3), (1, 2)], 2, 0, "2 pairs in one batch"),
        case([(3, 2), (1, 4), (2, 1)], 2, 0, "3 pairs, 2 at a time"),
        case([(2, 2), (2, 5), (1, 3), (2, 1), (1, 4)], 3, 0, "sources of equal length, which stay in their order"),
        case([(4, 1), (2, 6), (3, 2), (1, 5), (5, 3)], 2, 7, "padding that is not token 0"),
        case([(3, 4), (6, 2), (2, 7), (5, 3)], 9, 3, "fewer pairs than a batch may hold"),
        case([(5, 2), (1, 6), (4, 3)], 1, 2, "one pair at a time"),
        case([(n, m) for n, m in many], 16, 11, "311 pairs"),
    ]


MISTAKES = [
    Mistake(
        "sorted_within_batches",
        STEPS.but(
            groups=lambda pairs, starts, batch_size: [
                sorted(pairs[start : start + batch_size], key=lambda pair: len(pair[0])) for start in starts
            ]
        ),
        summary="pairs are sorted within each batch, and not before they are divided among batches",
        message=(
            "The list is cut first, and each batch is sorted by itself. That saves no padding: which sentences share "
            "a batch was decided before."
        ),
        hints=["Look at the lengths in the first batch, and in the last."],
    ),
    Mistake(
        "longest_first",
        STEPS.but(order=lambda lengths: sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)),
        STEPS.but(order=lambda order: order[::-1]),
        summary="the longest source comes first",
        message="{summary}. The shortest should.",
        hints=["Print the lengths of the sources, batch by batch."],
    ),
    Mistake(
        "sorted_by_the_target",
        STEPS.but(lengths=lambda pairs: [len(target) for _, target in pairs]),
        summary="the pairs are sorted by the length of the *target*",
        message="The pairs are sorted by the length of their *target*. Look at which of the two is measured.",
        hints=["Print the lengths of the sources, batch by batch. Do they rise?"],
    ),
    Mistake(
        "last_batch_dropped",
        STEPS.but(starts=lambda ordered, batch_size: range(0, len(ordered) - batch_size + 1, batch_size)),
        summary="the last batch is left out where it is not full",
        message="Some pairs are in no batch: the last one is left out where it is not full. And these are the longest.",
        hints=["How many pairs are in all batches together?"],
    ),
    Mistake(
        "as_wide_as_the_longest_of_all",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(pair[side]) for pair in pairs)),
        summary="all batches are padded to the longest sequence of *all* pairs",
        message=(
            "Every batch is as wide as the longest sequence of *all* the pairs. Batches of short sentences are then "
            "mostly padding, and sorting was in vain."
        ),
        hints=["How wide should a batch be whose sources have 1 and 2 tokens?"],
    ),
    Mistake(
        "one_width_for_both_sides",
        STEPS.but(width=lambda: lambda group, side: max(max(map(len, pair)) for pair in group)),
        summary="source and target of a batch are padded to one common width",
        message="Source and target are padded to one common width. Each side has its own longest sequence.",
        hints=["What shapes should the source and the target of a batch have, if they have 2 tokens and 3?"],
    ),
    Mistake(
        "one_width_for_everything",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(ids) for pair in pairs for ids in pair)),
        summary="all sources and all targets are padded to one width",
        message=(
            "{summary}, that of the longest sequence of all. Each batch, and each side of it, has its own longest one."
        ),
        hints=["How wide should a batch be whose sources have 1 and 2 tokens, and whose targets have 3?"],
    ),
    Mistake(
        "wide_as_the_last",
        STEPS.but(width=lambda: lambda group, side: len(group[-1][side])),
        summary="a side is as wide as the last pair of the batch, not as the longest",
        message=(
            "A side is as wide as the *last* pair of the batch. That is right for sources, which are sorted, but the "
            "targets are not."
        ),
        hints=["Which target of the batch is the longest?"],
    ),
    Mistake(
        "padding_in_front",
        STEPS.but(filled=lambda pad_id: lambda ids, width: [pad_id] * (width - len(ids)) + ids),
        summary="the padding stands in front of the tokens",
        message="The padding stands *in front*. Then bos and the first words would be at another position in each row.",
        hints=["Where in each row is the first token?"],
    ),
    Mistake(
        "padded_with_zero",
        STEPS.but(filled=lambda: lambda ids, width: ids + [0] * (width - len(ids))),
        summary="0 is appended, whatever `pad_id` is",
        message="What is appended is 0, whatever `pad_id` is. Not every vocabulary has its padding at 0.",
        hints=["Does `pad_id` occur where the sequences are filled up?"],
    ),
    Mistake(
        "mask_compares_with_zero",
        STEPS.but(real=lambda sources: [source != 0 for source in sources]),
        summary="the mask hides token 0, whatever `pad_id` is",
        message="{summary}. Not every vocabulary has its padding at 0.",
        hints=["In one case the padding is token 7. What does the mask say there?"],
    ),
    Mistake(
        "mask_without_axes",
        STEPS.but(masks=lambda real: real),
        STEPS.but(masks=lambda real: [mask[:, None, :] for mask in real]).attempt,
        summary="the mask does not have the axes (batch, 1, 1, n_source)",
        message=(
            "The entries of the mask are right, its axes are not: it should be (batch, 1, 1, n_source), so that it "
            "fits scores of (batch, n_heads, n_query, n_key)."
        ),
        hints=["Print the shape of the mask."],
    ),
]


EXERCISE = Exercise(
    reference=make_batches,
    steps=STEPS,
    cases=make_batches_cases,
    points=3,
    verified="Pairs of similar length share a batch, each side is padded to its own longest, and the mask hides what "
    "was added.",
    hints=[
        "Three steps: sort the pairs, cut the list into pieces, and make tensors of each piece.",
        "`sorted(pairs, key=…)` keeps what is equal in its order; the key is the length of `pair[0]`, the source. Then "
        "`ordered[start : start + batch_size]`, for every `start` in `range(0, len(ordered), batch_size)`.",
        "Pad each side by itself: `width = max(map(len, sequences))`, then `ids + [pad_id] * (width - len(ids))` for "
        "each list, and `torch.tensor` of all of them.",
        "The mask is `source != pad_id`, with two more axes in the middle: `[:, None, None, :]`. Or call "
        "`parts.padding_mask(source, pad_id)`.",
    ],
    messages={
        "wrong_input_real: targets": (
            "The mask is that of the *target*. The one of the source is wanted: the encoder and the memory need it."
        ),
    },
    mistakes=MISTAKES,
)
