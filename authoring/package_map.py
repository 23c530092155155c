"""Draw the package map, ``docs/architecture.svg``, with arrows from the import table in the layout test.

``python -m authoring.package_map`` redraws the map. When you add a package, give it a position here; its arrows follow
from the table.
"""

import ast
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DRAWING = ROOT / "docs" / "architecture.svg"
LAYOUT = ROOT / "tests" / "repository" / "test_layout.py"

SHARED_IN_LIBRARY = ("checks", "shape_checks", "device", "atomic_write", "tensor_files")
SHARED_IN_COURSE = ("templates", "interrupts", "lesson_folder")
SHARED = (*SHARED_IN_LIBRARY, *SHARED_IN_COURSE)
"""Small modules that are listed together and have no arrows."""
LIBRARY, UNTRUSTED, TRUSTED, AUTHORS = "#dceaf7", "#fbdcd7", "#fdebd3", "#eeeeee"
WIDTH, HEIGHT = 126, 56
COLUMN, ROW = 158, 78
TOP, MIDDLE = 54, 432
"""The y coordinates of the top boxes of the library and the course."""


class Box(NamedTuple):
    """Position of a package on the map, with a two-line description."""

    column: float
    row: float
    color: str
    first: str
    second: str = ""

    @property
    def corner(self) -> tuple[float, float]:
        """Coordinates of the upper left corner."""
        top = TOP if self.color == LIBRARY else MIDDLE
        return 26 + COLUMN * self.column, top + ROW * self.row


BOXES = {
    "attention": Box(0, 1, LIBRARY, "scores, masks,", "heads, positions"),
    "layers": Box(1, 1, LIBRARY, "feed-forward, norms,", "encoder, decoder"),
    "models": Box(2, 1, LIBRARY, "Transformer,", "language models"),
    "inspection": Box(1, 2, LIBRARY, "hooks, shapes"),
    "fast": Box(3, 0, LIBRARY, "faster versions"),
    "pretrained": Box(3, 1, LIBRARY, "published weights"),
    "data": Box(3, 2, LIBRARY, "corpora, batches"),
    "generation": Box(4, 0, LIBRARY, "sampling, search"),
    "text": Box(5, 1, LIBRARY, "text in, text out"),
    "training": Box(6, 1, LIBRARY, "trainer, loss,", "checkpoints"),
    "running": Box(0, 0, UNTRUSTED, "runs learners’ code", "without the answers"),
    "sandbox": Box(0, 2, UNTRUSTED, "the sandbox"),
    "exercise": Box(1, 0, TRUSTED, "parts of an", "exercise"),
    "steps": Box(1, 1, TRUSTED, "step-by-step answers"),
    "lesson_order": Box(2, 3, TRUSTED, "order of the lessons"),
    "generated_mistakes": Box(2, 0, TRUSTED, "typical mistakes,", "from the steps"),
    "checking": Box(3, 1, TRUSTED, "judge, verdict,", "messages"),
    "exercises": Box(2, 1, TRUSTED, "answers, cases,", "known mistakes"),
    "locating": Box(3, 3, TRUSTED, "the faulty line"),
    "workspace": Box(3, 0, TRUSTED, "the learner’s folder"),
    "lesson": Box(4, 3, TRUSTED, "check, hint, solution,", "parts, compare"),
    "practice": Box(5, 3, TRUSTED, "review from memory"),
    "home": Box(5, 1, TRUSTED, "home page in", "JupyterLab"),
    "grading": Box(4, 2, TRUSTED, "incoming, rules,", "judging, reports"),
    "commands": Box(6, 2, TRUSTED, "lab, grade, train,", "translate …"),
    "views": Box(4, 1, TRUSTED, "interactive pictures"),
    "clinic": Box(1, 3, TRUSTED, "models with a bug"),
    "diagrams": Box(4, 0, TRUSTED, "drawings"),
    "plots": Box(5, 0, TRUSTED, "curves, maps,", "histograms"),
    "stored_models": Box(6, 0, TRUSTED, "pretrained, for", "learners’ classes"),
    "published_models": Box(6, 3, TRUSTED, "downloaded once", "for all clones"),
    "authoring": Box(6, 1, AUTHORS, "author tools,", "not shipped"),
}
DESCRIPTION = """Upper panel, the library: attention is used by layers, layers by models, models by fast and \
pretrained, fast by generation; generation, pretrained and data by text, text by training. Lower \
left, the untrusted side of the course: running and sandbox. Lower right, the trusted side: exercises, generated \
mistakes, \
checking, \
locating, workspace, lesson, practice, home, grading and commands; plots, diagrams, views, clinic, \
stored_models and published_models, which need only the library."""


