"""Test a new learner's first session: open the home page and a lesson, make a mistake, and fix it.

A single test covers everything that the course adds to JupyterLab, because starting JupyterLab and a browser takes
longer than all checks together. The lessons in this test contain only the cells that it needs. Other tests execute
whole lessons.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.end_to_end.browser import BROWSER, LAB, Notebook, needs_browser, open_browser, running_lab, wait_until_ready
from tests.end_to_end.open_view import OpenView
from transformer_course.commands.main import main
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.lesson_order import PRACTICE_BANK
from transformer_course.workspace.progress import FILE

CELLS = {
    "01_lookup.ipynb": [
        "title", "imports", "a-dict-knows-only-yes-and-no-4", "a-dict-knows-only-yes-and-no-5",
        "step-1-a-score-for-every-key-2", "similarity", "softmax", "check-softmax", "how-hard-is-soft-7", "one-lookup",
        "attention_weights", "check-attention_weights", "tally",
    ],
    "02_scaling.ipynb": ["title", "imports"],
}  # fmt: skip

pytestmark = [needs_browser, pytest.mark.slow]


def test_home_page_opens_lesson_and_counts_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, settings = tmp_path / "lessons", tmp_path / "home"
    settings.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    softmax, weights = every_exercise()["softmax"], every_exercise()["attention_weights"]
    n, n_bank = len(every_exercise()), len(exercises_of(PRACTICE_BANK))
    assert BROWSER is not None

    with (
        running_lab(LAB, tmp_path, settings, has_answered=False) as address,
        open_browser(BROWSER, theme="JupyterLab Dark") as book,
    ):
        for name, cells in CELLS.items():
            shorten(lessons / name, cells)
        page = book.page
        home = page.locator(".tl-home")
        home_page_appears_before_jupyterlab(page, address)
        go_home(page)
        expect(home.get_by_role("status")).to_be_hidden()
        expect(home).to_contain_text(f"0 of {n - n_bank} exercises passed.")
        assert dark(home), "the page must follow the system's theme"
        assert not page.locator("#filebrowser").is_visible()
        page.evaluate("window.jupyterapp.shell.collapseLeft()")
        assert_page_is_readable(home)
        search_finds_exercise_by_term(page, home, n)

        lesson_gets_focus_during_change_of_theme(page)
        go_home(page)
        home.locator("#tl-map-01_lookup").press("Enter")
        wait_until_ready(page, "01_lookup.ipynb")
        book.run_all()
        expect(checked(book, "softmax")).to_contain_text("Not started yet.")
        slider_updates_view_and_python(book)
        button_gives_hints(book)
        check_stops_endless_loop(book)
        check_explains_known_mistake(book)
        for exercise in (softmax, weights):
            book.rewrite(book.cell_with(f"def {exercise.name}("), exercise.solution)
            book.run(book.cell_with(f"check({exercise.name})"))
            expect(checked(book, exercise.name)).to_contain_text(f"{exercise.name}: passed")
        book.save()
        last_cell_links_to_next_lesson(book)

        go_home(page)
        expect(home.locator("#tl-lesson-01_lookup").locator("xpath=ancestor::tr")).to_contain_text("2 of 4")
        expect(home.get_by_role("status")).to_have_text(f"2 of {n - n_bank} exercises passed.")
        expect(home.locator("#tl-map-01_lookup")).to_have_attribute(
            "aria-label", "Lesson 01, Attention is a soft dictionary lookup: you are here"
        )
        exported = page.request.get(f"{address}/transformer-course/progress.csv").text()
        assert "\n01_lookup,softmax,False,True,2" in exported

        home_page_reports_lost_files(page, home, lessons)
        at = "id => window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.id === id"
        home.locator("#tl-open-similarity").click()
        page.wait_for_function(at, arg="similarity", polling=200)
        assert_cells_are_drawn_immediately(page)
        expect(book.cell_with("def similarity(")).to_be_in_viewport()

        assert_no_notifications_or_other_hosts(book, address)

    assert main(["grade", str(lessons / "01_lookup.ipynb"), "-o", str(tmp_path / "graded")]) == 0
    gradebook = pd.read_csv(tmp_path / "graded" / "gradebook.csv")
    assert gradebook["points"].tolist() == [softmax.points + weights.points]


def shorten(lesson: Path, cells: list[str]) -> None:
    """Remove all cells except the given cells from a copy of a lesson."""
    book = nbformat.read(lesson, as_version=4)
    book.cells = [cell for cell in book.cells if cell.id in cells]
    assert [cell.id for cell in book.cells] == cells
    nbformat.write(book, lesson)


def checked(book: Notebook, exercise: str) -> Locator:
    """Run an exercise's check, and return the output."""
    return book.cell_with(f"check({exercise})").locator(".jp-OutputArea-output").first


