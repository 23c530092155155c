"""Stateful tests that readers which start at any step get the same batches as a reader from the first step."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from transformer_lab.data.batches import Batch, Batches, InMemory, TextBatch, WindowBatches

N_TOKENS = 24


def numbers(batch: Batch | TextBatch) -> list[int]:
    """Return the numbers of the items in a batch. An item's first token is its number."""
    return (batch.source if isinstance(batch, Batch) else batch.tokens)[:, 0].tolist()


class Readers(RuleBasedStateMachine):
    """Several readers of the same batches. At each step, all readers must get the same batch."""

    @initialize(lengths=st.lists(st.integers(2, N_TOKENS), min_size=1, max_size=25), pairs=st.booleans())
    def begin(self, lengths: list[int], pairs: bool) -> None:
        items = InMemory(np.full(length, i + 1) for i, length in enumerate(lengths))
        self.n_items = len(items)
        self.make = (lambda: Batches(items, items, N_TOKENS, 0, 3)) if pairs else lambda: WindowBatches(items, 24, 3)
        self.batches = self.make()
        self.read: dict[int, list[int]] = {}
        self.readers = [(0, self.batches.from_step(0))]

    @rule(which=st.integers(0, 9), n=st.integers(1, 8))
    def read_more(self, which: int, n: int) -> None:
        which %= len(self.readers)
        step, batches = self.readers[which]
        for _ in range(n):
            assert self.read.setdefault(step, found := numbers(next(batches))) == found
            step += 1
        self.readers[which] = (step, batches)

    @rule(step=st.integers(0, 60), recreate=st.booleans())
    def begin_at_any_step(self, step: int, recreate: bool) -> None:
        self.batches = self.make() if recreate else self.batches
        self.readers.append((step, self.batches.from_step(step)))

    @rule(which=st.integers(0, 9))
    def stop(self, which: int) -> None:
        if len(self.readers) > 1:
            del self.readers[which % len(self.readers)]

    @invariant()
    def every_item_comes_once_in_an_epoch(self) -> None:
        step = epoch = 0
        while step <= max(self.read, default=-1):
            n_batches = len(self.batches.plan(epoch))
            found = [self.read[s] for s in range(step, step + n_batches) if s in self.read]
            items = [item for batch in found for item in batch]
            assert len(items) == len({*items})
            if len(found) == n_batches:
                assert sorted(items) == list(range(1, self.n_items + 1))
            step, epoch = step + n_batches, epoch + 1


test_batches = Readers.TestCase
test_batches.settings = settings(max_examples=settings().max_examples // 3, stateful_step_count=25)
