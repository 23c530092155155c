"""Take the pictures of README and guides: lesson 01 in JupyterLab, with a mistake made and named, and two of lesson 08.

Run it from the repository's root, in its environment: ``python -m docs.take_picture``.
"""

import base64
import os
import sys
import tempfile
from pathlib import Path

import nbformat

from tests.end_to_end.browser import find_browser, open_notebook, running_lab

MISTAKE = '''def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum()'''
TASK = "Write softmax for any number of rows"
"""Words of the lesson that stand above that cell."""

STORED = {
    "map.png": ("08_training", "before-you-start-3"),
    "attention.png": ("08_training", "what-does-the-model-attend-to-2"),
}
"""Pictures that a published lesson holds: the lesson and its cell."""


def stored_picture(lesson: str, cell: str) -> bytes:
    """Return the picture that a cell of a published lesson shows.

    Raises:
        ValueError: There is no such picture.
    """
    book = nbformat.read(Path("notebooks", f"{lesson}.ipynb"), as_version=4)
    outputs = [output for one in book.cells if one.id == cell for output in one.get("outputs", [])]
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    if not pictures:
        raise ValueError(f"{lesson} has no cell {cell} that shows a picture")
    return base64.b64decode(pictures[0])


def main() -> None:
    """Take them."""
    for name, (lesson, cell) in STORED.items():
        Path("docs", name).write_bytes(stored_picture(lesson, cell))
    take_lesson()


def take_lesson() -> None:
    """Take the picture of a mistake that is named."""
    browser = find_browser()
    if browser is None:
        raise SystemExit("no Chromium is installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["TRANSFORMER_LAB_LESSONS"] = str(folder / "lessons")
        (folder / "home").mkdir()
        command = [sys.executable, "-m", "transformer_lab.cli", "lab", "--no-browser"]
        with (
            running_lab(command, Path.cwd(), folder / "home") as address,
            open_notebook(address, "01_lookup.ipynb", browser, pixels=2) as book,
        ):
            book.run_all()
            book.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
            book.rewrite(book.cell_with("def softmax("), MISTAKE)
            book.run(book.cell_with("check(softmax)"))
            book.page.keyboard.press("Escape")
            book.page.set_viewport_size({"width": 1000, "height": 660})
            book.page.locator(".jp-MarkdownCell", has_text=TASK).evaluate(
                "cell => cell.scrollIntoView({block: 'start'})"
            )
            book.page.wait_for_timeout(500)  # until it has been drawn
            book.page.screenshot(path="docs/lesson.png")


if __name__ == "__main__":
    main()
