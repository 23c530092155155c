"""Batches of sentence pairs or text windows, grouped by length to reduce padding, in a random order."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

BATCHES_PER_POOL = 100
"""Number of batches in a pool. Sorting pairs by length within pools avoids most padding and still mixes the corpus."""
NO_TOKEN = -1
"""Padding token for windows of text. It is not a valid id, so no vocabulary contains it."""


@dataclass(frozen=True)
class Batch:
    """Sentence pairs padded to common lengths.

    Args:
        source: Tokens of the sources.
        target: Tokens of the targets, including the begin and end tokens.
    """

    source: Int[Tensor, "batch n_source"]
    target: Int[Tensor, "batch n_target"]

    @property
    def inputs(self) -> tuple[Int[Tensor, "batch n_source"], Int[Tensor, "batch n"]]:
        """The inputs of the model: the sources, and the targets without their last token."""
        return self.source, self.target[:, :-1]

    @property
    def labels(self) -> Int[Tensor, "batch n"]:
        """The tokens that the model should predict: the targets without their first token."""
        return self.target[:, 1:]

    def to(self, device: torch.device) -> "Batch":
        """Return the batch, moved to a device."""
        return Batch(self.source.to(device, non_blocking=True), self.target.to(device, non_blocking=True))


@dataclass(frozen=True)
class TextBatch:
    """Windows of text, padded on the right with ``NO_TOKEN``.

    Args:
        tokens: Tokens of the windows. Each row has one token more than its window: the last label.
    """

    tokens: Int[Tensor, "batch n_and_1"]

    @property
    def inputs(self) -> tuple[Int[Tensor, "batch n"]]:
        """The inputs of the model. Padding comes last, so no real token attends to it."""
        return (self.tokens[:, :-1].clamp(min=0),)

    @property
    def labels(self) -> Int[Tensor, "batch n"]:
        """The tokens that the model should predict: the next token after each input."""
        return self.tokens[:, 1:]

    def to(self, device: torch.device) -> "TextBatch":
        """Return the batch, moved to a device."""
        return TextBatch(self.tokens.to(device, non_blocking=True))


AnyBatch = TypeVar("AnyBatch", Batch, TextBatch)


@runtime_checkable
class Sequences(Protocol):
    """Indexable token sequences with their lengths: a ``TokenStore`` or ``InMemory``."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Number of tokens in each sequence."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> NDArray[np.int64]: ...


