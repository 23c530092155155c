"""Take the README's picture: lesson 01 in a real JupyterLab, with a mistake made and named.

Run it from the repository's root, in its environment: ``python -m docs.take_picture``.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests.end_to_end.browser import find_browser, open_notebook, running_lab

MISTAKE = '''def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum()'''


def main() -> None:
    """Take it."""
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
            book.page.locator(".jp-MarkdownCell", has_text="Write it for any number of rows").evaluate(
                "cell => cell.scrollIntoView({block: 'start'})"
            )
            book.page.wait_for_timeout(500)  # until it has been drawn
            book.page.screenshot(path="docs/lesson.png")


if __name__ == "__main__":
    main()
