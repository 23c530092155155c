"""Batches of sentence pairs: of similar lengths, so that little is padding, and in the same order for the same seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

BATCHES_PER_POOL = 100
"""Lengths are sorted within so many batches, which saves nearly all the padding and still mixes the corpus."""


@dataclass(frozen=True)
class Batch:
    """Sentence pairs padded to common lengths.

    Args:
        source: What is read.
        target: What is written, from the token that begins a sentence to the one that ends it.
    """

    source: Int[Tensor, "batch n_source"]
    target: Int[Tensor, "batch n_target"]

    def to(self, device: torch.device) -> "Batch":
        """Move it to a device."""
        return Batch(self.source.to(device, non_blocking=True), self.target.to(device, non_blocking=True))

    def shard(self, rank: int, n_parts: int) -> "Batch":
        """Give one process's share: every ``n_parts``-th pair."""
        return Batch(self.source[rank::n_parts], self.target[rank::n_parts])


@runtime_checkable
class Sequences(Protocol):
    """Token sequences by index, with their lengths: a ``TokenStore``, or ``InMemory``."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """How long each sequence is."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> NDArray[np.int64]: ...


class Batches:
    """All batches of a corpus, for ever, epoch after epoch.

    The batch of a step depends on the seed and the step alone, so a run that was cut off goes on where it stopped.

    Args:
        sources: A token sequence for each pair; anything with ``lengths`` and an index, such as ``TokenStore``.
        targets: The same for the targets.
        n_tokens: How many tokens, padding included, the longer side of a batch has at most.
        pad_id: The token that fills short sentences up.
        seed: Of the order.

    Raises:
        ValueError: There are no pairs, not as many sources as targets, or one pair alone is too long for a batch.
    """

    def __init__(self, sources: Sequences, targets: Sequences, n_tokens: int, pad_id: int, seed: int) -> None:
        if len(sources) != len(targets) or not len(sources):
            raise ValueError(f"a corpus needs pairs; got {len(sources)} sources and {len(targets)} targets")
        self.sources, self.targets = sources, targets
        self.n_tokens, self.pad_id, self.seed = n_tokens, pad_id, seed
        self._lengths = np.maximum(sources.lengths, targets.lengths).astype(np.int64)
        longest = int(self._lengths.max())
        if longest > n_tokens:
            raise ValueError(f"a batch of n_tokens={n_tokens} cannot hold the longest pair, of {longest} tokens")

    def from_step(self, step: int) -> Iterator[Batch]:
        """Give the batches from a step on, counted from 0, without end."""
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
        """Divide an epoch's pairs among batches: every pair once."""
        rng = np.random.default_rng((self.seed, epoch))
        order = rng.permutation(len(self._lengths))
        pool = BATCHES_PER_POOL * max(1, self.n_tokens // int(self._lengths.mean() + 1))
        batches: list[NDArray[np.int64]] = []
        for start in range(0, len(order), pool):
            chunk = order[start : start + pool]
            batches += self._cut(chunk[np.argsort(self._lengths[chunk], kind="stable")])
        return [batches[i] for i in rng.permutation(len(batches))]

    def collate(self, indices: Sequence[int]) -> Batch:
        """Put pairs together, padded on the right."""
        return Batch(*(pad([side[i] for i in indices], self.pad_id) for side in (self.sources, self.targets)))

    def _cut(self, indices: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Cut indices, sorted by length, into runs of at most ``n_tokens``, padding included."""
        runs: list[NDArray[np.int64]] = []
        start = 0
        for i, length in enumerate(self._lengths[indices].tolist()):
            if (i + 1 - start) * length > self.n_tokens:
                runs.append(indices[start:i])
                start = i
        return [*runs, indices[start:]]


class InMemory(list[NDArray[np.int64]]):
    """Token sequences held in a list, with the lengths that ``Batches`` asks for."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """How long each sequence is."""
        return np.asarray([len(sequence) for sequence in self], np.uint32)


def pad(sequences: Sequence[NDArray[np.int64]], pad_id: int) -> Int[Tensor, "batch n"]:
    """Stack sequences of different lengths, filled up on the right."""
    padded = np.full((len(sequences), max(map(len, sequences))), pad_id, np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(padded)
