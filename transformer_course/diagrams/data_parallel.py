"""Draw data parallelism: a training step, a ring all-reduce, and the data that each worker stores with ZeRO."""

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, GREEN, ORANGE

COLUMN_WIDTH = 1.9
CELL_SIZE = (0.52, 0.3)
ZERO_CELL = (0.22, 0.2)
BYTES = {"parameters": 2, "gradients": 2, "optimizer": 12}
"""Bytes per parameter in mixed precision; the optimizer state includes the master weights."""
SHARDED_LAST_FIRST = ("optimizer", "gradients", "parameters")
"""Stage n of ZeRO shards the first n entries."""


def step(n_processes: int = 2) -> Diagram:
    """Draw a training step in which each process holds the whole model and part of the batch.

    Args:
        n_processes: Number of processes.

    Raises:
        ValueError: There are fewer than two processes.

    >>> ("gradients 1", "all-reduce") in step(2).links()
    True
    """
    _check(n_processes)
    d = Diagram(
        "The batch is cut into parts. Each process has a copy of the model with the same parameters, and computes the "
        "gradients of its own part. The all-reduce hands the gradients of the whole batch to all, so all copies take "
        "the same step."
    )
    middle = (n_processes - 1) * COLUMN_WIDTH / 2
    width = middle * 2 + 1.5
    batch = d.box("batch", (middle, 0), ORANGE, outline="square", width=width)
    reduce = d.box("all-reduce", (middle, 3.0), BLUE, width=width, note="the weighted mean over all tokens")
    for i in range(n_processes):
        x = i * COLUMN_WIDTH
        model = d.box(f"model {i}", (x, 1.0), GREEN, note="the same parameters", width=1.5)
        gradients = d.box(f"gradients {i}", (x, 1.9), GRAY, note="of its own part", outline="square", width=1.2)
        update = d.box(f"update {i}", (x, 3.8), GREEN, note="the same for all", width=1.2)
        d.path([batch.spot((x + width / 2 - middle) / width, 1), model.bottom], f"part {i}")
        d.arrow(model, gradients)
        d.path([gradients.top, reduce.spot((x + width / 2 - middle) / width, 0)])
        d.path([reduce.spot((x + width / 2 - middle) / width, 1), update.bottom])
        d.frame(f"process {i}", [model, gradients], dashed=True, pad=0.1)
    return d


def ring(n_processes: int = 3) -> Diagram:
    """Draw a ring all-reduce: for each step, a table of the chunks (columns) that each process (row) holds.

    Each of the n processes cuts its gradients into n chunks. In every step, it sends one chunk to the next process. In
    the first n − 1 steps, the chunks are partial sums. After these steps, each process holds one chunk of the total. In
    the next n − 1 steps, the processes pass on the chunks of the total. See Patarasuk and Yuan (2009),
    doi:10.1016/j.jpdc.2008.09.002.

    Args:
        n_processes: Number of processes.

    Raises:
        ValueError: There are fewer than two processes.

    >>> [table.texts[0] for table in ring(2).tables]
    [('0', '0'), ('0', '0+1'), ('0+1', '0+1')]
    """
    _check(n_processes)
    d = Diagram(
        "Rows are processes, columns are chunks of the gradients; a cell says whose gradients are in the sum. In each "
        "step every process sends one chunk to the next one: partial sums at first, then totals, until all have all."
    )
    n, everyone = n_processes, frozenset(range(n_processes))
    held = [[frozenset([i]) for _ in range(n)] for i in range(n)]
    width = CELL_SIZE[0] * max(1.0, 0.2 + 0.27 * n)
    for t in range(2 * n - 1):
        arrived = [((i + 1) % n, (i - t + 1) % n) for i in range(n)] if t else []  # process i sends chunk i − t + 1
        new = {(i, chunk): held[i][chunk] | held[i - 1][chunk] for i, chunk in arrived}
        held = [[new.get((i, j), held[i][j]) for j in range(n)] for i in range(n)]
        fill = [[_color(held[i][j] == everyone, (i, j) in new) for j in range(n)] for i in range(n)]
        texts = [["+".join(map(str, sorted(parts))) for parts in row] for row in held]
        names = [f"process {i}" for i in range(n)] if t == 0 else []
        at = t * (n * width + 0.35), 0.0
        d.cells(texts, at, f"step {t}" if t else "at first", cell=(width, CELL_SIZE[1]), fill=fill, row_names=names)
    y = -n * CELL_SIZE[1] / 2 - 0.3
    x = d.extent.x0
    for color, words in ((BLUE, "a partial sum has arrived"), (GREEN, "the total")):
        d.swatch(words, (x, y), color)
        x += 2.2
    return d


def zero(n_workers: int = 4) -> Diagram:
    """Draw the data that each worker stores in stages 0 to 3 of ZeRO, with a row per stage and a column per worker.

    Each entry is a table whose columns are the shards of the model. See figure 1 of Rajbhandari et al. (2020),
    arXiv:1910.02054.

    Args:
        n_workers: Number of workers.

    Raises:
        ValueError: There are fewer than two workers.

    >>> [label.words for label in zero(4).labels if label.words.endswith("bytes")]
    ['16 bytes', '7 bytes', '5.5 bytes', '4 bytes']
    """
    _check(n_workers)
    d = Diagram(
        "What each worker keeps with ZeRO. Each table is one worker; its columns are the shards of the model, and a "
        "filled cell is kept. In stage 0, plain data parallelism, every worker keeps everything. Stage 1 shards the "
        "optimizer state, stage 2 also the gradients, stage 3 also the parameters."
    )
    colors = dict(zip(BYTES, (GREEN, BLUE, ORANGE), strict=True))
    width, height = n_workers * ZERO_CELL[0] + 0.25, len(BYTES) * ZERO_CELL[1] + 0.25
    after = (n_workers - 1) * width + max(n_workers * ZERO_CELL[0] / 2, 0.4) + 0.24
    for stage in range(len(BYTES) + 1):
        sharded = SHARDED_LAST_FIRST[:stage]
        for worker in range(n_workers):
            kept = [[line not in sharded or i == worker for i in range(n_workers)] for line in BYTES]
            d.cells(
                [["×" if is_kept else None for is_kept in row] for row in kept],
                (worker * width, -stage * height),
                "" if stage else f"worker {worker}",
                ZERO_CELL,
                fill=[[colors[line] if x else None for x in row] for line, row in zip(BYTES, kept, strict=True)],
                row_names=[f"{line}, {n} bytes" for line, n in BYTES.items()] if worker == 0 else [],
            )
        n_bytes = sum(n / n_workers if line in sharded else n for line, n in BYTES.items())
        d.text(f"{n_bytes:g} bytes", (after, -stage * height), align="left")
        d.text(f"stage {stage}", (-width / 2 - 1.5, -stage * height), bold=True)
    d.text("per parameter", (after, 0.43), align="left")
    return d


def _color(is_total: bool, has_arrived: bool) -> str | None:
    return GREEN if is_total else BLUE if has_arrived else None


def _check(n_processes: int) -> None:
    if n_processes < 2:
        raise ValueError(f"n_processes must be at least 2; got {n_processes}")
