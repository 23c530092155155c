"""Draw a layer from the module itself: the tensors that each part reads, and the parts that add to the stream.

``data_flow`` runs the module to find these connections, so the drawing shows what the code does. An input of unknown
origin is drawn as "not found".

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

from itertools import pairwise
from textwrap import wrap

from torch import Tensor, nn

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.data_flow import NOT_FOUND, Flow, Step, flow_of, join_names
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


def layer(module: nn.Module, *inputs: Tensor) -> Diagram:
    """Draw a layer from bottom to top, with its residual stream as a thick line.

    Args:
        module: An encoder or decoder layer, or any module that adds the outputs of its parts to a stream.
        *inputs: The inputs to run the module on. By default, random vectors are passed for each argument without a
            default value, and a causal mask for each argument whose name contains "mask".

    Raises:
        ValueError: There are no inputs and no parameters that determine their width.
    """
    return draw(flow_of(module, *inputs))


def layers(*modules: nn.Module) -> Diagram:
    """Draw several layers side by side, without masks."""
    flows = [flow_of(module, with_masks=False) for module in modules]
    d = Diagram("\n".join(_sentence(flow) for flow in flows))
    start = 0.0
    for flow in flows:
        panel = draw(flow)
        x0, y0, x1, _ = panel.extent
        bottom = min(box.rect.y0 for box in panel.frames) - y0  # align the lower edges of the frames
        d.place(panel, start - x0, -y0 - bottom)
        start += x1 - x0 + 0.35
    return d


def draw(flow: Flow) -> Diagram:
    """Draw a flow."""
    drawing = _Drawing(flow)
    drawing.draw()
    return drawing.diagram


def _sentence(flow: Flow) -> str:
    words = {"sum": "a sum", "part": "what {} returns", "input": "{}", "not found": "not found"}
    step = flow.steps[flow.output]
    return f"{flow.name}: the output is {words[step.kind].format(step.name)}. {flow.verdict()}"


class _Drawing:
    """The drawing of a flow, with the stream running up at x = 0 and the parts that add to it on both sides."""

    gap = 0.3
    """The vertical gap between elements."""
    aside = -1.25
    """The x coordinate of the parts to the left of the stream."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.diagram = Diagram(_sentence(flow))
        self.stream = flow.stream()
        self.has_sum = any(flow.steps[i].kind == "sum" for i in self.stream)
        self.verdict = flow.verdict()
        self.drawn: dict[int, Area] = {}
        self.leaves: dict[int, float] = {}
        """For each step on the stream, the y coordinate of the point where arrows to the parts that read it start."""
        self.notes: list[str] = []
        """Sentences about connections that are not drawn."""
        self.y = 0.0
        """The upper end of the stream so far."""
        self.left_edge = self.aside - 0.5

    def draw(self) -> None:
        """Draw the stream from bottom to top, then the frame, the verdict and the notes."""
        self.put_on_stream(self.stream[0])
        for below, number in pairwise(self.stream):
            self.extend_stream(below, number)
        frame = self.frame()
        top = frame.rect.y1 + 0.3
        self.diagram.path([self.drawn[self.stream[-1]].top, Spot(0, top, "output")], thick=self.has_sum)
        self.diagram.text("output", (0, top + 0.12))
        self.words(frame.x, top + 0.3)

    def extend_stream(self, below: int, number: int) -> None:
        """Draw the next step on the stream and everything that it reads."""
        step, d = self.flow.steps[number], self.diagram
        self.leaves[below] = self.y + 0.14
        addends = []
        if step.kind == "sum":
            addends = [source for _, source in step.reads if source != below]
        lower_edge = self.y + self.gap
        for k, addend in enumerate(addends):
            lower_edge = max(lower_edge, self.draw_branch(addend, left=k % 2 == 0))  # alternate between the sides
        self.y = lower_edge
        area = self.put_on_stream(number)
        not_found = step.kind == "not found"
        d.path([self.drawn[below].top, area.bottom], thick=self.has_sum and not not_found, dashed=not_found)
        self.draw_side_inputs(number, known=below)
        for addend in addends:
            label = "dropout" if addend in self.flow.dropped else ""
            beside = self.drawn[addend]
            d.path([beside.top, (beside.x, area.y), area.left if beside.x < 0 else area.right], label)

    def put_on_stream(self, number: int) -> Area:
        """Put a step at the upper end of the stream."""
        step = self.flow.steps[number]
        area = self.put(number, 0.0, self.y)
        if step.is_norm and self.verdict.startswith("Cut"):
            self.diagram.text("cut", (area.right.x + 0.2, area.y), bold=True, color=WRONG_RED)
        self.y = area.rect.y1 + (0.22 if step.kind == "input" else 0)
        return area

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

    def draw_branch(self, end: int, left: bool) -> float:
        """Draw the parts that lead from the stream to an addend; return the lowest possible y of the sum."""
        if end in self.drawn:
            return self.y + self.gap
        x = self.aside if left else -self.aside
        branch_y = self.y + 0.14
        numbers = [end]  # from the addend back to the first part that is not drawn yet
        while reads := self.flow.steps[numbers[-1]].reads:
            _, source = reads[0]
            if source in self.drawn:
                break
            numbers.append(source)
        y = branch_y + 0.2
        if not left:  # start above the parts on the left, so that an arrow can run across the stream
            y = max([branch_y, *(area.y for area in self.drawn.values() if area.x < 0)]) + 0.3
        is_first = True
        for number in reversed(numbers):
            area = self.put(number, x, y)
            y = area.rect.y1 + 0.25
            if self.flow.steps[number].reads:
                self.draw_first_input(number, branch_y, left, is_first)
            is_first = False
        return self.drawn[end].rect.y1 + 0.05

    def draw_first_input(self, number: int, branch_y: float, left: bool, starts_branch: bool) -> None:
        """Draw the arrow to a part from its first argument, then its other inputs."""
        step, area = self.flow.steps[number], self.drawn[number]
        _, source = step.reads[0]
        label = _argument_names(step, source)
        if not starts_branch:  # the first input is the part below in the same branch
            self.diagram.arrow(self.drawn[source], area, label)
        elif source in self.leaves:
            self.branch_off(source, branch_y, area, label)
        elif source in self.drawn and not left:  # the first input is on the other side of the stream
            start = self.drawn[source].right
            self.diagram.path([start, (area.x, start.y), area.bottom], label, label_at=0.75)
        else:
            self.notes.append(f"{step.name} reads {self.flow.steps[source].name}")
        self.draw_side_inputs(number, known=source)

    def branch_off(self, source: int, branch_y: float, area: Area, label: str) -> None:
        """Draw an arrow from the stream to a part next to it, through a lane on the left if it starts further below."""
        start = Spot(0, self.leaves[source], self.flow.steps[source].name)
        path = [start, Spot(area.x, start.y), area.bottom]
        if abs(start.y - branch_y) > 0.01:
            lane = self.left_edge = self.aside - 0.8
            path = [start, Spot(lane, start.y), Spot(lane, branch_y), Spot(area.x, branch_y), area.bottom]
        self.diagram.path(path, color=INK)
        if label:
            self.diagram.text(label, (0.5 * area.x - 0.02, start.y + 0.085), size=FONT_SIZE_PT - 2)

    def draw_side_inputs(self, number: int, known: int) -> None:
        """Draw the inputs of a part except the known input: inputs from the stream on its right, others on its left."""
        step, area, d = self.flow.steps[number], self.drawn[number], self.diagram
        if step.kind != "part":
            return
        sources = dict.fromkeys(source for _, source in step.reads if source != known)  # without duplicates, in order
        outside = []
        for source in sources:
            if self.flow.steps[source].kind in ("input", "not found") and source not in self.leaves:
                outside.append(source)
        for k, source in enumerate(outside):
            # Spread the arrows over the left side of the box, from 86 % to 14 % of its height.
            height = 0.5 if len(outside) == 1 else 0.86 - 0.72 * k / (len(outside) - 1)
            entry = area.spot(0, height)
            box = self.put_outside(source, self.aside - 1.75, area.spot(0, 1.5 * height - 0.25).y)
            d.path([box.right, (entry.x - 0.28, box.y), (entry.x - 0.28, entry.y), entry])
            label = _argument_names(step, source)
            if label and label not in box.name:
                d.text(label, ((box.right.x + entry.x - 0.28) / 2, box.y + 0.09), size=FONT_SIZE_PT - 2)
        for source in sources:
            label = _argument_names(step, source)
            if source in self.leaves and area.x < 0 and abs(self.leaves[source] - self.y) < 0.5:
                d.path([Spot(0, area.y, self.flow.steps[source].name), area.right])
                d.text(label, (area.right.x / 2 - 0.04, area.y + 0.085), size=FONT_SIZE_PT - 2)
            elif source not in outside:
                self.notes.append(f"{step.name} reads {self.flow.steps[source].name} as {label}")

    def put_outside(self, number: int, x: float, y: float) -> Box:
        """Put an input of the layer to the left of its parts."""
        step = self.flow.steps[number]
        if step.kind == "not found":
            return self.diagram.box(NOT_FOUND, (x, y), WRONG_RED, look="outlined")
        color = ORANGE if step.note else GRAY
        return self.diagram.box(step.name, (x, y), color, note=step.note, outline="square", size=FONT_SIZE_PT - 1)

    def frame(self) -> Frame:
        """Put a border around everything that the layer computes."""
        inside = [area for i, area in self.drawn.items() if self.flow.steps[i].kind != "input"]
        if not inside:  # the layer returns its input
            inside = list(self.drawn.values())
        right_edge = 0.65 if self.verdict.startswith("Cut") else 0.42
        bottom = min([inside[0].rect.y0, *self.leaves.values()])
        x, width = (self.left_edge + right_edge) / 2, right_edge - self.left_edge
        lower_edge = Box("", x, bottom, width, 0, GRAY, "outlined", "", 9, "square")
        return self.diagram.frame(self.flow.name, [*inside, lower_edge])

    def words(self, x: float, y: float) -> None:
        """Write the verdict above the drawing, and below it, notes about omitted parts."""
        steps, d = self.flow.steps, self.diagram
        lines = wrap(self.verdict, 34)
        d.text("\n".join(lines), (x, y + 0.085 * len(lines)), bold=True)
        for i, step in enumerate(steps):
            if step.kind == "part" and i not in self.drawn:
                self.notes.append(self.explain_omission(i))
        read = {source for step in steps for _, source in step.reads}
        for i, step in enumerate(steps):
            if step.kind == "input" and i not in read:
                self.notes.append(f"{step.name} is never read")
        for name in self.flow.never_called:
            self.notes.append(f"{name} is never called")
        bottom = d.extent.y0 - 0.14
        note_lines = [line for note in self.notes for line in wrap(note, 45)]
        for i, line in enumerate(note_lines):
            d.text(line, (x, bottom - 0.17 * i), color=WRONG_RED)

    def explain_omission(self, number: int) -> str:
        """Return a sentence about a part that is not drawn."""
        steps = self.flow.steps
        name = steps[number].name
        for i in self.readers(number):
            if steps[i].kind == "part":
                return f"{name} is read by {steps[i].name}"
            if later := [steps[j].name for j in self.readers(i) if steps[j].kind == "part"]:
                inputs = dict.fromkeys(steps[source].name for _, source in steps[number].reads)
                call = f"{name}({', '.join(inputs)})"
                return f"{call} is added to what {join_names(later)} reads, not to the residual stream"
        return f"{name} is called, but not found in the output"

    def readers(self, number: int) -> list[int]:
        """Return the steps that read a step."""
        return [i for i, step in enumerate(self.flow.steps) if any(source == number for _, source in step.reads)]


def color_of(step: Step) -> str:
    """Return the color for a part, which depends on words in its name or class."""
    words = f"{step.name} {step.note}".lower()
    kinds = {"attention": BLUE, "norm": GRAY, "feed": GREEN, "network": GREEN, "mlp": GREEN}
    return next((color for kind, color in kinds.items() if kind in words), INK)


def _argument_names(step: Step, source: int) -> str:
    """Return the names of the arguments that receive an input from one source, or "" if the part has one argument."""
    names = [name for name, i in step.reads if i == source]
    return ", ".join(names) if len(step.reads) > 1 else ""
