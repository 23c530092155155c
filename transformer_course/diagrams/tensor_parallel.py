"""Draw a feed-forward network on several devices, with the split matrices and the all-reduce."""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, GREEN, ORANGE, PINK, Area, Cells

CELL_SIZE = 0.2
TABLE_GAP = 0.36
COLORS = (ORANGE, GREEN, PINK)
"""A color for each device. The number of the device is also written in its cells."""
N_ROWS, N_IN, N_OWN = 2, 4, 3
"""Rows of x, features of x, and hidden features per device."""


def feed_forward(n_devices: int = 2) -> Diagram:
    """Draw ``relu(x @ w_1) @ w_2`` with the first matrix split by columns and the second by rows.

    The number in a cell is the device that stores it. Cells without a number are on all devices. See Shoeybi et al.
    (2019), arXiv:1909.08053.

    Args:
        n_devices: Number of devices.

    Raises:
        ValueError: ``n_devices`` is not 2 or 3.

    >>> [table.name for table in feed_forward(2).tables]
    ['x', 'w_1', 'hidden', 'w_2', 'part 0', 'part 1', 'output']
    """
    if not 2 <= n_devices <= len(COLORS):
        raise ValueError(f"n_devices must be 2 or {len(COLORS)}; got {n_devices}")
    d = Diagram(
        "The first matrix is cut by columns: each device has all of x, and computes hidden features of its own; "
        "nothing is sent. The second is cut by the rows that these features meet: each device computes a part of every "
        "sum of the output, and the all-reduce adds up the parts."
    )
    own = [i for i in range(n_devices) for _ in range(N_OWN)]  # the device of each hidden feature
    x = _table(d, "x", [[None] * N_IN] * N_ROWS, 0)
    w_1 = _table(d, "w_1", [own] * N_IN, x.right.x + 1.5 * TABLE_GAP)
    hidden = _table(d, "hidden", [own] * N_ROWS, w_1.right.x + 2 * TABLE_GAP)
    w_2 = _table(d, "w_2", [[i] * N_IN for i in own], hidden.right.x + 1.5 * TABLE_GAP)
    pitch = (N_ROWS + 2) * CELL_SIZE
    heights = [(i - (n_devices - 1) / 2) * -pitch for i in range(n_devices)]
    after = w_2.right.x + 1.5 * TABLE_GAP
    parts = [_table(d, f"part {i}", [[i] * N_IN] * N_ROWS, after, y) for i, y in enumerate(heights)]
    reduce = d.box(
        "all-\nreduce", (parts[0].right.x + TABLE_GAP + 0.3, 0), BLUE, width=0.6, height=pitch * n_devices - CELL_SIZE
    )
    output = _table(d, "output", [[None] * N_IN] * N_ROWS, reduce.right.x + 1.5 * TABLE_GAP)
    d.text("@", (x.right.x + 0.19, 0))
    d.text("@", (hidden.right.x + 0.27, 0))
    d.path([w_1.right, hidden.left], "ReLU", label_shift=(0, 0.16))
    for part in parts:
        d.path([w_2.right, part.left])
        d.path([part.right, (reduce.left.x, part.y)])
    d.arrow(reduce, output)
    height = max(w_2.height, pitch * n_devices) + 0.1
    for name, color, first, last in (
        ("column-parallel: nothing is sent", GRAY, w_1, hidden),
        ("row-parallel: one all-reduce", BLUE, w_2, reduce),
    ):
        x0, x1 = first.left.x, last.right.x
        d.frame(name, [Area("", (x0 + x1) / 2, 0.06, x1 - x0, height)], color, dashed=True, pad=0.1, label_at="above")
    return d


def _table(d: Diagram, name: str, owners: Sequence[Sequence[int | None]], left: float, y: float = 0.0) -> Cells:
    """Draw a table whose left side is at ``left``, with the device that owns it in each cell."""
    fill = [[GRAY if i is None else COLORS[i] for i in row] for row in owners]
    texts = [["" if i is None else str(i) for i in row] for row in owners]
    return d.cells(texts, (left + len(owners[0]) * CELL_SIZE / 2, y), name, CELL_SIZE, fill=fill, size=7.5)
