"""A view in a notebook in a real JupyterLab, to be operated and looked at from both sides.

A test of a view is one function: one notebook, one browser; it changes the theme half-way::

    @pytest.mark.slow
    @pytest.mark.thorough
    def test_the_coin_is_operated_by_key(lab):
        with open_view(lab, "from transformer_course.views.coin import Coin", "view = Coin()", "view") as coin:
            coin.root.get_by_role("slider").focus()
            coin.press("ArrowRight")
            coin.shows("heads with probability 0.51")  # what is said below the drawing
            coin.holds("view.probability", 0.51)  # what Python knows
            coin.change_theme("JupyterLab Dark")
            ...
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import nbformat
from playwright.sync_api import Locator, expect

from tests.end_to_end.browser import TIMEOUT_MS, Notebook, open_notebook

METADATA = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that runs: its address, its folder, and the browser to open it in."""

    address: str
    folder: Path
    browser: str


class OpenView:
    """The view that a notebook shows; ``root`` is its outermost element."""

    def __init__(self, notebook: Notebook) -> None:
        self.notebook, self.page = notebook, notebook.page
        self.root: Locator = notebook.page.locator(".tl-view")

    def press(self, key: str) -> None:
        """Press a key, such as ``ArrowRight``, where the focus is."""
        self.page.keyboard.press(key)

    def shows(self, text: str) -> None:
        """Wait until the line that is read aloud says a text."""
        expect(self.root.locator(".tl-said")).to_contain_text(text)

    def holds(self, expression: str, value: Any) -> None:
        """Wait until a Python expression has a value in the kernel."""
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while (found := self.notebook.python(expression)) != value and time.monotonic() < deadline:
            time.sleep(0.1)
        assert found == value, expression

    def runs(self, code: str) -> None:
        """Run code in the kernel, as a cell would."""
        self.notebook.python(f"exec({code!r})")

    def change_theme(self, theme: str) -> None:
        """Switch to ``JupyterLab Light`` or ``JupyterLab Dark``."""
        self.notebook.change_theme(theme)

    def contrast(self, element: Locator) -> float:
        """Return how much the text of an element stands out from the view's ground: 4.5 can be read, 21 is the most."""
        text, ground = element.evaluate(  # both at once: the theme may be changing
            "node => [getComputedStyle(node).color, getComputedStyle(node.closest('.tl-view')).backgroundColor]"
        )
        light, dark = sorted((_luminance(text), _luminance(ground)), reverse=True)
        return (light + 0.05) / (dark + 0.05)


@contextlib.contextmanager
def open_view(lab: Lab, *cells: str, theme: str = "JupyterLab Light") -> Iterator[OpenView]:
    """Open a new notebook with these cells, run it, and wait for the view; at the end, nothing was asked of others."""
    name = f"{uuid4().hex}.ipynb"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata=METADATA)
    nbformat.write(book, lab.folder / name)
    with open_notebook(lab.address, name, lab.browser, theme) as notebook:
        notebook.run_all()
        view = OpenView(notebook)
        view.root.wait_for()
        yield view
        here = (lab.address, lab.address.replace("http", "ws", 1), "data:", "blob:")
        assert [address for address in notebook.requests if not address.startswith(here)] == []


def _luminance(color: str) -> float:
    """Return the relative luminance of a color such as ``rgb(26, 26, 26)``, as WCAG 2 defines it."""
    parts = [float(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
