"""Take the pictures for the README and the guides.

These are a mistake in lesson 01 with the check's message, an animated view and two plots. Run ``python -m
docs.take_picture`` in the root of the repository, optionally with the names of the picture files.
"""

import base64
import io
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
import torch
from PIL import Image

from tests.end_to_end.browser import find_browser, open_notebook, running_lab
from tests.transformer_course.views.plain_page import plain_page, show
from transformer_course.views import LookupDial

MISTAKE = '''def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum()'''
TASK = "Write softmax for a tensor with any number of rows"

WIDTH = 800
"""The width at which the README displays a picture. Pictures have this width, so that their text keeps its size."""
STORED = {
    "map.png": ("08_training", "before-you-start-3"),
    "attention.png": ("08_training", "what-does-the-model-attend-to-2"),
}
N_FRAMES = 48
FRAME_MILLISECONDS = 90
HIDE_TOOLS = """
.jp-cell-toolbar, .jp-Collapser { visibility: hidden }
.jp-Cell { border-color: transparent !important; box-shadow: none !important; outline: none !important }
"""


def stored_picture(lesson: str, cell: str) -> bytes:
    """Return the picture in the output of a cell in a published lesson.

    Raises:
        ValueError: The cell does not exist or has no picture.
    """
    book = nbformat.read(Path("notebooks", f"{lesson}.ipynb"), as_version=4)
    outputs = [output for node in book.cells if node.id == cell for output in node.get("outputs", [])]
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    if not pictures:
        raise ValueError(f"cell {cell} of {lesson} does not exist or has no picture")
    return base64.b64decode(pictures[0])


def main(names: Sequence[str]) -> None:
    """Take all pictures, or only the pictures with these file names."""
    for name in names or ("lesson.png", "dial.gif", *STORED):
        if name in STORED:
            Path("docs", name).write_bytes(stored_picture(*STORED[name]))
        else:
            {"lesson.png": take_lesson, "dial.gif": take_dial}[name](browser())


def browser() -> str:
    """Return the path of the installed browser.

    Raises:
        SystemExit: No browser is installed.
    """
    found = find_browser()
    if found is None:
        raise SystemExit("Chromium is not installed")
    return found


def take_lesson(browser: str) -> None:
    """Take the picture of a recognized mistake, which shows the exercise's cell and the cell of its check."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["TRANSFORMER_LAB_LESSONS"] = str(folder / "lessons")
        (folder / "home").mkdir()
        command = [sys.executable, "-m", "transformer_course.commands", "lab", "--no-browser"]
        with (
            running_lab(command, Path.cwd(), folder / "home") as address,
            open_notebook(address, "01_lookup.ipynb", browser, pixels=2) as book,
        ):
            book.run_all()
            book.page.evaluate("window.jupyterapp.shell.collapseLeft()")
            answer, check = book.cell_with("def softmax("), book.cell_with("check(softmax)")
            book.rewrite(answer, MISTAKE)
            book.run(check)
            book.page.keyboard.press("Escape")
            book.page.add_style_tag(content=HIDE_TOOLS)
            book.page.set_viewport_size({"width": WIDTH + 100, "height": 900})
            answer.evaluate("cell => cell.scrollIntoView({block: 'center'})")
            book.page.wait_for_timeout(500)  # wait until the page is drawn
            first, last = answer.bounding_box(), check.bounding_box()
            assert first is not None and last is not None
            clip = {"x": first["x"], "y": first["y"], "width": WIDTH, "height": last["y"] + last["height"] - first["y"]}
            book.page.screenshot(path="docs/lesson.png", clip=clip)  # type: ignore[arg-type]


def take_dial(browser: str) -> None:
    """Record an animation of lesson 01's dial while its query rotates."""
    keys, values = torch.tensor([[3.0, 0.1], [2.8, 0.6], [0.2, 3.0]]), torch.tensor([10.0, 5.0, 2.0])
    dial = LookupDial(
        torch.tensor([2.5, 0.0]), keys, values, ["apple", "banana", "chair"], "fruit", ["edible", "to sit on"]
    )
    frames = []
    with plain_page(browser) as page:
        page.set_viewport_size({"width": WIDTH, "height": 600})
        show(page, dial)
        for i in range(N_FRAMES):
            angle = math.pi / 4 * (1 - math.cos(2 * math.pi * i / N_FRAMES))  # from one axis to the other and back
            query = [2.5 * math.cos(angle), 2.5 * math.sin(angle)]
            page.evaluate("query => { shown.model.set('query', query); return frames(); }", query)
            picture = page.locator(".tl-view").screenshot()
            frames.append(Image.open(io.BytesIO(picture)).convert("P", palette=Image.Palette.ADAPTIVE, colors=64))
    frames[0].save(
        "docs/dial.gif", save_all=True, append_images=frames[1:], duration=FRAME_MILLISECONDS, loop=0, optimize=True
    )


if __name__ == "__main__":
    main(sys.argv[1:])
