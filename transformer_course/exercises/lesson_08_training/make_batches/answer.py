"""The answer to ``make_batches``, plainly and in steps."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

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
    """count the tokens of each source

    the lengths of the sources
    """
    return [len(source) for source, _ in pairs]


def order(lengths):
    """sort by these lengths, shortest first

    the order of the pairs: by length of the source
    """
    return sorted(range(len(lengths)), key=lengths.__getitem__)


def ordered(pairs, order):
    """put the pairs in this order

    the pairs in order
    """
    return [pairs[i] for i in order]


def starts(ordered, batch_size):
    """begin a batch at every `batch_size`-th pair

    the pairs at which batches begin
    """
    return range(0, len(ordered), batch_size)


def groups(ordered, starts, batch_size):
    """take so many pairs from there

    the pairs of each batch
    """
    return [ordered[start : start + batch_size] for start in starts]


def width():
    """find the longest sequence of a batch, for each side by itself

    the width of a side of a batch: its longest sequence
    """
    return lambda group, side: max(len(pair[side]) for pair in group)


def filled(pad_id):
    """append padding up to this width

    a padded sequence
    """
    return lambda ids, width: ids + [pad_id] * (width - len(ids))


def sources(groups, width, filled):
    """make a tensor of the sources of each batch

    the sources of each batch, (batch, n_source)
    """
    return [torch.tensor([filled(pair[0], width(group, 0)) for pair in group]) for group in groups]


def targets(groups, width, filled):
    """make a tensor of the targets of each batch

    the targets of each batch, (batch, n_target)
    """
    return [torch.tensor([filled(pair[1], width(group, 1)) for pair in group]) for group in groups]


def real(sources, pad_id):
    """mark the tokens of the source that are no padding

    the mask of the real tokens, (batch, n_source)
    """
    return [source != pad_id for source in sources]


def masks(real):
    """add an axis for the heads and one for the queries

    the masks, (batch, 1, 1, n_source)
    """
    return [mask[:, None, None, :] for mask in real]


def batches(sources, targets, masks):
    """put source, target and mask of each batch into a tuple

    the batches
    """
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