def read_table() -> dict[str, str]:
    """Read the table of allowed imports from the layout test."""
    for node in ast.parse(LAYOUT.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "MAY_USE" and node.value is not None:
            return dict(ast.literal_eval(node.value))
    raise ValueError(f"{LAYOUT} does not define the table MAY_USE")


def merge_nested(may_use: Mapping[str, str]) -> dict[str, set[str]]:
    """Map each package to the packages it may use, by the last part of their names, with nested packages merged."""
    drawn: dict[str, str] = {}
    for package in may_use:
        around = [other for other in may_use if f"{package}.".startswith(f"{other}.")]
        drawn[package.rpartition(".")[2]] = min(around, key=len).rpartition(".")[2]
    merged: dict[str, set[str]] = {name: set() for name in drawn.values()}
    for package, names in may_use.items():
        name = drawn[package.rpartition(".")[2]]
        merged[name] |= {drawn.get(used, used) for used in names.split()} - {name}
    return merged


def arrows(may_use: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the arrows from each package to the packages that may use it, except arrows implied by other arrows.

    Arrows from the library to the course are omitted, because the title of the course's panel replaces them.
    """
    direct = merge_nested(may_use)
    all_used: dict[str, set[str]] = {}
    for package in TopologicalSorter(direct).static_order():
        all_used[package] = direct[package].union(*(all_used[name] for name in direct[package]))
    return [
        (name, package)
        for package in BOXES
        for name in sorted(direct[package] - set(SHARED))
        if (BOXES[name].color == LIBRARY) == (BOXES[package].color == LIBRARY)
        and not any(name in all_used[other] for other in direct[package])
    ]


def curve(start: str, end: str) -> list[tuple[float, float]]:
    """Return the four points of an arrow's Bézier curve, from side to side or, within a column, up or down."""
    (x, y), (to_x, to_y) = BOXES[start].corner, BOXES[end].corner
    if x == to_x:
        down = to_y > y
        y, to_y = (y + HEIGHT, to_y - 2) if down else (y, to_y + HEIGHT + 2)
        middle = x + WIDTH / 2
        return [(middle, y), (middle, y), (middle, to_y), (middle, to_y)]
    x, y, to_x, to_y = (
        (x, y + HEIGHT / 2, to_x + WIDTH + 2, to_y + HEIGHT / 2)
        if to_x < x
        else (x + WIDTH, y + HEIGHT / 2, to_x - 2, to_y + HEIGHT / 2)
    )
    skips_column = to_x - x > COLUMN  # then change height between the first two columns
    bend, arrival = (30, x - 30) if skips_column else ((to_x - x) / 2, (to_x + x) / 2)
    return [(x, y), (x + bend, y), (arrival, to_y), (to_x, to_y)]


def drawing(may_use: Mapping[str, str]) -> str:
    """Return the map as SVG.

    Args:
        may_use: Maps each package to the packages that it may import (only the last part of each name).

    Raises:
        ValueError: A package has no position, or a position has no package.
    """
    packages = merge_nested(may_use).keys()
    if wrong := packages ^ {*BOXES, *SHARED}:
        raise ValueError(f"every package must be in both the import table and the map: {', '.join(sorted(wrong))}")
    parts = [
        _panel(10, 10, 1100, 362, "#f4f8fc", "#0072B2", "transformer_lab: the library, which never imports the course"),
        _panel(10, 388, 158, 364, "#fdf3f1", "#b44a00", "untrusted side"),
        _panel(176, 388, 934, 364, "#fffaf2", "#8a5a0a", "transformer_course: the course, which may use the library"),
        *(_box(name) for name in BOXES),
        _shared(352, SHARED_IN_LIBRARY),
        _shared(744, SHARED_IN_COURSE),
        *(_arrow(start, end) for start, end in arrows(may_use)),
        _exchange(),
        _legend(),
    ]
    return "\n".join([_HEAD, *parts, "</svg>", ""])


_HEAD = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1120 762" font-family="system-ui, -apple-system, \
'Segoe UI', Roboto, 'DejaVu Sans', sans-serif" role="img" aria-labelledby="title desc">
<title id="title">The packages of Transformer Course and their allowed imports</title>
<desc id="desc">{DESCRIPTION}</desc>
<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" \
orient="auto-start-reverse"><path d="M0,0 L10,5 L0,10 z" fill="#333333"/></marker></defs>
<rect width="1120" height="762" fill="#ffffff"/>"""


def _text(x: float, y: float, words: str, **style: str | float) -> str:
    options = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{x:g}" y="{y:g}"{options}>{escape(words)}</text>'


def _panel(x: float, y: float, width: float, height: float, fill: str, stroke: str, title: str) -> str:
    box = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="10" fill="{fill}" stroke="{stroke}"/>'
    return box + _text(x + 14, y + 26, title, font_size=15, font_weight=700, fill=stroke)


def _box(name: str) -> str:
    place = BOXES[name]
    x, y = place.corner
    middle = x + WIDTH / 2
    small: dict[str, str | float] = {"text_anchor": "middle", "font_size": 11, "fill": "#444444"}
    return "".join(
        [
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{place.color}" ',
            'stroke="#333333"/>',
            _text(middle, y + 20, name, text_anchor="middle", font_size=15 if len(name) < 15 else 11, font_weight=600),
            _text(middle, y + 35, place.first, **small),
            _text(middle, y + 48, place.second, **small),
        ]
    )


def _shared(y: float, names: Sequence[str]) -> str:
    return _text(
        26 if y < MIDDLE else 190,
        y,
        f"small shared modules: {' · '.join(names)}",
        font_size=11,
        fill="#444444",
    )


def _arrow(start: str, end: str) -> str:
    points = " ".join(f"{x:g},{y:g}" for x, y in curve(start, end)[1:])
    x, y = curve(start, end)[0]
    return f'<path d="M{x:g},{y:g} C{points}" fill="none" stroke="#333333" stroke-width="1.5" marker-end="url(#a)"/>'


def _exchange() -> str:
    """Draw the exchange between the two sides, which consists of plain data and never contains an answer."""
    (x, y), (to_x, _) = BOXES["sandbox"].corner, BOXES["grading"].corner
    line = f'<line x1="{x + WIDTH + 2:g}" x2="{to_x - 2:g}" y1="{y + 46:g}" y2="{y + 46:g}" stroke="#333333" '
    line += 'stroke-dasharray="6 4" marker-start="url(#a)" marker-end="url(#a)"/>'
    words = "jobs: cells and cases, never the answer; results: tensors and JSON"
    return line + _text((x + WIDTH + to_x) / 2, y + 62, words, text_anchor="middle", font_size=11, fill="#444444")


def _legend() -> str:
    solid = '<line x1="840" y1="32" x2="876" y2="32" stroke="#333333" stroke-width="1.5" marker-end="url(#a)"/>'
    dashed = '<line x1="840" y1="54" x2="876" y2="54" stroke="#333333" stroke-dasharray="6 4" marker-end="url(#a)"/>'
    words = [
        _text(886, y, text, font_size=12, fill="#444444")
        for y, text in ((36, "may be imported by"), (58, "plain data"))
    ]
    return "".join([solid, dashed, *words])


if __name__ == "__main__":
    DRAWING.write_text(drawing(read_table()), encoding="utf-8", newline="\n")
