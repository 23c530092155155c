"""Batching: group pairs of similar length, pad them and build the source mask."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
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

    ordered = sorted(pairs, key=lambda pair: len(pair[0]))  # pairs with equal lengths keep their order
    batches = []
    for start in range(0, len(ordered), batch_size):
        sources, targets = zip(*ordered[start : start + batch_size], strict=True)
        source = pad(sources)
        batches.append((source, pad(targets), (source != pad_id)[:, None, None, :]))
    return batches


def lengths(pairs):
    """measure the length of each source → the lengths of the sources"""
    return [len(source) for source, _ in pairs]


def order(lengths):
    """sort by source length, shortest first → the order of the pairs: by source length"""
    return sorted(range(len(lengths)), key=lengths.__getitem__)


def ordered(pairs, order):
    """arrange the pairs in sorted order → the sorted pairs"""
    return [pairs[i] for i in order]


def starts(ordered, batch_size):
    """start a batch at every `batch_size`-th pair → the starts of the batches"""
    return range(0, len(ordered), batch_size)


def groups(ordered, starts, batch_size):
    """take `batch_size` pairs for each batch → the pairs in each batch"""
    return [ordered[start : start + batch_size] for start in starts]


def width():
    """find the longest sequence on each side → the width of a side: the maximum length in the batch"""
    return lambda group, side: max(len(pair[side]) for pair in group)


def filled(pad_id):
    """append padding up to the width → the padded sequence"""
    return lambda ids, width: ids + [pad_id] * (width - len(ids))


def sources(groups, width, filled):
    """convert each batch's padded sources to a tensor → the sources of each batch, (batch, n_source)"""
    return [torch.tensor([filled(pair[0], width(group, 0)) for pair in group]) for group in groups]


def targets(groups, width, filled):
    """convert each batch's padded targets to a tensor → the targets of each batch, (batch, n_target)"""
    return [torch.tensor([filled(pair[1], width(group, 1)) for pair in group]) for group in groups]


def real(sources, pad_id):
    """mark the source tokens that aren't padding → the mask of the real tokens, (batch, n_source)"""
    return [source != pad_id for source in sources]


def masks(real):
    """add dimensions for heads and queries to the mask → the masks, (batch, 1, 1, n_source)"""
    return [mask[:, None, None, :] for mask in real]


def batches(sources, targets, masks):
    """combine each batch's source, target and mask in a tuple → the batches"""
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
        return (ids + (ids >= pad_id) * (pad_id > 0)).tolist()  # any token except padding

    def case(lengths: list[tuple[int, int]], batch_size: int, pad_id: int, shows: str) -> Case:
        pairs = [(draw(n, pad_id), draw(m, pad_id)) for n, m in lengths]
        return Case({"pairs": pairs, "batch_size": batch_size, "pad_id": pad_id}, shows)

    many = torch.randint(1, 31, (311, 2), generator=rng).tolist()
    return [
        case([(2, 3), (1, 2)], 2, 0, "2 pairs in one batch"),
        case([(3, 2), (1, 4), (2, 1)], 2, 0, "3 pairs, 2 at a time"),
        case([(2, 2), (2, 5), (1, 3), (2, 1), (1, 4)], 3, 0, "sources of equal length, which keep their order"),
        case([(4, 1), (2, 6), (3, 2), (1, 5), (5, 3)], 2, 7, "padding that isn't token 0"),
        case([(3, 4), (6, 2), (2, 7), (5, 3)], 9, 3, "fewer pairs than a batch may hold"),
        case([(5, 2), (1, 6), (4, 3)], 1, 2, "one pair at a time"),
        case([(n, m) for n, m in many], 16, 11, "311 pairs"),
    ]


def wide_as_all(wide):
    """Return the step that pads side ``wide`` to its longest sequence in all pairs instead of the batch."""
    return lambda pairs: lambda group, side: max(len(pair[side]) for pair in (pairs if side == wide else group))