class EpochBatches(ABC, Generic[AnyBatch]):
    """An endless sequence of batches, epoch after epoch; subclasses define the contents of a batch.

    The batch of a step depends only on the seed and the step, so an interrupted run can be resumed at any step.

    Args:
        lengths: Number of tokens in each item, such as a pair or a window.
        n_tokens: Maximum number of tokens in a batch, including padding.
        pad_id: Padding token of the labels.
        seed: Random seed for the order.
        item: Name of an item in error messages.

    Raises:
        ValueError: An item exceeds ``n_tokens``.
    """

    def __init__(self, lengths: NDArray[np.int64], n_tokens: int, pad_id: int, seed: int, item: str) -> None:
        self.n_tokens, self.pad_id, self.seed, self._lengths = n_tokens, pad_id, seed, lengths
        self.item = item
        longest = int(lengths.max())
        if longest > n_tokens:
            raise ValueError(
                f"the longest {item} has {longest} tokens, more than a batch of n_tokens={n_tokens} can hold"
            )

    def __str__(self) -> str:
        """Return the number of items and the number of tokens; only the longer side of each pair counts."""
        n_items = len(self._lengths)
        return f"{n_items:,} {self.item}{'s' if n_items > 1 else ''} of {int(self._lengths.sum()):,} tokens"

    @abstractmethod
    def collate(self, indices: Sequence[int]) -> AnyBatch:
        """Return the batch of these items, padded on the right."""

    def from_step(self, step: int) -> Iterator[AnyBatch]:
        """Yield the batches of this step and all later steps, without end; the first step is 0."""
        epoch = 0
        while True:
            plan = self.plan(epoch)
            if step < len(plan):
                for indices in plan[step:]:
                    yield self.collate(indices.tolist())
                step = len(plan)
            step -= len(plan)
            epoch += 1

    def plan(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the indices of the items in each batch of an epoch; every item occurs once."""
        rng = np.random.default_rng((self.seed, epoch))
        order = rng.permutation(len(self._lengths))
        pool = BATCHES_PER_POOL * max(1, self.n_tokens // int(self._lengths.mean() + 1))
        batches: list[NDArray[np.int64]] = []
        for start in range(0, len(order), pool):
            chunk = order[start : start + pool]
            batches += self._split(chunk[np.argsort(self._lengths[chunk], kind="stable")])
        return [batches[i] for i in rng.permutation(len(batches))]

    def _split(self, indices: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split indices, sorted by length, into batches of at most ``n_tokens`` tokens, including padding."""
        runs: list[NDArray[np.int64]] = []
        start = 0
        for i, length in enumerate(self._lengths[indices].tolist()):
            if (i + 1 - start) * length > self.n_tokens:
                runs.append(indices[start:i])
                start = i
        return [*runs, indices[start:]]


class Batches(EpochBatches[Batch]):
    """An endless sequence of batches from a parallel corpus, epoch after epoch.

    Args:
        sources: Token sequence of each source.
        targets: Token sequence of each target.
        n_tokens: Maximum number of tokens in the longer side of a batch, including padding.
        pad_id: Padding token.
        seed: Random seed for the order.

    Raises:
        ValueError: There are no pairs, the numbers of sources and targets differ, or a pair exceeds ``n_tokens``.
    """

    def __init__(self, sources: Sequences, targets: Sequences, n_tokens: int, pad_id: int, seed: int) -> None:
        if len(sources) != len(targets) or not len(sources):
            found = f"{len(sources)} sources and {len(targets)} targets"
            raise ValueError(f"a corpus requires at least one source, and a target for each source; got {found}")
        self.sources, self.targets = sources, targets
        lengths = np.maximum(sources.lengths, targets.lengths).astype(np.int64)
        super().__init__(lengths, n_tokens, pad_id, seed, item="pair")

    def collate(self, indices: Sequence[int]) -> Batch:
        """Return the batch of these pairs, padded on the right."""
        return Batch(*(pad([side[i] for i in indices], self.pad_id) for side in (self.sources, self.targets)))


class WindowBatches(EpochBatches[TextBatch]):
    """An endless sequence of batches of text windows, epoch after epoch.

    Args:
        windows: Tokens of each window, as returned by ``split_into_windows``.
        n_tokens: Maximum number of input tokens in a batch.
        seed: Random seed for the order.

    Raises:
        ValueError: There are no windows, or a window exceeds ``n_tokens``.
    """

    def __init__(self, windows: Sequences, n_tokens: int, seed: int) -> None:
        if not len(windows):
            raise ValueError(
                "no text has at least two tokens; training requires them to predict each token from earlier tokens"
            )
        self.windows = windows
        super().__init__(windows.lengths.astype(np.int64) - 1, n_tokens, NO_TOKEN, seed, item="window")

    def collate(self, indices: Sequence[int]) -> TextBatch:
        """Return the batch of these windows, padded on the right."""
        return TextBatch(pad([self.windows[i] for i in indices], NO_TOKEN))


def split_into_windows(tokens: Iterable[int], length: int) -> Iterator[list[int]]:
    """Yield windows of ``length`` tokens plus the next token, which also begins the next window.

    So every token except the first is predicted exactly once. The last window may be shorter.

    >>> list(split_into_windows(range(6), length=2))
    [[0, 1, 2], [2, 3, 4], [4, 5]]
    """
    tokens = iter(tokens)
    window = list(islice(tokens, length + 1))
    while len(window) > 1:
        yield window
        window = [window[-1], *islice(tokens, length)]


class InMemory(list[NDArray[np.int64]]):
    """Token sequences in a list, with the lengths that ``Batches`` needs."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Number of tokens in each sequence."""
        return np.asarray([len(sequence) for sequence in self], np.uint32)


def pad(sequences: Sequence[NDArray[np.int64]], pad_id: int) -> Int[Tensor, "batch n"]:
    """Pad sequences on the right to the same length, and stack them."""
    padded = np.full((len(sequences), max(map(len, sequences))), pad_id, np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(padded)
