"""A new learner meets the home page, goes to a lesson and back, and finds an exercise counted."""

import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.end_to_end.browser import draw_every_cell, find_browser, open_notebook, running_lab
from transformer_course.exercises import every_exercise
from transformer_course.workspace.progress import FILE

COMMAND = [sys.executable, "-m", "transformer_lab.cli", "lab", "--no-browser"]
BROWSER = find_browser()
PATIENCE = 60_000
"""Milliseconds that a busy machine may take to show something."""

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed, so no JupyterLab can be opened in one"),
    pytest.mark.slow,
]
expect.set_options(timeout=PATIENCE)


def test_the_home_page_leads_to_a_lesson_and_counts_what_passes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons, settings = tmp_path / "lessons", tmp_path / "home"
    settings.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    softmax, n = every_exercise()["softmax"], len(every_exercise())
    assert BROWSER is not None

    with (
        running_lab(COMMAND, tmp_path, settings, has_answered=False) as address,
        open_notebook(address, "primer.ipynb", BROWSER, theme="JupyterLab Dark") as book,
    ):
        page = book.page
        page.goto(f"{address}/lab?reset")  # as at the first start
        home = page.locator(".tl-home")
        expect(home.get_by_role("link", name="Begin with lesson 00")).to_be_visible()
        expect(home).to_contain_text(f"0 of {n} exercises passed.")
        assert dark(home)

        home.locator("#tl-map-01_lookup").focus()
        page.keyboard.press("Enter")
        draw_every_cell(page, "01_lookup.ipynb")
        book.run(book.cell_with("import math"))
        book.rewrite(book.cell_with("def softmax("), softmax.solution)
        book.run(book.cell_with("check(softmax)"))
        book.save()

        go_home(page)
        expect(home.locator("#tl-lesson-01_lookup").locator("xpath=ancestor::tr")).to_contain_text("1 of 5")
        expect(home.get_by_role("status")).to_have_text(f"1 of {n} exercises passed.")
        expect(home.locator("#tl-map-01_lookup")).to_have_attribute(
            "aria-label", "Lesson 01, Attention is a soft dictionary lookup: you are here"
        )
        exported = page.request.get(f"{address}/transformer-course/progress.csv").text()
        assert "\n01_lookup,softmax,False,True,2" in exported

        home.locator("#tl-part-01_lookup").click()
        page.wait_for_selector(".jp-FileEditor")
        go_home(page)
        home.locator("#tl-go-on").focus()
        shutil.rmtree(lessons / "parts")
        expect(home).to_contain_text("Passed, but not among your parts: softmax.")
        expect(home.locator("#tl-go-on")).to_be_focused()
        with (lessons / FILE).open("a") as file:
            file.write("no record\n")
        expect(home).to_contain_text(f"line 2 of {FILE} is no record of a pass")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.id === 'check-softmax'"
        )

        assert page.locator(".Toastify__toast").count() == 0, "JupyterLab asks or tells something"
        here = (address, address.replace("http", "ws", 1), "data:", "blob:")
        assert [url for url in book.requests if not url.startswith(here)] == []
        assert [url for url in book.requests if "/lab/api/news" in url or "/lab/api/update" in url] == []


def go_home(page: Page) -> None:
    page.evaluate("window.jupyterapp.commands.execute('transformer-course:home')")


def dark(element: Locator) -> bool:
    """Return whether text is lighter than what it stands on."""
    return bool(
        element.evaluate(
            """node => {
                const style = getComputedStyle(node);
                const [ink, paper] = [style.color, style.backgroundColor].map(
                    colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)
                );
                return ink > paper;
            }"""
        )
    )
