"""Compute the points of an arrow between two elements, and where lines and rectangles cross."""

from collections.abc import Sequence
from itertools import pairwise
from math import dist
from typing import Literal

from transformer_course.diagrams.elements import Area, Rect, Spot

Route = Literal["straight", "-|", "|-", "-|-", "|-|"]
"""How an arrow runs: straight, or horizontally and vertically. ``-|`` starts horizontally and ends vertically."""
Place = tuple[float, float] | Spot
End = Place | Area


def points_between(tail: End, head: End, route: Route, bend: float) -> list[Spot]:
    """Return the points of an arrow. An arrow starts and ends on the sides of boxes that face each other."""
    if route == "straight":
        start, end = _straight(tail, head)
        return [start, end]
    (x0, y0), (x1, y1) = _middle(tail), _middle(head)
    start = _side(tail, dx=x1 - x0 if route[0] == "-" else 0, dy=y1 - y0 if route[0] == "|" else 0)
    end = _side(head, dx=x0 - x1 if route[-1] == "-" else 0, dy=y0 - y1 if route[-1] == "|" else 0)
    across, up = start.x + bend * (end.x - start.x), start.y + bend * (end.y - start.y)
    between = {
        "-|": [Spot(end.x, start.y)],
        "|-": [Spot(start.x, end.y)],
        "-|-": [Spot(across, start.y), Spot(across, end.y)],
        "|-|": [Spot(start.x, up), Spot(end.x, up)],
    }
    return [start, *between[route], end]


def _straight(tail: End, head: End) -> tuple[Spot, Spot]:
    """Return both ends of a straight arrow, which is vertical or horizontal if the boxes overlap in x or y."""
    one, other = _rect(tail), _rect(head)
    x0, x1 = max(one.x0, other.x0), min(one.x1, other.x1)
    y0, y1 = max(one.y0, other.y0), min(one.y1, other.y1)
    dx, dy = _middle(head)[0] - _middle(tail)[0], _middle(head)[1] - _middle(tail)[1]
    if x0 <= x1 and not y0 < y1:
        start, end = _side(tail, 0, dy), _side(head, 0, -dy)
        return start._replace(x=(x0 + x1) / 2), end._replace(x=(x0 + x1) / 2)
    if y0 <= y1:
        start, end = _side(tail, dx, 0), _side(head, -dx, 0)
        return start._replace(y=(y0 + y1) / 2), end._replace(y=(y0 + y1) / 2)
    if abs(dy) >= abs(dx):
        return _side(tail, 0, dy), _side(head, 0, -dy)
    return _side(tail, dx, 0), _side(head, -dx, 0)


def _middle(end: End) -> tuple[float, float]:
    return (end.x, end.y) if isinstance(end, Area) else (end[0], end[1])


def _rect(end: End) -> Rect:
    return end.rect if isinstance(end, Area) else Rect(end[0], end[1], end[0], end[1])


def _side(end: End, dx: float, dy: float) -> Spot:
    """Return the middle of the side that faces in a direction. A point is returned unchanged."""
    if not isinstance(end, Area):
        return end if isinstance(end, Spot) else Spot(*end)
    if dx:
        return end.right if dx > 0 else end.left
    return end.top if dy > 0 else end.bottom


def point_along(points: Sequence[Spot], fraction: float) -> tuple[float, float]:
    """Return the point at a fraction of the length of a line through several points."""
    remaining = fraction * sum(dist(a[:2], b[:2]) for a, b in pairwise(points))
    for a, b in pairwise(points):
        length = dist(a[:2], b[:2])
        if length and remaining <= length + 1e-9:
            return a.x + remaining / length * (b.x - a.x), a.y + remaining / length * (b.y - a.y)
        remaining -= length
    return points[-1].x, points[-1].y


def crosses(start: Spot, end: Spot, rect: Rect) -> bool:
    """Return whether a line crosses a rectangle, by Liang–Barsky clipping (1984)."""
    first, last = 0.0, 1.0
    for begin, delta, low, high in (
        (start.x, end.x - start.x, rect.x0, rect.x1),
        (start.y, end.y - start.y, rect.y0, rect.y1),
    ):
        if delta == 0:
            if not low < begin < high:
                return False
            continue
        near, far = sorted(((low - begin) / delta, (high - begin) / delta))
        first, last = max(first, near), min(last, far)
    return first < last