def home_page_appears_before_jupyterlab(page: Page, address: str) -> None:
    """Follow a link on the home page to a lesson while JupyterLab is still loading."""
    held: list[Route] = []
    page.route("**/jlab_core.*", lambda route: held.append(route))
    page.goto(f"{address}/lab?reset", wait_until="commit")
    home = page.locator(".tl-home")
    expect(home.get_by_role("link", name="Begin with lesson 00")).to_be_visible()
    assert dark(home), "the page must follow the system's theme"
    assert_nothing_is_cut_off(home)
    home.locator("#tl-map-01_lookup").press("Enter")
    expect(home.get_by_role("status")).to_have_text("JupyterLab is starting. This page will open when it is ready.")
    assert not page.evaluate("Boolean(window.jupyterapp)")
    held.pop().continue_()
    page.wait_for_function("Boolean(window.jupyterapp)", polling=200)
    wait_until_ready(page, "01_lookup.ipynb")
    expect(page.locator(".jp-TableOfContents").get_by_text("One lookup", exact=False)).to_be_visible()


def lesson_gets_focus_during_change_of_theme(page: Page) -> None:
    """Follow a link while the splash screen hides JupyterLab during a change of theme."""
    page.evaluate(
        """() => {
            const { shell } = window.jupyterapp;
            shell.hide();
            document.querySelector('#tl-lesson-02_scaling').click();
            setTimeout(() => shell.show(), 1000);
        }"""
    )
    wait_until_ready(page, "02_scaling.ipynb")
    expect(page.locator(".jp-TableOfContents")).to_be_visible()


def home_page_reports_lost_files(page: Page, home: Locator, lessons: Path) -> None:
    """Open the file with the saved parts, delete it, corrupt the progress file, and find both on the home page."""
    with page.expect_response(lambda answer: "/checkpoints" in answer.url and answer.request.method == "POST"):
        home.locator("#tl-part-01_lookup").click()  # the POST is JupyterLab's last request for the file
    page.wait_for_selector(".jp-FileEditor")
    go_home(page)
    home.locator("#tl-go-on").focus()
    shutil.rmtree(lessons / "parts")
    expect(home).to_contain_text("Passed, but not among your parts: softmax, attention_weights.")
    expect(home.locator("#tl-go-on")).to_be_focused()
    with (lessons / FILE).open("a") as file:
        file.write("no record\n")
    expect(home).to_contain_text(f"of {FILE} is not a record of a pass")
    expect(home.locator("#tl-go-on")).to_have_attribute("data-cell", "step-1-a-score-for-every-key-2")


def assert_no_notifications_or_other_hosts(book: Notebook, address: str) -> None:
    """Assert that JupyterLab has shown no notification and has contacted no other hosts."""
    assert book.page.locator(".Toastify__toast").count() == 0, "JupyterLab must not show a dialog or a notification"
    local = (address, address.replace("http", "ws", 1), "data:", "blob:")
    assert [url for url in book.requests if not url.startswith(local)] == []
    assert [url for url in book.requests if "/lab/api/news" in url or "/lab/api/update" in url] == []


def assert_nothing_is_cut_off(home: Locator) -> None:
    """Assert that, at three window widths, no part of the page is wider than its container."""
    too_wide = """node => [...node.querySelectorAll('*')]
        .filter(element => element.scrollWidth > element.clientWidth + 1 && element.clientWidth)
        .map(element => element.outerHTML.slice(0, 80))"""
    for width in (1400, 1000, 400):
        home.page.set_viewport_size({"width": width, "height": 900})
        expect(home.locator(".tl-map")).to_be_visible(visible=width > 640)
        assert home.evaluate(too_wide) == [], f"content is cut off at a width of {width} pixels"
    home.page.set_viewport_size({"width": 1280, "height": 900})


def assert_page_is_readable(home: Locator) -> None:
    """Assert that nothing on the page is cut off, and that links are distinguishable from text."""
    assert_nothing_is_cut_off(home)
    assert_links_are_distinguishable(home)


def assert_links_are_distinguishable(home: Locator) -> None:
    """Assert that each link in a text is underlined and differs in color from the text around it."""
    unlike_links = """node => [...node.querySelectorAll('a:not(.tl-button, .tl-lesson)')].filter(link => {
        const style = getComputedStyle(link);
        return style.color === getComputedStyle(link.parentElement).color || style.textDecorationLine !== 'underline';
    }).map(link => link.outerHTML)"""
    links = home.locator("a:not(.tl-button, .tl-lesson)")
    assert links.count() > 20
    assert home.evaluate(unlike_links) == []


