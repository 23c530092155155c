"""Draw masks: the effect of −∞ on the weights, and the broadcasting of two masks with different shapes."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, Cells

ALLOWED = "✓"


def masked_softmax(
    scores: Float[Tensor, "n_query n_key"],
    mask: Bool[Tensor, "n_query n_key"],
    queries: Sequence[str],
    keys: Sequence[str],
) -> Diagram:
    """Draw three matrices: the scores, the scores with −∞ where they are masked out, and the weights.

    Args:
        scores: A row per query.
        mask: True where a query may attend to a key.
        queries: Names of the rows.
        keys: Names of the columns.

    >>> d = masked_softmax(torch.zeros(2, 2), torch.ones(2, 2).tril().bool(), ["a", "b"], ["a", "b"])
    >>> d.tables[1].texts
    (('0.0', '−∞'), ('0.0', '0.0'))
    """
    d = Diagram("Hidden scores become −∞ before the softmax, so their weights are 0 and each row still adds up to 1.")
    hidden = scores.masked_fill(~mask, -torch.inf)
    weights = hidden.softmax(dim=-1).nan_to_num()
    blank: list[list[str | float | None]] = [[None if allowed else GRAY for allowed in row] for row in mask.tolist()]
    n_key = len(keys)
    step = 0.5 * n_key + 1.35
    cell = (0.5, 0.36)
    first = d.cells(scores, (0, 0), "scores", cell, row_names=queries, column_names=keys)
    second = d.cells(hidden, (step, 0), "masked scores", cell, blank, column_names=keys)
    third = d.cells(weights, (2 * step, 0), "weights", cell, weights, column_names=keys, digits=2)
    d.arrow(first, second, "−∞ where\nhidden")
    d.arrow(second, third, "softmax of\neach row")
    return d


def broadcast(
    padding: Bool[Tensor, "batch 1 1 n"], causal: Bool[Tensor, "n n"], texts: Sequence[Sequence[str]]
) -> Diagram:
    """Draw how a padding mask and a causal mask are broadcast and combined. Stored entries are shaded.

    Args:
        padding: True at the real tokens of each text.
        causal: True at each position and at all earlier positions.
        texts: The tokens of each text.

    >>> causal = torch.ones(2, 2).tril().bool()
    >>> d = broadcast(torch.tensor([[[[True, False]]]]), causal, [["3", "<pad>"]])
    >>> d.tables[-1].texts
    (('✓', ''), ('✓', ''))
    """
    batch, n = len(texts), len(causal)
    d = Diagram(
        "Broadcasting: the padding mask has one row per text, repeated for every query; the causal mask is one matrix, "
        "repeated for every text. A query may attend to a key if both allow it."
    )
    across, down = 0.4 * n + 1.0, 0.3 * n + 0.75
    for i, names in enumerate(texts):
        y = -i * down
        rows = [padding[i].flatten().tolist()] * n
        _stretched(d, rows, (0, y), names, stored_rows=1)
        d.text("&", (across / 2 - 0.1, y), size=13, bold=True)
        _stretched(d, causal.tolist(), (across - 0.2, y), names, stored_rows=n if i == 0 else 0)
        d.text("=", (1.5 * across - 0.3, y), size=13, bold=True)
        both = (padding[i].flatten() & causal).tolist()
        _stretched(d, both, (2 * across - 0.4, y), names, stored_rows=n)
        d.text(f"text {i}", (-0.2 * n - 0.15, y), align="right")
    titles = (
        ("padding_mask", (batch, 1, 1, n)),
        ("causal_mask", (n, n)),
        ("decoder_mask", (batch, 1, n, n)),
    )
    for column, (name, shape) in enumerate(titles):
        x = column * (across - 0.2)
        d.text(name, (x, 0.15 * n + 0.62), bold=True)
        d.text(str(shape), (x, 0.15 * n + 0.44), size=8)
    d.text(
        f"{ALLOWED} may attend · shaded: stored · white: repeated by broadcasting",
        (across - 0.2, -(batch - 1) * down - 0.15 * n - 0.25),
    )
    return d


def _stretched(
    d: Diagram, rows: list[list[bool]], at: tuple[float, float], names: Sequence[str], stored_rows: int
) -> Cells:
    """Draw a broadcast mask. Shaded rows are stored; the other rows are repetitions."""
    fill: list[list[str | float | None]] = [
        [BLUE if i < stored_rows else None for _ in row] for i, row in enumerate(rows)
    ]
    marks = [[ALLOWED if allowed else "" for allowed in row] for row in rows]
    return d.cells(marks, at, cell=(0.4, 0.3), fill=fill, column_names=names)
