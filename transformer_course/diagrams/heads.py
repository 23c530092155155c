"""Draw the data flow of multi-head attention with its sizes, next to a common wrong drawing."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from transformer_course.diagrams.canvas import Diagram, beside
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, Area, Box, Spot, light
from transformer_lab.inspection.hooks import record_attention

HALF_MODEL_WIDTH = 2.1
MAX_LABELED = 4
"""Maximum number of heads in a diagram with labeled arrows."""


def multi_head(module: nn.Module) -> Diagram:
    """Draw multi-head self-attention, next to a wrong version in which x itself is split.

    Args:
        module: Any multi-head attention with ``w_q``, ``w_k``, ``w_v`` and ``w_o``, such as a learner's. The module
            runs once, on random vectors, to find the sizes of its tensors.
    """
    sizes = _Sizes(module, n=11)  # the characters of ``3 mars 2021``
    return beside(projected(sizes), cut(sizes))


class _Sizes:
    """The sizes of a module's tensors for an input of n vectors."""

    def __init__(self, module: nn.Module, n: int) -> None:
        parts: Any = module
        d_model = parts.w_q.in_features
        x = torch.randn(1, n, d_model, generator=torch.Generator().manual_seed(0))
        model = nn.ModuleDict({"attention": module})
        with torch.no_grad(), record_attention(model) as weights:
            output = module(x, x, x)
            q = parts.w_q(x)
        (matrix,) = weights.values()
        self.n_heads, self.n, self.n_key = matrix.shape[1:]
        self.x, self.q, self.output = tuple(x.shape), tuple(q.shape), tuple(output.shape)
        self.d_k = q.shape[-1] // self.n_heads
        self.split = (1, self.n_heads, self.n, self.d_k)

    def shade(self, head: int) -> str:
        """Return the shade of blue for a head."""
        return light(BLUE, 0.12 + 0.5 * head / max(self.n_heads - 1, 1))


def projected(sizes: _Sizes) -> Diagram:
    """Draw the correct data flow, from bottom to top."""
    d = Diagram(
        f"Multi-head attention with {sizes.n_heads} heads. Three layers project all of x; each projection is split "
        f"into {sizes.n_heads} slices, one for each head; each head makes a matrix of {sizes.n} × {sizes.n_key} "
        "weights; the heads' outputs are put side by side again and projected by w_o."
    )
    x = d.box("x", (0, 0), outline="square", look="outlined", note=str(sizes.x))
    split = d.box("split_heads", (0, 2.4), BLUE, note=f"three times {sizes.split}", width=2 * HALF_MODEL_WIDTH)
    for letter, at in zip("qkv", (-1.45, 0, 1.45), strict=True):
        layer = d.box(f"w_{letter}", (at, 0.95), BLUE)
        slices = _slices(d, sizes, (at, 1.62), letter, 1.1)
        d.arrow(x, layer, route="|-|", bend=0.6)
        d.arrow(layer, slices)
        d.path([slices.top, Spot(at, split.rect.y0, split.name)], f"{letter}  {sizes.q}", label_at=0.4)
    heads = _heads(d, sizes, 3.55)
    for head in heads:
        d.path([Spot(head.x, split.rect.y1, split.name), head.bottom], _slice_sizes("q, k, v", sizes))
    return _merged(d, sizes, heads, 4.75)


def cut(sizes: _Sizes) -> Diagram:
    """Draw the wrong data flow: x itself is split, so each head reads only some of the features."""
    d = Diagram(
        f"x itself is cut into {sizes.n_heads} slices of {sizes.d_k} features, before any projection. Each head would "
        "see only its own slice, so the mere order of the features would decide what it can compare."
    )
    x = d.box("x", (0, 0), outline="square", look="outlined", note=str(sizes.x))
    slices = _slices(d, sizes, (0, 1.62), "slices of x", 2 * HALF_MODEL_WIDTH)
    d.arrow(x, slices)
    heads = _heads(d, sizes, 3.55)
    for head in heads:
        words = f"{sizes.d_k} of {sizes.x[-1]}\nfeatures" if sizes.n_heads <= MAX_LABELED else ""
        d.path([Spot(head.x, slices.rect.y1, slices.name), head.bottom], words)
    return _merged(d, sizes, heads, 4.75)


def _slices(d: Diagram, sizes: _Sizes, at: tuple[float, float], name: str, width: float) -> Area:
    """Draw a bar with one slice per head."""
    heads = range(sizes.n_heads)
    bar = Area(name, at[0], at[1], width, 0.22)
    step = width / sizes.n_heads
    for head in heads:
        x0, y0 = bar.rect.x0 + head * step, bar.rect.y0
        corners = [(x0, y0), (x0 + step, y0), (x0 + step, y0 + bar.height), (x0, y0 + bar.height)]
        d.polygon(corners, sizes.shade(head), pale=False)
        if step > 0.2:
            d.text(str(head), (x0 + step / 2, bar.y), size=FONT_SIZE_PT - 1.5)
    return bar


def _heads(d: Diagram, sizes: _Sizes, y: float) -> list[Box]:
    """Draw the heads next to each other, each with the size of its weight matrix."""
    step = 2 * HALF_MODEL_WIDTH / sizes.n_heads
    width = min(0.85 * step, 0.95)
    size = FONT_SIZE_PT if sizes.n_heads <= MAX_LABELED else FONT_SIZE_PT - 3
    heads = []
    for head in range(sizes.n_heads):
        at, name = (
            (-HALF_MODEL_WIDTH + (head + 0.5) * step, y),
            f"head {head}\nweights" if size == FONT_SIZE_PT else str(head),
        )
        note = f"{sizes.n} × {sizes.n_key}"
        box = d.box(
            name, at, BLUE, note=note, width=width, height=0.75, size=size, outline="square", face=sizes.shade(head)
        )
        heads.append(box)
    return heads


def _slice_sizes(names: str, sizes: _Sizes) -> str:
    """Return the label for the arrow of each head, or "" if there are too many heads."""
    return f"{names}\n({sizes.n}, {sizes.d_k})".strip() if sizes.n_heads <= MAX_LABELED else ""


def _merged(d: Diagram, sizes: _Sizes, heads: Sequence[Box], y: float) -> Diagram:
    """Draw the operations after the heads: concatenation and output projection."""
    merge = d.box("merge_heads", (0, y), BLUE, note=str(sizes.q), width=2 * HALF_MODEL_WIDTH)
    for head in heads:
        d.path([head.top, Spot(head.x, merge.rect.y0, merge.name)], _slice_sizes("", sizes))
    w_o = d.box("w_o", (0, y + 0.8), BLUE)
    output = d.box("output", (0, y + 1.55), outline="square", look="outlined", note=str(sizes.output))
    d.arrow(merge, w_o)
    d.arrow(w_o, output)
    return d
