"""A layer, drawn from the module itself: which part reads which tensor, and where parts add to the residual stream.

The module runs once, on random vectors. Every tensor that enters one of its parts is compared with the tensors seen so
far: it is one of them, or the sum of two or three of them. So the drawing shows what the code does, whatever its names
are. An input that is neither is drawn as "not found".

>>> from torch import nn
>>> class Residual(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.linear = nn.Linear(8, 8)
...
...     def forward(self, x):
...         return x + self.linear(x)
>>> layer(Residual())
Residual: the output is a sum. No part lies on the residual stream.
Boxes: x (1, 11, 8); linear Linear; Residual.
Arrows: x → linear; x → +; linear → +; + → output.
Texts: output; No part lies on the residual stream.
"""

import copy
import inspect
from collections.abc import Iterable, Iterator, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from textwrap import wrap
from typing import Any, Literal

import torch
from torch import Tensor, nn

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import (
    BLUE,
    FONT_SIZE_PT,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    WRONG_RED,
    Area,
    Box,
    Frame,
    Spot,
)

N_SOURCE = 11
"""The length of `3 mars 2021` in characters, which a layer or its memory reads."""
N_TARGET = 7
"""The number of target tokens so far, ``<bos>2021-0``, if a layer also reads a memory."""
NOT_FOUND = "not found"


@dataclass(frozen=True)
class Step:
    """A tensor and its origin.

    ``reads`` are the arguments of a part or the addends of a sum: their names, and the numbers of the steps they come
    from.
    """

    kind: Literal["input", "part", "sum", "not found"]
    name: str
    note: str = ""
    reads: tuple[tuple[str, int], ...] = ()

    @property
    def is_norm(self) -> bool:
        """Whether this is the output of a norm."""
        return self.kind == "part" and "norm" in f"{self.name} {self.note}".lower()


