"""A new learner meets the home page, goes to a lesson and back, and finds an exercise counted."""

import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.end_to_end.browser import Notebook, find_browser, open_notebook, running_lab, wait_until_ready
from transformer_course.exercises import every_exercise
from transformer_course.workspace.progress import FILE

COMMAND = [sys.executable, "-m", "transformer_lab.cli", "lab", "--no-browser"]
BROWSER = find_browser()

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed, so no JupyterLab can be opened in one"),
    pytest.mark.slow,
]


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
        home = page.locator(".tl-home")
        the_page_is_there_before_jupyterlab(page, address)
        go_home(page)
        expect(home.get_by_role("status")).to_be_hidden()
        expect(home).to_contain_text(f"0 of {n} exercises passed.")
        assert dark(home), "the system's theme is followed"
        assert not page.locator("#filebrowser").is_visible()
        page.evaluate("window.jupyterapp.shell.collapseLeft()")
        nothing_is_cut(home)

        home.locator("#tl-map-01_lookup").focus()
        page.keyboard.press("Enter")
        wait_until_ready(page, "01_lookup.ipynb")
        book.run(book.cell_with("import math"))
        book.run(book.cell_with("def softmax("))
        book.run(book.cell_with("check(softmax)"))
        a_button_gives_hints(book)
        an_endless_loop_is_told(book)
        book.rewrite(book.cell_with("def softmax("), softmax.solution)
        book.run(book.cell_with("check(softmax)"))
        book.save()
        the_end_leads_to_the_next_lesson(book)

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
        expect(home).to_contain_text(f"of {FILE} is no record of a pass")
        expect(home.locator("#tl-go-on")).to_have_attribute("data-cell", "imports")
        at = "id => window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.id === id"
        home.locator("#tl-open-soft_lookup").click()
        page.wait_for_function(at, arg="soft_lookup")
        expect(book.cell_with("def soft_lookup(")).to_be_in_viewport()

        nothing_else_was_asked(book, address)


def the_page_is_there_before_jupyterlab(page: Page, address: str) -> None:
    """Go to a lesson as at the first start, by a link that is followed while JupyterLab is still on its way."""
    held: list[Route] = []
    page.route("**/jlab_core.*", lambda route: held.append(route))
    page.goto(f"{address}/lab?reset", wait_until="commit")
    home = page.locator(".tl-home")
    expect(home.get_by_role("link", name="Begin with lesson 00")).to_be_visible()
    assert dark(home), "the system's theme is followed"
    nothing_is_cut(home)
    home.locator("#tl-map-01_lookup").focus()
    page.keyboard.press("Enter")
    expect(home.get_by_role("status")).to_have_text("JupyterLab is starting; then this opens.")
    assert not page.evaluate("Boolean(window.jupyterapp)")
    held.pop().continue_()
    page.wait_for_function("Boolean(window.jupyterapp)", polling=200)
    wait_until_ready(page, "01_lookup.ipynb")
    expect(page.locator(".jp-TableOfContents").get_by_text("One lookup", exact=False)).to_be_visible()


def nothing_else_was_asked(book: Notebook, address: str) -> None:
    """Test that JupyterLab has neither put a question nor asked anybody else."""
    assert book.page.locator(".Toastify__toast").count() == 0, "JupyterLab asks or tells something"
    here = (address, address.replace("http", "ws", 1), "data:", "blob:")
    assert [url for url in book.requests if not url.startswith(here)] == []
    assert [url for url in book.requests if "/lab/api/news" in url or "/lab/api/update" in url] == []


def nothing_is_cut(home: Locator) -> None:
    """Test that no part of the page is wider than its place, however wide the window is."""
    too_wide = """node => [...node.querySelectorAll('*')]
        .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)
        .map(one => one.outerHTML.slice(0, 80))"""
    for width in (1400, 1000, 400):
        home.page.set_viewport_size({"width": width, "height": 900})
        expect(home.locator(".tl-map")).to_be_visible(visible=width > 640)
        assert home.evaluate(too_wide) == [], f"something is cut at {width} points"
    home.page.set_viewport_size({"width": 1280, "height": 900})


def a_button_gives_hints(book: Notebook) -> None:
    """Press the button in a panel twice."""
    panels = book.cell_with("check(softmax)").locator(".jp-OutputArea-output")
    for place in (1, 2):
        panels.first.get_by_role("button", name="Hint").click()
        expect(panels.nth(place)).to_contain_text(f"softmax: general hint {place} of")


def an_endless_loop_is_told(book: Notebook) -> None:
    """Check an answer that never ends: it is told so, after a sign of life."""
    book.rewrite(book.cell_with("def softmax("), "def softmax(scores):\n    while True:\n        pass")
    check = book.cell_with("check(softmax)")
    check.locator(".cm-content").click()
    book.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")
    expect(check).to_contain_text("Your code is running. If it has not ended 12 seconds after its start")
    expect(check).to_contain_text("softmax: it did not finish")


def the_end_leads_to_the_next_lesson(book: Notebook) -> None:
    """Follow the link at a lesson's end, and come back."""
    end = book.cell_with("tally()")
    book.run(end)
    expect(end).to_contain_text("Exercises: 1 of 5 passed.")
    end.get_by_role("link", name="02_scaling.ipynb").click()
    wait_until_ready(book.page, "02_scaling.ipynb")
    book.page.evaluate("void window.jupyterapp.commands.execute('docmanager:open', {path: '01_lookup.ipynb'})")
    wait_until_ready(book.page, "01_lookup.ipynb")


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
