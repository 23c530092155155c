"""Batches of sentence pairs: of similar lengths, so that little is padding, and in an order drawn from a seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

BATCHES_PER_POOL = 100
"""Pairs are sorted by length within this many batches: that saves nearly all padding, and still mixes the corpus."""


@dataclass(frozen=True)
class Batch:
    """Sentence pairs padded to common lengths.

    Args:
        source: Tokens of the sources.
        target: Tokens of the targets, from the one that begins a sentence to the one that ends it.
    """

    source: Int[Tensor, "batch n_source"]
    target: Int[Tensor, "batch n_target"]

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device."""
        return Batch(self.source.to(device, non_blocking=True), self.target.to(device, non_blocking=True))

    def shard(self, rank: int, n_shards: int) -> "Batch":
        """Return the pairs of one process: every ``n_shards``-th, from pair ``rank``."""
        return Batch(self.source[rank::n_shards], self.target[rank::n_shards])


@runtime_checkable
class Sequences(Protocol):
    """Token sequences that are read by index, with their lengths: a ``TokenStore`` or ``InMemory``."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Number of tokens of each sequence."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> NDArray[np.int64]: ...


class Batches:
    """The batches of a corpus, epoch after epoch, without end.

    The batch of a step depends on the seed and the step alone, so an interrupted run can be resumed at any step.

    Args:
        sources: Token sequence of each source.
        targets: Token sequence of each target.
        n_tokens: Largest number of tokens, padding included, in the longer side of a batch.
        pad_id: Padding token.
        seed: Seed of the order.

    Raises:
        ValueError: There are no pairs, the numbers of sources and targets differ, or a pair exceeds ``n_tokens``.
    """

    def __init__(self, sources: Sequences, targets: Sequences, n_tokens: int, pad_id: int, seed: int) -> None:
        if len(sources) != len(targets) or not len(sources):
            found = f"{len(sources)} sources and {len(targets)} targets"
            raise ValueError(f"a corpus needs at least one source, and a target for each; got {found}")
        self.sources, self.targets = sources, targets
        self.n_tokens, self.pad_id, self.seed = n_tokens, pad_id, seed
        self._lengths = np.maximum(sources.lengths, targets.lengths).astype(np.int64)
        longest = int(self._lengths.max())
        if longest > n_tokens:
            raise ValueError(f"a batch of n_tokens={n_tokens} cannot hold the longest pair, of {longest} tokens")

    def from_step(self, step: int) -> Iterator[Batch]:
        """Yield the batches from a step on, counted from 0, without end."""
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
        """Return the indices of the pairs in each batch of an epoch; every pair occurs once."""
        rng = np.random.default_rng((self.seed, epoch))
        order = rng.permutation(len(self._lengths))
        pool = BATCHES_PER_POOL * max(1, self.n_tokens // int(self._lengths.mean() + 1))
        batches: list[NDArray[np.int64]] = []
        for start in range(0, len(order), pool):
            chunk = order[start : start + pool]
            batches += self._split(chunk[np.argsort(self._lengths[chunk], kind="stable")])
        return [batches[i] for i in rng.permutation(len(batches))]

    def collate(self, indices: Sequence[int]) -> Batch:
        """Return the batch of these pairs, padded on the right."""
        return Batch(*(pad([side[i] for i in indices], self.pad_id) for side in (self.sources, self.targets)))

    def _split(self, indices: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split indices, sorted by length, into runs of at most ``n_tokens`` tokens, padding included."""
        runs: list[NDArray[np.int64]] = []
        start = 0
        for i, length in enumerate(self._lengths[indices].tolist()):
            if (i + 1 - start) * length > self.n_tokens:
                runs.append(indices[start:i])
                start = i
        return [*runs, indices[start:]]


class InMemory(list[NDArray[np.int64]]):
    """Token sequences in a list, with the lengths that ``Batches`` needs."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Number of tokens of each sequence."""
        return np.asarray([len(sequence) for sequence in self], np.uint32)


def pad(sequences: Sequence[NDArray[np.int64]], pad_id: int) -> Int[Tensor, "batch n"]:
    """Stack sequences of different lengths, padded on the right."""
    padded = np.full((len(sequences), max(map(len, sequences))), pad_id, np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(padded)
