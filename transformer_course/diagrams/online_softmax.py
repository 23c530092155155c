"""Draw the online softmax, which processes a block of keys at a time with a running maximum and two running sums."""

from collections.abc import Sequence
from math import exp

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, Cells

BLOCK_STEP = 2.5
KEPT = ("maximum", "sum of exp", "sum of exp · v")


def blocks(scores: Sequence[float], values: Sequence[float], block: int) -> Diagram:
    """Draw the three running values for one query after each block, and the factor that rescales both sums.

    The output is the second sum divided by the first. See section 3 of Milakov and Gimelshein (2018), arXiv:1805.02867,
    and Dao et al. (2022), arXiv:2205.14135.

    Args:
        scores: The score of each key.
        values: The value of each key, a single number.
        block: Number of keys in a block.

    Raises:
        ValueError: The numbers of scores and values differ.

    >>> [table.texts for table in blocks([0.0, 2.0], [3.0, 5.0], block=1).tables if len(table.texts) == 3]
    [(('0.00',), ('1.00',), ('3.00',)), (('2.00',), ('1.14',), ('5.41',))]
    """
    if len(scores) != len(values):
        raise ValueError(f"values must have one entry per score; got {len(scores)} scores and {len(values)} values")
    d = Diagram(
        "The scores and values of a query's keys come in blocks. After each block three numbers are kept: the largest "
        "score so far, the sum of exp(score − maximum), and the sum of exp(score − maximum) · value. If a block brings "
        "a larger score, both sums so far are multiplied by exp(old maximum − new maximum). In the end, the second sum "
        "divided by the first is the output."
    )
    largest, total, mixture = scores[0], 0.0, 0.0
    before: Cells | None = None
    for i, start in enumerate(range(0, len(scores), block)):
        x, part = i * BLOCK_STEP, range(start, min(start + block, len(scores)))
        new = max(largest, *(scores[j] for j in part))
        correction = exp(largest - new)
        total = total * correction + sum(exp(scores[j] - new) for j in part)
        mixture = mixture * correction + sum(exp(scores[j] - new) * values[j] for j in part)
        columns, rows = [f"key {j}" for j in part], [[sequence[j] for j in part] for sequence in (scores, values)]
        names = ["score", "value"] if i == 0 else []
        table = d.cells(rows, (x, 1.5), f"block {i}", (0.5, 0.3), row_names=names, column_names=columns)
        kept = d.cells(
            [[new], [total], [mixture]], (x, 0), cell=(0.9, 0.3), fill=BLUE, row_names=KEPT if i == 0 else [], digits=2
        )
        d.arrow(table, kept)
        if before is not None:
            d.arrow(before, kept, f"sums × {correction:.2f}")
        largest, before = new, kept
    if before is not None:
        output = d.box(f"output {mixture / total:.2f}", (before.center.x, -1.05), outline="square")
        d.arrow(before, output, f"{mixture:.2f} / {total:.2f}")
    return d