MISTAKES = [
    Mistake(
        "sorted_within_batches",
        STEPS.but(
            groups=lambda pairs, starts, batch_size: [
                sorted(pairs[start : start + batch_size], key=lambda pair: len(pair[0])) for start in starts
            ]
        ),
        summary="you sort the pairs within each batch instead of before you form the batches",
        message=(
            "{summary}. That saves no padding, because the same sentences still share a batch. Which list should you "
            "sort?"
        ),
        hints=["Which source lengths are in your first batch, and which are in the last?"],
    ),
    Mistake(
        "longest_first",
        STEPS.but(order=lambda lengths: sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)),
        STEPS.but(order=lambda order: order[::-1]),
        summary="you sort the pairs from the longest source to the shortest",
        message="{summary}, so the batches are in reverse order. Which argument of `sorted` do you need to change?",
        hints=["Print the source lengths, batch by batch. Do they increase or decrease?"],
    ),
    Mistake(
        "equal_lengths_sorted_by_their_tokens",
        STEPS.but(order=lambda pairs: sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]), pairs[i]))),
        STEPS.but(order=lambda pairs: sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]), len(pairs[i][1])))),
        summary="you reorder pairs whose sources have the same length",
        message=(
            "{summary}. They should keep their original order, as they do in `sorted` if the key is only the length. "
            "What is your key?"
        ),
        hints=["Two sources have 2 tokens each. Which pair comes first in your code, and why?"],
    ),
    Mistake(
        "sorted_by_the_target",
        STEPS.but(lengths=lambda pairs: [len(target) for _, target in pairs]),
        summary="you sort the pairs by the length of the *target*",
        message=(
            "{summary}, so short and long sources share a batch, and the sources need more padding. Which element of a "
            "pair is the source?"
        ),
        hints=["Print the source lengths, batch by batch. Are they in increasing order?"],
    ),
    Mistake(
        "last_batch_dropped",
        STEPS.but(starts=lambda ordered, batch_size: range(0, len(ordered) - batch_size + 1, batch_size)),
        summary="you leave out the last batch if it isn't full",
        message=(
            "{summary}. Its pairs have the longest sources, and the model is never trained on them. Where does your "
            "last batch start?"
        ),
        hints=["How many pairs are in all of your batches together?"],
    ),
    Mistake(
        "as_wide_as_the_longest_of_all",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(pair[side]) for pair in pairs)),
        summary="you pad every batch to the longest sequence of *all* pairs",
        message=(
            "{summary}. Batches of short sentences are then mostly padding, so sorting saves nothing. Over which "
            "pairs should you take the maximum?"
        ),
        hints=["If a batch has sources of 1 and 2 tokens, how wide should its source tensor be? How wide is yours?"],
    ),
    Mistake(
        "one_side_as_wide_as_the_longest_of_all",
        STEPS.but(width=wide_as_all(0)),
        STEPS.but(width=wide_as_all(1)),
        summary="you pad one side of every batch to the longest sequence of *all* pairs",
        message=(
            "{summary}, so that side gets more padding than it needs. For which side do you take the maximum over all "
            "pairs?"
        ),
        hints=[
            "If a batch has sources of 1 and 2 tokens, how wide should its source tensor be? And its target tensor?"
        ],
    ),
    Mistake(
        "one_width_for_both_sides",
        STEPS.but(width=lambda: lambda group, side: max(max(map(len, pair)) for pair in group)),
        summary="you pad the source and the target of a batch to a common width",
        message=(
            "{summary}, so the shorter of the two gets more padding than it needs. How wide should the two tensors be?"
        ),
        hints=["A batch has sources of 2 tokens and targets of 3. What shapes should its two tensors have?"],
    ),
    Mistake(
        "one_width_for_everything",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(ids) for pair in pairs for ids in pair)),
        summary="you pad all sources and all targets to the length of the longest sequence",
        message=(
            "{summary}, so a batch of short sentences is mostly padding. Which sequences should determine the width "
            "of each side of a batch?"
        ),
        hints=["A batch has sources of 1 and 2 tokens and targets of 3. How wide should its two tensors be?"],
    ),
    Mistake(
        "wide_as_the_last",
        STEPS.but(width=lambda: lambda group, side: len(group[-1][side])),
        summary="you pad the sources and the targets to the lengths of the last pair in the batch",
        message=(
            "{summary}. Only the sources are sorted by length, so an earlier target may be longer than the last one. "
            "Which target determines the padded length?"
        ),
        hints=["If a batch has targets of 5 and 3 tokens, in this order, how wide should its target tensor be?"],
    ),
    Mistake(
        "padding_in_front",
        STEPS.but(filled=lambda pad_id: lambda ids, width: [pad_id] * (width - len(ids)) + ids),
        summary="you put the padding in front of the tokens",
        message=("{summary}, so bos has a different position in each row. At which end should you add padding?"),
        hints=["At which index is the first token of each of your rows?"],
    ),
    Mistake(
        "padded_with_zero",
        STEPS.but(filled=lambda: lambda ids, width: ids + [0] * (width - len(ids))),
        summary="you pad with 0 instead of `pad_id`",
        message=("{summary}, but 0 can be an ordinary token: in one case here, `pad_id` is 7."),
        hints=["Where do you use `pad_id` when you pad the sequences?"],
    ),
    Mistake(
        "mask_compares_with_zero",
        STEPS.but(real=lambda sources: [source != 0 for source in sources]),
        summary="you compare with 0 instead of `pad_id` in the mask",
        message=(
            "{summary}, but 0 can be an ordinary token: in one case here, `pad_id` is 7. Which tokens are padding?"
        ),
        hints=["If `pad_id` is 7, what is your mask where the source is 7? And where the source is 0?"],
    ),
    Mistake(
        "mask_without_axes",
        STEPS.but(masks=lambda real: real),
        STEPS.but(masks=lambda real: [mask[:, None, :] for mask in real]).attempt,
        summary="your mask doesn't have the shape (batch, 1, 1, n_source)",
        message=(
            "Your mask has the right entries but the wrong shape. To broadcast against scores of shape (batch, "
            "n_heads, n_query, n_key), it must have shape (batch, 1, 1, n_source). Which dimensions are missing?"
        ),
        hints=["Print the shape of your mask. Which of its dimensions lines up with the heads?"],
    ),
]


