"""Draw the schedule of a pipeline as a table of stages and ticks, with the bubble marked and counted."""

from jaxtyping import Int
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, ORANGE

TICK_SIZE = (0.36, 0.3)
IDLE_MARK = "·"


def schedule(passes: Int[Tensor, "n_stages n_ticks"]) -> Diagram:
    """Draw a pipeline schedule, such as a learner's.

    Args:
        passes: The pass of each stage in each tick: m for the forward pass of micro-batch m, −m for its backward pass,
            and 0 for an idle tick.

    Raises:
        ValueError: The schedule has no stages or no ticks.

    >>> import torch
    >>> schedule(torch.tensor([[1, 0, 0, -1], [0, 1, -1, 0]])).tables[0].texts
    (('1', '·', '·', '−1'), ('·', '1', '−1', '·'))
    """
    n_stages, n_ticks = passes.shape
    if not passes.numel():
        raise ValueError(
            f"the schedule must have at least one stage and one tick; got n_stages={n_stages}, n_ticks={n_ticks}"
        )
    rows = passes.tolist()
    n_idle = sum(m == 0 for row in rows for m in row)
    bubble = f"idle, the bubble: {n_idle} of {passes.numel()} cells"
    d = Diagram(
        f"A pipeline of {n_stages} stages in {n_ticks} ticks. Rows are stages, columns are ticks; m is the forward "
        f"pass of micro-batch m, −m its backward pass, {IDLE_MARK} none; {bubble}."
    )
    d.cells(
        [[m or IDLE_MARK for m in row] for row in rows],
        (0, 0),
        "tick",
        TICK_SIZE,
        fill=[[BLUE if m > 0 else ORANGE if m < 0 else GRAY for m in row] for row in rows],
        row_names=[f"stage {i}" for i in range(n_stages)],
        column_names=[str(i) for i in range(n_ticks)],
    )
    x, y = d.tables[0].left.x, d.tables[0].bottom.y - 0.26
    for color, words in ((BLUE, "forward"), (ORANGE, "backward"), (GRAY, bubble)):
        d.swatch(words, (x, y), color)
        x += 1.2
    return d
