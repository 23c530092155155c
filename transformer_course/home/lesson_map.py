"""Draw the map of the lessons: the whole Transformer, in which each box links to the lesson that builds it.

The map is drawn from the diagram that the lessons show, and stored as ``lesson_map.svg``, because drawing needs torch
and matplotlib, which the page's server should not import. After a change, run ``python -m
transformer_course.home.lesson_map`` to store the map again.

Each lesson is a group with the class ``tl-lesson``, and the page's style sheet sets its color and state.
"""

from collections.abc import Iterable, Sequence
from html import escape
from math import dist
from pathlib import Path

from transformer_course.diagrams.architecture import LAST_LESSON, SMALL_FONT_PT, thumbnail
from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PINK,
    Area,
    Arrow,
    Box,
    Frame,
    Label,
    Words,
    rect_of,
    text_width,
)
from transformer_course.exercises import LESSONS
from transformer_course.lesson_order import place

MAP_FILE = Path(__file__).with_name("lesson_map.svg")
BEFORE = {"primer": "primer", "00_bottleneck": "before attention"}
AFTER = {
    "tokenizers": "tokenizers",
    "09_language_model": "a language model",
    "10_inference": "fast inference",
    "11_modern_block": "Llama, loaded",
    "architectures": "architectures",
    "12_clinic": "the bug clinic",
    "13_scale": "beyond one machine",
    "14_post_training": "post-training",
    "evaluation": "evaluation",
}
COLORS = {BLUE: "blue", GREEN: "green", ORANGE: "orange", PINK: "pink", GRAY: "gray", INK: "ink"}
UNITS_PER_INCH = 100
"""SVG units per inch. The unit of the diagram is one inch."""
MARGIN = 0.12
BADGE_RADIUS = 0.078
"""The radius of the circle with the lesson's number on the corner of a box, in inches."""


def draw() -> tuple[Diagram, dict[Area, str]]:
    """Draw the map as a diagram; also return the lesson of each box and frame."""
    d, homes = thumbnail(LAST_LESSON)
    by_number = {int(name[:2]): name for name in LESSONS if name[0].isdigit()}
    lessons: dict[Area, str] = {area: by_number[number] for area, number in homes.items()}
    whole = next(frame for frame in d.frames if frame.name == "Transformer").rect
    for names, y in ((BEFORE, whole.y1 + 0.36), (AFTER, whole.y0 - 0.36)):
        x, before = whole.x0, None
        for name, title in names.items():
            width = text_width(title, SMALL_FONT_PT + 0.5) + 0.22
            fits = x + width <= whole.x1
            if not fits:
                x, y = whole.x0, y - 0.52
            box = d.box(title, (x + width / 2, y), GRAY, width=width, height=0.28, size=SMALL_FONT_PT + 0.5)
            if before is not None and fits:
                d.arrow(before, box)
            elif before is not None:
                between_rows = (before.y + y) / 2
                d.path([before.bottom, (before.x, between_rows), (box.x, between_rows), box.top])
            lessons[box] = name
            x, before = box.rect.x1 + 0.22, box
    inside = next(box for box, name in lessons.items() if name == "00_bottleneck")
    d.arrow(inside, (inside.x, whole.y1))
    after = next(box for box, name in lessons.items() if name == next(iter(AFTER)))
    d.arrow((after.x, whole.y0), after)
    return d, lessons


