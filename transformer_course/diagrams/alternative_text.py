"""Describe a diagram in words, as alternative text for readers who cannot see the picture."""

from collections import Counter
from collections.abc import Iterable, Sequence

from transformer_course.diagrams.elements import Arrow, Box, Cells, Element, Frame, Words


def list_elements(elements: Sequence[Element]) -> list[str]:
    """Return a line that lists the boxes, a line for each table, and lines that list the arrows and the other texts."""
    boxes, frames, arrows, texts = list[str](), list[str](), list[str](), list[str]()
    tables: list[str] = []
    for element in elements:
        match element:
            case Box() if element.name != "+":  # a plus is already listed as the end of an arrow
                boxes.append(f"{element.name} {element.note}")
            case Frame():
                frames.append(element.name)
            case Cells():
                rows = [" ".join(text or "·" for text in row) for row in element.texts]
                tables.append(_line(_one_line(f"Table {element.name}"), " / ".join(rows)))
            case Arrow():
                arrows.append(_describe_arrow(element))
            case Words():
                texts.append(element.label.words)
    lines = []
    if listed := _join_with_counts([*boxes, *frames]):
        lines.append(_line("Boxes", listed))
    lines += tables
    if listed := _join_with_counts(arrows):
        lines.append(_line("Arrows", listed))
    if listed := _join_with_counts(texts):
        lines.append(_line("Texts", listed))
    return lines


def _line(heading: str, content: str) -> str:
    return f"{heading}: {content.rstrip('.')}."


def _join_with_counts(names: Iterable[str]) -> str:
    """Join names in the order of their first use, with a count after each name that occurs more than once."""
    one_line_names = [_one_line(name) for name in names]
    counts = Counter(name for name in one_line_names if name)
    return "; ".join(f"{name} (×{n})" if n > 1 else name for name, n in counts.items())


def _describe_arrow(arrow: Arrow) -> str:
    tail, head = _one_line(arrow.points[0].of), _one_line(arrow.points[-1].of)
    if not (tail and head):  # an arrow that does not connect two elements is described by its label
        return arrow.label
    words = f"{tail} {'→' if arrow.head else '–'} {head}"
    if arrow.label:
        words += f" ({_one_line(arrow.label)})"
    if arrow.crossed:
        words += " crossed out"
    return words


def _one_line(text: str) -> str:
    return " ".join(text.split())
