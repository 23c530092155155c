"""Helpers that open a view in a JupyterLab notebook and operate it from the browser and from Python.

Each view has one test function. It uses one notebook and one browser, and changes the theme halfway through::

    @pytest.mark.slow
    @pytest.mark.thorough
    def test_coin_follows_the_arrow_keys(lab):
        with open_view(lab, "from transformer_course.views.coin import Coin", "view = Coin()", "view") as coin:
            coin.root.get_by_role("slider").focus()
            coin.press("ArrowRight")
            coin.expect_description("heads with probability 0.51")  # the text below the drawing
            coin.expect_value("view.probability", 0.51)  # the state in Python
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
    """A running JupyterLab: its URL, its folder, and the path of the browser."""

    address: str
    folder: Path
    browser: str


class OpenView:
    """A view in a notebook. ``root`` is the view's outermost HTML element."""

    def __init__(self, notebook: Notebook) -> None:
        self.notebook, self.page = notebook, notebook.page
        self.root: Locator = notebook.page.locator(".tl-view")

    def press(self, key: str) -> None:
        """Press a key, such as ``ArrowRight``, while an element is focused."""
        self.page.keyboard.press(key)

    def expect_description(self, text: str) -> None:
        """Wait until the view's description, which screen readers announce, contains a text."""
        expect(self.root.locator(".tl-said")).to_contain_text(text)

    def expect_value(self, expression: str, value: Any) -> None:
        """Wait until a Python expression in the kernel has a value."""
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while (observed := self.notebook.python(expression)) != value and time.monotonic() < deadline:
            time.sleep(0.1)
        assert observed == value, expression

    def execute(self, code: str) -> None:
        """Run code in the kernel, like a cell."""
        self.notebook.python(f"exec({code!r})")

    def change_theme(self, theme: str) -> None:
        """Switch to ``JupyterLab Light`` or ``JupyterLab Dark``."""
        self.notebook.change_theme(theme)

    def contrast(self, element: Locator) -> float:
        """Return the contrast ratio of an element's text and the view's background, which is between 1 and 21."""
        text, ground = element.evaluate(  # read both colors in one call, because the theme may be changing
            "node => [getComputedStyle(node).color, getComputedStyle(node.closest('.tl-view')).backgroundColor]"
        )
        light, dark = sorted((_luminance(text), _luminance(ground)), reverse=True)
        return (light + 0.05) / (dark + 0.05)


@contextlib.contextmanager
def open_view(lab: Lab, *cells: str, theme: str = "JupyterLab Light") -> Iterator[OpenView]:
    """Open a new notebook with these cells, run it, and wait for the view. On exit, assert that the view did not
    contact other hosts.
    """
    name = f"{uuid4().hex}.ipynb"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata=METADATA)
    nbformat.write(book, lab.folder / name)
    with open_notebook(lab.address, name, lab.browser, theme) as notebook:
        notebook.run_all()
        view = OpenView(notebook)
        view.root.wait_for()
        yield view
        local = (lab.address, lab.address.replace("http", "ws", 1), "data:", "blob:")
        assert [address for address in notebook.requests if not address.startswith(local)] == []


def _luminance(color: str) -> float:
    """Return the relative luminance of a color such as ``rgb(26, 26, 26)``, as defined by WCAG 2."""
    parts = [float(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
