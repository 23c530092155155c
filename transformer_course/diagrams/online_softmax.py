"""Online softmax: a block of scores at a time, with a running maximum and a running sum."""

from collections.abc import Sequence
from math import exp

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, Box

BLOCK_STEP = 2.15


def blocks(scores: Sequence[float], block: int) -> Diagram:
    """Draw the running maximum and sum after each block of one query's scores, and the factor that corrects the sum.

    The last sum is that of exp(score − maximum) over all scores: section 3 of Milakov and Gimelshein (2018),
    arXiv:1805.02867.

    Args:
        scores: One score per key.
        block: Number of keys in a block.

    >>> [box.note for box in blocks([0.0, 0.0, 2.0], block=2).boxes]
    ['sum 2.00', 'sum 1.27']
    """
    d = Diagram(
        "A query's scores come in blocks. After each block two numbers are kept: the largest score so far, and the sum "
        "of exp(score − largest). Where a block brings a larger score, the sum before it is multiplied by "
        "exp(old largest − new largest)."
    )
    largest, total = scores[0], 0.0
    before: Box | None = None
    for i, start in enumerate(range(0, len(scores), block)):
        part = list(scores[start : start + block])
        new = max(largest, *part)
        correction = exp(largest - new)
        total = total * correction + sum(exp(score - new) for score in part)
        columns = [f"key {j}" for j in range(start, start + len(part))]
        table = d.cells([part], (i * BLOCK_STEP, 1.2), f"block {i}", (0.5, 0.3), column_names=columns)
        kept = d.box(
            f"largest {new:.1f}", (i * BLOCK_STEP, 0), BLUE, note=f"sum {total:.2f}", outline="square", width=0.95
        )
        d.arrow(table, kept)
        if before is not None:
            d.arrow(before, kept, f"sum × {correction:.2f}")
        largest, before = new, kept
    return d
