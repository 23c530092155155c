"""Draw the encoder layer that each decoder layer reads, as observed in a running model."""

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, ORANGE, WRONG_RED

LAST_LAYER = -1
"""Stands for the encoder's output: the output of its last layer, after the final norm if there is one."""


def memory_of(model: nn.Module, *inputs: Tensor) -> Diagram:
    """Run a model, and draw the encoder layer that each of its decoder layers reads.

    Args:
        model: A model with ``encoder.layers`` and ``decoder.layers``, such as a learner's.
        *inputs: The inputs to run the model on, such as source and target.
    """
    parts: Any = model
    outputs: dict[int, Tensor] = {}
    read: list[list[Tensor]] = []
    with ExitStack() as afterwards, torch.no_grad():
        for i, layer in enumerate(parts.encoder.layers):
            hook = layer.register_forward_hook(lambda _m, _a, output, i=i: outputs.update({i: output.clone()}))
            afterwards.callback(hook.remove)
        hook = parts.encoder.register_forward_hook(lambda _m, _a, output: outputs.update({LAST_LAYER: output.clone()}))
        afterwards.callback(hook.remove)
        for layer in parts.decoder.layers:
            hook = layer.register_forward_pre_hook(
                lambda _m, args, kwargs: read.append([v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]),
                with_kwargs=True,
            )
            afterwards.callback(hook.remove)
        model(*inputs)
    n_layers = len(parts.encoder.layers)
    if LAST_LAYER not in outputs and n_layers - 1 in outputs:
        # the model calls the layers directly and never calls the encoder
        outputs[LAST_LAYER] = outputs[n_layers - 1]
    sources = [_source(tensors, outputs) for tensors in read]
    return draw(sources, n_layers)


def _source(tensors: Sequence[Tensor], outputs: dict[int, Tensor]) -> int | None:
    """Return the number of the encoder layer whose output is among these tensors, or None if there is none."""
    for number in sorted(outputs):  # LAST_LAYER comes first
        for tensor in tensors:
            if tensor.shape == outputs[number].shape and torch.equal(tensor, outputs[number]):
                return number
    return None


def draw(sources: Sequence[int | None], n_layers: int) -> Diagram:
    """Draw encoder and decoder side by side, given the number of the encoder layer that each decoder layer reads."""
    words = ", ".join(_describe(i, source) for i, source in enumerate(sources))
    d = Diagram(f"An encoder of {n_layers} layers and a decoder of {len(sources)}: {words}.")
    step = 0.85
    source = d.box("source", (0, -0.85), outline="square", look="outlined")
    target = d.box("target", (2.5, -0.85), outline="square", look="outlined")
    left = [d.box(f"encoder.layers.{i}", (0, step * i), BLUE, width=1.35) for i in range(n_layers)]
    right = [d.box(f"decoder.layers.{i}", (2.5, step * i), BLUE, width=1.35) for i in range(len(sources))]
    for column in ([source, *left], [target, *right]):
        for lower, upper in pairwise(column):
            d.arrow(lower, upper)
    top = step * max(n_layers, len(sources))
    d.arrow(right[-1], (2.5, top + 0.1))
    if LAST_LAYER in sources:
        memory = d.box("memory", (0, step * n_layers), ORANGE, outline="square")
        d.text("key, value", (0.84, memory.y + 0.09), size=FONT_SIZE_PT - 2)
        d.arrow(left[-1], memory)
        for box, number in zip(right, sources, strict=True):
            if number == LAST_LAYER:
                d.path([memory.right, (1.25, memory.y), (1.25, box.y), box.left], color=ORANGE)
    for i, (box, number) in enumerate(zip(right, sources, strict=True)):
        if number is None:
            d.text("not found", (box.rect.x0 - 0.45, box.y), color=WRONG_RED)
        elif number != LAST_LAYER:
            d.arrow(left[number], box, color=ORANGE, route="straight" if number == i else "-|-", bend=0.3 + 0.1 * i)
    d.frame("Encoder", left, pad=0.12)
    d.frame("Decoder", right, pad=0.12)
    return d


def _describe(number: int, source: int | None) -> str:
    reads = {LAST_LAYER: "the memory", None: "nothing that was found"}.get(source, f"encoder.layers.{source}")
    return f"decoder.layers.{number} reads {reads}"