EXERCISE = Exercise(
    reference=make_batches,
    steps=STEPS,
    cases=make_batches_cases,
    points=3,
    verified=(
        "Pairs of similar length share a batch, each side is padded to its own longest sequence, and the mask hides "
        "the padding."
    ),
    hints=[
        "Three pairs have sources of 3, 1 and 2 tokens. With a batch_size of 2, which pairs form the first batch, "
        "and how wide is its source?",
        "Sort the pairs, split the list into batches, and convert each batch to tensors. `sorted(pairs, key=…)` keeps "
        "pairs with equal keys in their order; the key is the length of `pair[0]`, the source. A batch is "
        "`ordered[start : start + batch_size]`, for every `start` in `range(0, len(ordered), batch_size)`.",
        "Pad each side separately: `width = max(map(len, sequences))`, then `ids + [pad_id] * (width - len(ids))` "
        "for each list, and `torch.tensor` of all of them.",
        "The mask is `source != pad_id`, with two more dimensions in the middle: `[:, None, None, :]`. Or call "
        "`parts.padding_mask(source, pad_id)`.",
    ],
    messages={
        "left_out_ordered: pairs": Wording(
            "{summary}, so short and long sources share a batch, which then needs a lot of padding. What should you "
            "do with the pairs before you form the batches?",
            summary="you don't sort the pairs",
            hints=["Print the source lengths, batch by batch. Are they in increasing order?"],
        ),
        "part_left_out_filled: [pad_id]": Wording(
            "{summary}, so sequences of different lengths still have different lengths. With a width of 4, how many "
            "padding tokens should a sequence of 1 token get?",
            summary="you append a single padding token to every sequence",
            hints=["A batch has sources of 1 and 4 tokens. How many padding tokens should each of them get?"],
        ),
        "part_left_out_filled: width": Wording(
            "{summary}, so a sequence of 3 tokens with a width of 4 gets 4 padding tokens instead of 1. Which number "
            "should you subtract from the width?",
            summary="you append `width` padding tokens to every sequence",
            hints=["A batch has sources of 1 and 4 tokens. How many padding tokens should each of them get?"],
        ),
        "comparison_real": Wording(
            "{summary}, so the model would attend only to the padding. In this course, True means *may attend*. For "
            "which tokens should your mask be True?",
            summary="your mask is inverted: it is True at the padding",
            hints=["For the source 5, 8 and one `pad_id`, which three entries should the mask have?"],
        ),
        "wrong_input_real: targets": (
            Wording(
                "You make the mask from the *target*, but the encoder and the cross-attention need to know where the "
                "source has padding. Which tensor should you compare with `pad_id`?",
                summary="you make the mask from the target instead of the source",
                hints=[
                    "A source has 2 tokens and its target has 3. How many entries of the mask should be True for this "
                    "pair?",
                ],
            )
        ),
    },
    mistakes=MISTAKES,
)
