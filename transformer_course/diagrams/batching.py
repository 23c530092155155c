"""Draw batches of requests: the request that each slot serves in each step, and the empty slots."""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, PINK

CELL = (0.34, 0.3)
COLORS = (BLUE, GRAY, PINK)


def timeline(lengths: Sequence[int], n_slots: int) -> Diagram:
    """Draw the request that each slot serves in each step, with fixed batches and with continuous batching.

    A fixed batch ends when its longest request ends. In continuous batching, a waiting request starts as soon as any
    request ends.

    Args:
        lengths: Number of steps for each request, in order of arrival.
        n_slots: Number of requests in a batch.

    Raises:
        ValueError: A request has no steps, or there are no slots.

    >>> for table in timeline([1, 2, 1], n_slots=2).tables:
    ...     print(table.texts)
    (('A', '', 'C'), ('B', 'B', ''))
    (('A', 'C'), ('B', 'B'))
    """
    if n_slots < 1 or min(lengths) < 1:
        raise ValueError(f"n_slots and all lengths must be at least 1; got n_slots={n_slots}, lengths={list(lengths)}")
    fixed, continuous = _fixed(lengths, n_slots), _continuous(lengths, n_slots)
    d = Diagram(
        f"Steps run from left to right. In fixed batches, short requests leave empty slots, and {len(lengths)} "
        f"requests take {len(fixed[0])} steps. In continuous batching, the next request takes a slot as soon as it is "
        f"free: {len(continuous[0])} steps."
    )
    y = 0.0
    for name, rows in {"fixed batches": fixed, "continuous batching": continuous}.items():
        texts = [["" if i is None else chr(ord("A") + i) for i in row] for row in rows]
        fill = [[None if i is None else COLORS[i % len(COLORS)] for i in row] for row in rows]
        width, height = len(rows[0]) * CELL[0], n_slots * CELL[1]
        slots = [f"slot {i}" for i in range(n_slots)]
        d.text(f"{name}: {len(rows[0])} steps", (0, y + 0.2), align="left", bold=True)
        d.cells(texts, (width / 2, y - height / 2), cell=CELL, fill=fill, row_names=slots)
        y -= height + 0.55
    return d


def _fixed(lengths: Sequence[int], n_slots: int) -> list[list[int | None]]:
    """Return the request in each slot and step for fixed batches, which wait for their longest request."""
    rows = [list[int | None]() for _ in range(n_slots)]
    for first in range(0, len(lengths), n_slots):
        batch = range(first, min(first + n_slots, len(lengths)))
        longest = max(lengths[i] for i in batch)
        for slot, row in enumerate(rows):
            i = first + slot
            row += [i if i in batch and step < lengths[i] else None for step in range(longest)]
    return rows


def _continuous(lengths: Sequence[int], n_slots: int) -> list[list[int | None]]:
    """Return the request in each slot and step if each request takes the first free slot."""
    rows = [list[int | None]() for _ in range(n_slots)]
    for i, length in enumerate(lengths):
        min(rows, key=len).extend([i] * length)
    longest = max(map(len, rows))
    return [row + [None] * (longest - len(row)) for row in rows]