class Picture:
    """A converter from a diagram to SVG, with a group for each lesson.

    Args:
        d: The diagram.
        lessons: The lesson of each box and frame of the diagram.
    """

    def __init__(self, d: Diagram, lessons: dict[Area, str]) -> None:
        self.d, self.lessons = d, lessons
        x0, y0, x1, y1 = d.extent
        self.x0, self.y1 = x0 - MARGIN, y1 + MARGIN
        self.width, self.height = x1 - x0 + 2 * MARGIN, y1 - y0 + 2 * MARGIN

    def svg(self) -> str:
        """Return the SVG: frames, arrows and labels, with a group for each lesson in front of them."""
        frames = sorted(self.d.frames, key=lambda frame: -frame.width * frame.height)
        lines = [f'<svg class="tl-map" viewBox="0 0 {self.n(self.width)} {self.n(self.height)}" role="group">']
        lines += [self.frame(frame) for frame in frames]
        lines += [self.arrow(arrow) for arrow in self.d.arrows]
        lines += [self.text(e.label, "tl-words") for e in self.d.elements if isinstance(e, Words)]
        for lesson in sorted(set(self.lessons.values()), key=place):
            boxes = [box for box in self.d.boxes if self.lessons.get(box) == lesson]
            lines += [f'<a class="tl-lesson" data-lesson="{lesson}">', *map(self.box, boxes), "</a>"]
        return "\n".join([*lines, "</svg>", ""])

    def frame(self, frame: Frame) -> str:
        """Return a frame with its name."""
        [label] = [label for label in labels_of(self.d, frame) if label.words]
        return self.rect(frame, "tl-frame", 10) + self.text(label, "tl-frame-name")

    def box(self, box: Box) -> str:
        """Return a box with its name, and with the number of its lesson on its corner."""
        label = Label(box.name, box.x, box.y, box.size)
        parts = [self.rect(box, f"tl-box tl-{COLORS[box.color]}", 7), self.text(label, "tl-name")]
        number = self.lessons[box][:2]
        if number.isdigit():
            x, y = self.x(box.rect.x0 - 0.015), self.y(box.rect.y1 - 0.01)
            parts.append(f'<circle class="tl-badge" cx="{x}" cy="{y}" r="{self.n(BADGE_RADIUS)}"/>')
            parts.append(f'<text class="tl-number" x="{x}" y="{y}">{int(number)}</text>')
        return "".join(parts)

    def arrow(self, arrow: Arrow) -> str:
        """Return an arrow: a line with a triangle at its end."""
        points = [point[:2] for point in arrow.points]
        (x0, y0), (x1, y1) = points[-2:]
        length = dist((x0, y0), (x1, y1))
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        foot = x1 - 0.08 * dx, y1 - 0.08 * dy
        tip = [(x1, y1), (foot[0] - 0.035 * dy, foot[1] + 0.035 * dx), (foot[0] + 0.035 * dy, foot[1] - 0.035 * dx)]
        color = COLORS[arrow.color]
        line = f'<polyline class="tl-line tl-{color}" points="{self.points([*points[:-1], foot])}"/>'
        return f'{line}<polygon class="tl-tip tl-{color}" points="{self.points(tip)}"/>'

    def rect(self, area: Area, classes: str, radius: int) -> str:
        """Return the outline of a box or frame."""
        size = f'width="{self.n(area.width)}" height="{self.n(area.height)}" rx="{radius}"'
        return f'<rect class="{classes}" x="{self.x(area.rect.x0)}" y="{self.y(area.rect.y1)}" {size}/>'

    def text(self, label: Label, classes: str) -> str:
        """Return a text that is stretched to the width measured here, because the reader may have different fonts."""
        lines = label.words.split("\n")
        anchor = {"left": "start", "center": "middle", "right": "end"}[label.align]
        size = self.n(label.size / 72)
        elements = []
        for i, line in enumerate(lines):
            rect = rect_of(label._replace(words=line))
            y = self.y(label.y + ((len(lines) - 1) / 2 - i) * label.size / 72 * 1.2)
            width = self.n(rect.x1 - rect.x0)
            attributes = f'x="{self.x(label.x)}" y="{y}" text-anchor="{anchor}" font-size="{size}" textLength="{width}"'
            elements.append(f'<text class="{classes}" {attributes}>{escape(line)}</text>')
        return "".join(elements)

    def points(self, points: Iterable[Sequence[float]]) -> str:
        """Return points in the format of SVG's ``points`` attribute."""
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)

    def x(self, x: float) -> str:
        """Return an x coordinate in SVG units."""
        return self.n(x - self.x0)

    def y(self, y: float) -> str:
        """Return a y coordinate in SVG units, which grow downwards."""
        return self.n(self.y1 - y)

    def n(self, length: float) -> str:
        """Return a length in SVG units."""
        return f"{length * UNITS_PER_INCH:.1f}".removesuffix(".0")


def labels_of(d: Diagram, frame: Frame) -> list[Label]:
    """Return the labels of a frame."""
    alone = Diagram("")
    alone.elements.append(frame)
    return alone.labels


if __name__ == "__main__":
    MAP_FILE.write_text(Picture(*draw()).svg(), encoding="utf-8")