def search_finds_exercise_by_term(page: Page, home: Locator, n: int) -> None:
    """Search the list of all exercises for a term, and assert that the next step stays visible."""
    home.get_by_text(f"All {n} exercises").click()
    search = home.get_by_role("searchbox", name="Find an exercise")
    found = home.locator(".tl-exercises [data-search]:visible")
    expect(found).to_have_count(n)
    found.last.scroll_into_view_if_needed()
    expect(home.locator("#tl-go-on")).to_be_in_viewport(ratio=1)
    for term, name in {"RoPE": "apply_rotary", "GQA": "GroupedQueryAttention", "DPO": "dpo_loss"}.items():
        search.fill(term)
        expect(found.filter(has=page.locator(f"#tl-list-{name}"))).to_be_visible()
        assert 0 < found.count() < 10
    search.fill("LoRA")
    expect(home).to_contain_text(f"1 of {n}")
    assert_nothing_is_cut_off(home)
    search.fill("")
    expect(found).to_have_count(n)
    home.get_by_text(f"All {n} exercises").click()


def assert_cells_are_drawn_immediately(page: Page) -> None:
    """Assert that JupyterLab draws cells immediately, because a busy machine is never idle."""
    config = page.evaluate("window.jupyterapp.shell.currentWidget.content.notebookConfig")
    assert config["windowingMode"] == "none"


def button_gives_hints(book: Notebook) -> None:
    """Press the hint button in the check's panel, and then the hint button that replaces it below the first hint."""
    panels = book.cell_with("check(softmax)").locator(".jp-OutputArea-output")
    for number, label in enumerate(("Hint", "Next hint"), start=1):
        panels.last.get_by_role("button", name=label).click()
        expect(panels.nth(number)).to_contain_text(f"softmax: general hint {number} of")
    expect(panels.get_by_role("button", name="hint")).to_have_count(1)


def slider_updates_view_and_python(book: Notebook) -> None:
    """Move a slider, and assert that the drawing and the value in Python change."""
    view = OpenView(book)
    view.root.get_by_role("slider", name="temperature").focus()
    view.press("End")
    view.expect_description("entropy 1.00 of 1.")
    view.expect_value("[shown.temperature for shown in Out.values() if hasattr(shown, 'temperature')]", [100])


def check_explains_known_mistake(book: Notebook) -> None:
    """Check an answer that takes the softmax over the wrong dimension."""
    mistake = next(mistake for mistake in every_exercise()["softmax"].mistakes if mistake.name == "first_axis")
    book.rewrite(book.cell_with("def softmax("), "def softmax(scores):\n    return torch.softmax(scores, dim=0)\n")
    book.run(book.cell_with("check(softmax)"))
    expect(checked(book, "softmax")).to_contain_text("softmax: a known mistake")
    located = f"Line 2: {mistake.message[0].lower()}{mistake.message[1:]}"
    panel = squeeze(checked(book, "softmax").inner_text())
    for sentence in re.split(r"(?<=[.?]) ", located):  # the panel inserts a line of code after the first sentence
        assert squeeze(sentence) in panel


def squeeze(text: str) -> str:
    """Remove line breaks and markup, which rendering changes."""
    return " ".join(re.sub(r"[`*]", "", text).split())


def check_stops_endless_loop(book: Notebook) -> None:
    """Check an answer that never returns. The check must report that it is running, and then that it was stopped."""
    book.python("exec('from transformer_course.lesson import notebook; notebook.current_session().seconds = 3')")
    book.rewrite(book.cell_with("def softmax("), "def softmax(scores):\n    while True:\n        pass")
    check = book.cell_with("check(softmax)")
    check.locator(".cm-content").click()
    book.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")
    expect(check).to_contain_text("Your code is running. It is stopped once it has computed for 3 seconds")
    expect(check).to_contain_text("softmax: it did not finish")


def last_cell_links_to_next_lesson(book: Notebook) -> None:
    """Follow the link at the end of the lesson to the next lesson, and return."""
    end = book.cell_with("tally()")
    book.run(end)
    expect(end).to_contain_text("Exercises: 2 of 4 passed.")
    end.get_by_role("link", name="02_scaling.ipynb").click()
    wait_until_ready(book.page, "02_scaling.ipynb")
    book.page.evaluate("void window.jupyterapp.commands.execute('docmanager:open', {path: '01_lookup.ipynb'})")
    wait_until_ready(book.page, "01_lookup.ipynb")


def go_home(page: Page) -> None:
    page.evaluate("window.jupyterapp.commands.execute('transformer-course:home')")
    expect(page.locator(".tl-home")).to_be_visible()
    expect(page.locator(".jp-TableOfContents")).to_be_hidden()  # the home page has no headings to list


def dark(element: Locator) -> bool:
    """Return whether an element shows light text on a dark background."""
    return bool(
        element.evaluate(
            """node => {
                const style = getComputedStyle(node);
                const [ink, paper] = [style.color, style.backgroundColor].map(
                    color => color.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)
                );
                return ink > paper;
            }"""
        )
    )
