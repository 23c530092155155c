"""Find texts that are hard to read because they overlap, stick out of their boxes, or are crossed by arrows."""

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from transformer_course.diagrams.elements import Arrow, Box, Element, Frame, Label, Rect, labels_of, rect_of
from transformer_course.diagrams.routes import crosses

TOLERANCE = 0.01
"""Texts may touch each other and their borders by this much."""


class _Text(NamedTuple):
    """A text, the element it belongs to, and the rectangle that must stay free."""

    owner: Element
    label: Label
    rect: Rect


def find_flaws(elements: Sequence[Element]) -> list[str]:
    """Return a description of each text that is hard to read."""
    texts = []
    for element in elements:
        for label in labels_of(element):
            if label.words:
                texts.append(_Text(element, label, _shrink(rect_of(label))))
    flaws = []
    for one, other in combinations(texts, 2):
        if _overlap(one.rect, other.rect):
            flaws.append(f"{one.label.words!r} overlaps {other.label.words!r}")
    for text in texts:
        flaws += _conflicts_with_elements(text, elements)
    return flaws


def _conflicts_with_elements(text: _Text, elements: Sequence[Element]) -> list[str]:
    """Return a description of each box, frame and arrow that a text collides with."""
    flaws = []
    words = repr(text.label.words)
    if isinstance(text.owner, Box) and not _contains(text.owner.rect, text.rect):
        flaws.append(f"{words} sticks out of its box")
    for box in elements:
        if isinstance(box, Box) and box is not text.owner and _crosses_border(text.rect, box.rect):
            flaws.append(f"{words} runs into the box {box.name!r}")
    if not text.label.on_white:  # a label on a white background hides the border behind it
        for frame in elements:
            if isinstance(frame, Frame) and _crosses_border(text.rect, frame.rect):
                flaws.append(f"{words} runs through the border of {frame.name!r}")
    for arrow in elements:
        if isinstance(arrow, Arrow) and arrow is not text.owner and _runs_through(arrow, text.rect):
            flaws.append(f"an arrow runs through {words}")
    return flaws


def _runs_through(arrow: Arrow, rect: Rect) -> bool:
    return any(crosses(start, end, rect) for start, end in pairwise(arrow.points))


def _crosses_border(text: Rect, area: Rect) -> bool:
    """Return whether a text is partly inside and partly outside an area."""
    return _overlap(area, text) and not _contains(area, text)


def _shrink(rect: Rect) -> Rect:
    return Rect(rect.x0 + TOLERANCE, rect.y0 + TOLERANCE, rect.x1 - TOLERANCE, rect.y1 - TOLERANCE)


def _overlap(one: Rect, other: Rect) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def _contains(outer: Rect, inner: Rect) -> bool:
    return outer.x0 <= inner.x0 and outer.y0 <= inner.y0 and inner.x1 <= outer.x1 and inner.y1 <= outer.y1