@dataclass(frozen=True)
class Flow:
    """All steps of a layer, in the order of computation; ``output`` is the number of the step that is the output.

    ``dropped`` are the steps to which dropout is applied in training.
    """

    name: str
    steps: tuple[Step, ...]
    output: int
    never_called: tuple[str, ...] = ()
    dropped: frozenset[int] = frozenset()

    def stream(self) -> list[int]:
        """Return the steps on the residual stream, from the input to the output.

        Follows the stream back from the output: at a sum, through the addend that is not a sublayer's output; at a
        part, through its first argument.
        """
        found = [self.output]
        if self.steps[self.output].kind == "not found" and (sums := self._sums()):
            found.append(sums[-1])  # the part of the stream that could be followed
        while reads := self.steps[found[-1]].reads:
            addends = [i for _, i in reads]
            if self.steps[found[-1]].kind == "sum":
                untouched = [i for i in addends if self.steps[i].kind != "part" or self.steps[i].is_norm]
                addends = untouched or addends
            found.append(min(addends) if self.steps[found[-1]].kind == "sum" else addends[0])
        return found[::-1]

    def _sums(self) -> list[int]:
        return [i for i, step in enumerate(self.steps) if step.kind == "sum"]

    def verdict(self) -> str:
        """Return what the order of norms and sums on the stream means: pre-norm, post-norm or something else."""
        on_stream = [self.steps[i] for i in self.stream()[1:]]
        parts = [step for step in on_stream if step.kind == "part"]
        order = "".join("+" if step.kind == "sum" else "n" if step.is_norm else "s" for step in on_stream)
        norms = _and(step.name for step in parts)
        read = [step.name for step in self.steps if step.is_norm]
        if any(step.kind == NOT_FOUND for step in self.steps):
            return "What is marked “not found” is neither a part's output nor a sum of such."
        if "+" not in order:
            return "Nothing is added: there is no residual stream."
        if order == "+n" * (len(order) // 2):
            return f"Post-norm: {norms} {_normalize(parts)} the sums."
        if order == "n+" * (len(order) // 2):
            return f"Cut: x goes on only through {norms}."
        if not parts and all(self._reads_a_norm(step) for step in self.steps if step.kind == "part"):
            return f"Pre-norm: {_and(read)} {_normalize(read)} the inputs of the sublayers."
        if not parts and self._only_norms_are_added():
            return f"Norm after the sublayer: {_and(read)} {_normalize(read)} what is added."
        return f"On the residual stream: {norms}." if parts else "No part lies on the residual stream."

    def _only_norms_are_added(self) -> bool:
        on_stream = self.stream()
        sums = [self.steps[i] for i in on_stream if self.steps[i].kind == "sum"]
        return all(self.steps[i].is_norm for step in sums for _, i in step.reads if i not in on_stream)

    def _reads_a_norm(self, step: Step) -> bool:
        return step.is_norm or self.steps[step.reads[0][1]].is_norm


def _normalize(norms: Sized) -> str:
    return "normalizes" if len(norms) == 1 else "normalize"


def _and(names: Iterable[str]) -> str:
    return " and ".join(", ".join(names).rsplit(", ", 1))


def layer(module: nn.Module, *inputs: Tensor) -> Diagram:
    """Return a drawing of a layer from bottom to top, with its residual stream as a thick line.

    Args:
        module: An encoder or decoder layer, or any module that adds the outputs of its parts to a stream.
        *inputs: The inputs to run it on. By default, each argument without a default value gets random vectors, or a
            mask if it is named so.

    Raises:
        ValueError: There are no inputs, and no parameters that determine their width.
    """
    return draw(flow_of(module, *inputs))


def layers(*modules: nn.Module) -> Diagram:
    """Return the drawings of several layers side by side, without masks."""
    flows = [flow_of(module, with_masks=False) for module in modules]
    d = Diagram("\n".join(_sentence(flow) for flow in flows))
    start = 0.0
    for flow in flows:
        panel = draw(flow)
        x0, y0, x1, _ = panel.extent
        bottom = min(box.rect.y0 for box in panel.frames) - panel.extent.y0
        d.place(panel, start - x0, -y0 - bottom)
        start += x1 - x0 + 0.35
    return d


def flow_of(module: nn.Module, *inputs: Tensor, with_masks: bool = True) -> Flow:
    """Run a copy of a module with slightly changed parameters, and return the origin of each of its tensors.

    An untrained norm doesn't change a normalized tensor, and an untrained bias adds nothing. With changed parameters,
    no two tensors are equal by chance. The module itself and torch's random state are preserved.
    """
    generator = torch.Generator().manual_seed(0)
    module = copy.deepcopy(module).cpu().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    arguments = _arguments(module, inputs, generator, with_masks)
    tracer = _Tracer()
    for name, value in arguments.items():
        note = "" if value.dtype == torch.bool else str(tuple(value.shape))
        tracer.know(value, Step("input", name, note))
    called: set[str] = set()
    parts = dict(_parts(module))
    with ExitStack() as afterwards, torch.no_grad():
        for name, part in parts.items():
            afterwards.callback(part.register_forward_pre_hook(partial(tracer.enter, name), with_kwargs=True).remove)
            afterwards.callback(part.register_forward_hook(partial(tracer.leave, name, called)).remove)
        output = module(**arguments)
    end = tracer.find(output)
    return Flow(type(module).__name__, tuple(tracer.steps), end, _silent(parts, called), frozenset(tracer.dropped))


def _silent(parts: dict[str, nn.Module], called: set[str]) -> tuple[str, ...]:
    """Return the parts with parameters that were not called."""
    return tuple(name for name, part in parts.items() if name not in called and any(True for _ in part.parameters()))


class _Tracer:
    """Finds out where the tensors that enter the parts of a module come from."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.values: list[Tensor] = []
        self.entering: list[tuple[tuple[str, int], ...]] = []
        self.dropped: set[int] = set()

    def know(self, value: Tensor, step: Step) -> int:
        """Add a step and return its number."""
        self.steps.append(step)
        self.values.append(value.clone())  # copy, because a later `x += …` must not change it
        return len(self.steps) - 1

    def find(self, value: Tensor) -> int:
        """Return the number of the step that produced a tensor; a sum or an unknown tensor becomes a new step."""
        for i in reversed(range(len(self.values))):
            if _same(self.values[i], value):
                return i
        alike = (value.shape, value.dtype)
        known = [i for i, old in enumerate(self.values) if (old.shape, old.dtype) == alike]
        for n in (2, 3):
            for addends in combinations_with_replacement(known, n):
                if _same(sum(self.values[i] for i in addends), value):  # type: ignore[arg-type]
                    return self.know(value, Step("sum", "+", reads=tuple(("", i) for i in addends)))
        return self.know(value, Step("not found", NOT_FOUND))

    def enter(self, _name: str, part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record what a part reads."""
        given = inspect.signature(part.forward).bind(*args, **kwargs).arguments
        tensors = [(name, value) for name, value in given.items() if isinstance(value, Tensor)]
        self.entering.append(tuple((name, self.find(value)) for name, value in tensors))

    def leave(self, name: str, called: set[str], part: nn.Module, _args: Any, output: Any) -> None:
        """Record what a part returns, unless it returns its input, as dropout does."""
        called.add(name)
        reads = self.entering.pop()
        if isinstance(part, nn.Dropout) and part.p:
            self.dropped |= {i for _, i in reads}
        if isinstance(output, Tensor) and not any(_same(self.values[i], output) for _, i in reads):
            self.know(output, Step("part", name, type(part).__name__, reads))


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) if one.dtype == torch.bool else torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def _parts(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Return the parts that a module calls: its children, and those in lists and dicts."""
    for name, child in module.named_children():
        if isinstance(child, nn.ModuleList | nn.ModuleDict):
            yield from ((f"{name}.{inner}", part) for inner, part in _parts(child))
        else:
            yield name, child


def _arguments(
    module: nn.Module, inputs: tuple[Tensor, ...], generator: torch.Generator, with_masks: bool
) -> dict[str, Tensor]:
    """Return the inputs to run a module on, by the names of its arguments."""
    wanted = list(inspect.signature(module.forward).parameters.values())
    if inputs:
        return dict(zip((parameter.name for parameter in wanted), inputs, strict=False))
    width = next((parameter.shape[-1] for parameter in module.parameters() if parameter.ndim), None)
    if width is None:
        raise ValueError(
            f"{type(module).__name__} has no parameters that determine its input width; pass the inputs, too"
        )
    needed = [p.name for p in wanted if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    lengths = [N_SOURCE] if len(needed) == 1 else [N_TARGET, *[N_SOURCE] * (len(needed) - 1)]
    arguments = {name: torch.randn(1, n, width, generator=generator) for name, n in zip(needed, lengths, strict=True)}
    for p in wanted if with_masks else ():
        if "mask" in p.name and p.default is None:
            n_key = lengths[-1] if any(name in p.name for name in needed[1:]) else lengths[0]
            arguments[p.name] = torch.ones(lengths[0], n_key).tril().bool()
    return arguments


def draw(flow: Flow) -> Diagram:
    """Return the drawing of a flow."""
    drawing = _Drawing(flow)
    drawing.draw()
    return drawing.diagram


def _sentence(flow: Flow) -> str:
    words = {"sum": "a sum", "part": "what {} returns", "input": "{}", "not found": "not found"}
    step = flow.steps[flow.output]
    return f"{flow.name}: the output is {words[step.kind].format(step.name)}. {flow.verdict()}"


class _Drawing:
    """Draws a flow: the stream upwards, and the parts that add to it on the left."""

    gap = 0.3
    """The gap between elements stacked on each other."""
    aside = -1.25
    """The x of the parts next to the stream."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.diagram = Diagram(_sentence(flow))
        self.stream = flow.stream()
        self.verdict = flow.verdict()
        self.drawn: dict[int, Area] = {}
        self.leaves: dict[int, float] = {}
        """The y at which each step on the stream is read."""
        self.notes: list[str] = []
        self.y = 0.0
        self.left_edge = self.aside - 0.5

    def draw(self) -> None:
        """Draw the stream from bottom to top, then the frame, the verdict and the remaining parts."""
        steps, d = self.flow.steps, self.diagram
        has_sum = any(steps[i].kind == "sum" for i in self.stream)
        for before, number in zip([None, *self.stream], self.stream, strict=False):
            step = steps[number]
            if before is not None:
                self.leaves[before] = self.y + 0.14
                others = [i for _, i in step.reads if i != before] if step.kind == "sum" else []
                self.y = max([self.y + self.gap, *(self.chain(i, left=k % 2 == 0) for k, i in enumerate(others))])
            area = self.put(number, 0.0, self.y)
            if step.is_norm and self.verdict.startswith("Cut"):
                d.text("cut", (area.right.x + 0.2, area.y), bold=True, color=WRONG_RED)
            self.y = area.rect.y1 + (0.22 if step.kind == "input" else 0)
            if before is not None:
                lost = step.kind == "not found"
                d.path([self.drawn[before].top, area.bottom], thick=has_sum and not lost, dashed=lost)
                self.side_inputs(number, known=before)
                for other in others:
                    label = "dropout" if other in self.flow.dropped else ""
                    d.path([self.drawn[other].top, (self.drawn[other].x, area.y), self.side_of(area, other)], label)
        frame = self.frame()
        top = frame.rect.y1 + 0.3
        d.path([self.drawn[self.stream[-1]].top, Spot(0, top, "output")], thick=has_sum)
        d.text("output", (0, top + 0.12))
        self.words(frame.x, top + 0.3)

    def put(self, number: int, x: float, y: float) -> Area:
        """Put a step on the diagram, with its lower edge at y."""
        step, d = self.flow.steps[number], self.diagram
        area: Area
        if step.kind == "sum":
            area = d.plus((x, y + 0.11))
        elif step.kind == "part":
            area = d.box(step.name, (x, y + 0.24), color_of(step), note=step.note, height=0.46)
        elif step.kind == "input":
            area = d.box(step.name, (x, y + 0.24), outline="square", look="outlined", note=step.note)
        else:
            area = d.box(NOT_FOUND, (x, y + 0.2), WRONG_RED, look="outlined")
        self.drawn[number] = area
        return area

    def side_of(self, area: Area, other: int) -> Spot:
        """Return the side of an element on the stream that faces an element next to it."""
        return area.left if self.drawn[other].x < 0 else area.right

    def chain(self, end: int, left: bool) -> float:
        """Draw the parts between the stream and an addend next to the stream; return the y of the sum's lower edge."""
        column = self.aside if left else -self.aside
        steps, branch = self.flow.steps, self.y + 0.14
        if end in self.drawn:
            return self.y + self.gap
        numbers = [end]
        while (reads := steps[numbers[-1]].reads) and (first := reads[0][1]) not in self.drawn:
            numbers.append(first)
        y = branch + 0.2 if left else max([branch, *(area.y for area in self.drawn.values() if area.x < 0)]) + 0.3
        for below, number in zip([None, *numbers[::-1]], numbers[::-1], strict=False):
            area = self.put(number, column, y)
            y = area.rect.y1 + 0.25
            if not (reads := steps[number].reads):
                continue
            first = reads[0][1]
            label = _names(steps[number], first)
            if below is not None:
                self.diagram.arrow(self.drawn[first], area, label)
            elif first in self.leaves:
                self.branch_off(first, branch, area, label)
            elif first in self.drawn and not left:  # across the stream
                beside = self.drawn[first].right
                self.diagram.path([beside, (column, beside.y), area.bottom], label, label_at=0.75)
            else:
                self.notes.append(f"{steps[number].name} reads {steps[first].name}")
            self.side_inputs(number, known=first)
        return self.drawn[end].rect.y1 + 0.05

    def branch_off(self, source: int, branch: float, area: Area, label: str) -> None:
        """Draw an arrow from the stream to a part next to it; from further below, it runs in a lane on the left."""
        start = Spot(0, self.leaves[source], self.flow.steps[source].name)
        path = [start, Spot(area.x, start.y), area.bottom]
        if abs(start.y - branch) > 0.01:
            lane = self.left_edge = self.aside - 0.8
            path = [start, Spot(lane, start.y), Spot(lane, branch), Spot(area.x, branch), area.bottom]
        self.diagram.path(path, color=INK)
        if label:
            self.diagram.text(label, (0.5 * area.x - 0.02, start.y + 0.085), size=FONT_SIZE_PT - 2)

    def side_inputs(self, number: int, known: int) -> None:
        """Draw a part's inputs after the first: those from the stream on its right, all others on its left."""
        step, area, d = self.flow.steps[number], self.drawn[number], self.diagram
        if step.kind != "part":
            return
        sources = [i for i in dict.fromkeys(i for _, i in step.reads) if i != known]
        outside = [i for i in sources if self.flow.steps[i].kind in ("input", "not found") and i not in self.leaves]
        heights = [0.5] if len(outside) == 1 else [0.86 - 0.72 * k / (len(outside) - 1) for k in range(len(outside))]
        for height, i in zip(heights, outside, strict=False):
            spot = area.spot(0, height)
            box = self.outside(i, self.aside - 1.75, area.spot(0, 1.5 * height - 0.25).y)
            label = _names(step, i)
            d.path([box.right, (spot.x - 0.28, box.y), (spot.x - 0.28, spot.y), spot])
            if label and label not in box.name:
                d.text(label, ((box.right.x + spot.x - 0.28) / 2, box.y + 0.09), size=FONT_SIZE_PT - 2)
        for i in sources:
            if i in self.leaves and area.x < 0 and abs(self.leaves[i] - self.y) < 0.5:
                start = Spot(0, area.y, self.flow.steps[i].name)
                d.path([start, area.right])
                d.text(_names(step, i), (area.right.x / 2 - 0.04, area.y + 0.085), size=FONT_SIZE_PT - 2)
            elif i not in outside:
                self.notes.append(f"{step.name} reads {self.flow.steps[i].name} as {_names(step, i)}")

    def outside(self, number: int, x: float, y: float) -> Box:
        """Put an input from outside the layer on the left."""
        step = self.flow.steps[number]
        if step.kind == "not found":
            return self.diagram.box(NOT_FOUND, (x, y), WRONG_RED, look="outlined")
        color = ORANGE if step.note else GRAY
        return self.diagram.box(step.name, (x, y), color, note=step.note, outline="square", size=FONT_SIZE_PT - 1)

    def frame(self) -> Frame:
        """Put a border around everything that the layer computes."""
        inside = [area for i, area in self.drawn.items() if self.flow.steps[i].kind != "input"] or [
            *self.drawn.values()
        ]
        right = 0.65 if self.verdict.startswith("Cut") else 0.42
        y = min([inside[0].rect.y0, *(y for i, y in self.leaves.items())])
        around = Box("", (self.left_edge + right) / 2, y, right - self.left_edge, 0, GRAY, "outlined", "", 9, "square")
        return self.diagram.frame(self.flow.name, [*inside, around])

    def words(self, x: float, y: float) -> None:
        """Write the verdict above the drawing, and the parts that were not drawn below it."""
        steps, d = self.flow.steps, self.diagram
        lines = wrap(self.verdict, 34)
        d.text("\n".join(lines), (x, y + 0.085 * len(lines)), bold=True)
        self.notes += [self.left_out(i) for i, step in enumerate(steps) if i not in self.drawn and step.kind == "part"]
        read = {i for step in steps for _, i in step.reads}
        self.notes += [f"{s.name} is never read" for i, s in enumerate(steps) if s.kind == "input" and i not in read]
        self.notes += [f"{name} is never called" for name in self.flow.never_called]
        bottom = d.extent.y0 - 0.14
        for i, line in enumerate(line for note in self.notes for line in wrap(note, 45)):
            d.text(line, (x, bottom - 0.17 * i), color=WRONG_RED)

    def left_out(self, number: int) -> str:
        """Describe a part that is not drawn."""
        name = self.flow.steps[number].name
        for i in self.readers(number):
            reader = self.flow.steps[i]
            if reader.kind == "part":
                return f"{name} is read by {reader.name}"
            if after := [self.flow.steps[j].name for j in self.readers(i) if self.flow.steps[j].kind == "part"]:
                read = dict.fromkeys(self.flow.steps[j].name for _, j in self.flow.steps[number].reads)
                return f"{name}({', '.join(read)}) is added to what {_and(after)} reads, not to the residual stream"
        return f"{name} is called, but not found in the output"

    def readers(self, number: int) -> list[int]:
        """Return the steps that read a step."""
        return [i for i, step in enumerate(self.flow.steps) if any(source == number for _, source in step.reads)]


def color_of(step: Step) -> str:
    """Return the color of a part's kind."""
    words = f"{step.name} {step.note}".lower()
    kinds = {"attention": BLUE, "norm": GRAY, "feed": GREEN, "network": GREEN, "mlp": GREEN}
    return next((color for kind, color in kinds.items() if kind in words), INK)


def _names(step: Step, source: int) -> str:
    """Return the argument names of a part that come from one source, if it has several arguments."""
    names = [name for name, i in step.reads if i == source]
    return ", ".join(names) if len(step.reads) > 1 else ""
