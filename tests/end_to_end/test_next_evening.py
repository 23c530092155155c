"""Test a learner's second session: start with a new kernel, reset an exercise, and start a lesson over."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.end_to_end.browser import BROWSER, LAB, Notebook, needs_browser, open_browser, running_lab, wait_until_ready
from tests.end_to_end.test_home import go_home, shorten
from transformer_course.workspace.exercise_stubs import exercise_stub

LESSON = "01_lookup.ipynb"
CELLS = [
    "title",
    "imports",
    "step-1-a-score-for-every-key-2",
    "similarity",
    "check-similarity",
    "softmax",
    "check-softmax",
]
ANSWER = "def softmax(scores):\n    return torch.softmax(scores, dim=0)"

pytestmark = [needs_browser, pytest.mark.slow]


def test_new_kernel_and_reset_take_one_click_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, settings = tmp_path / "lessons", tmp_path / "home"
    settings.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    assert BROWSER is not None

    with running_lab(LAB, tmp_path, settings) as address, open_browser(BROWSER) as book:
        shorten(lessons / LESSON, CELLS)
        page = book.page
        page.goto(f"{address}/lab?reset")
        page.wait_for_function("window.jupyterapp && window.jupyterapp.restored.then(() => true)", polling=200)
        exercise_link_offers_to_run_cells_above(book)
        kernel_restart_offers_again(book)
        name_error_links_to_defining_cell(book)
        reloaded_page_remembers_executed_cells(book, address)
        undo_restores_a_reset_exercise(book)
        panel_button_resets_exercise(book)
        running_all_cells_shows_no_bar(book)
        start_over_keeps_the_old_lesson(book, lessons)
        first_command_changes_the_theme(page)


def bar(page: Page) -> Locator:
    return page.locator(".tl-kernel-bar:visible")


def activate(page: Page, cell: str) -> None:
    """Make a cell the active cell, as a click would."""
    page.evaluate(
        """cell => {
            const { content } = window.jupyterapp.shell.currentWidget;
            content.activeCellIndex = content.widgets.findIndex(widget => widget.model.id === cell);
        }""",
        cell,
    )


def exercise_link_offers_to_run_cells_above(book: Notebook) -> None:
    page = book.page
    page.locator("#tl-dot-softmax").click()
    wait_until_ready(page, LESSON)
    expect(bar(page)).to_contain_text("This kernel is new: 4 cells above have not run yet.")
    bar(page).get_by_role("button", name="Run the cells above").click()
    expect(bar(page)).to_be_hidden()
    assert book.python("callable(check)")
    assert page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCell.model.id") == "softmax"


def kernel_restart_offers_again(book: Notebook) -> None:
    page = book.page
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect(bar(page)).to_contain_text(re.compile("4 cells above have not run yet. (They|Last time they) took"))
    bar(page).get_by_role("button", name="Not now").click()
    expect(bar(page)).to_be_hidden()


def name_error_links_to_defining_cell(book: Notebook) -> None:
    page = book.page
    check = book.cell_with("check(softmax)")
    book.run(check)
    note = check.locator(".jp-OutputArea-output").last
    expect(note).to_contain_text("check is defined in the first code cell")
    note.get_by_role("button", name="Show that cell").click()
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget.content.activeCell.model.id === 'imports'", polling=200
    )
    # Hold the button down as long as a person does. If a bar appeared meanwhile, the button would move away.
    note.get_by_role("button", name="Run the cells above").click(delay=300)
    expect(bar(page)).to_be_hidden()
    book.run(check)
    expect(check).to_contain_text("Not started yet.")


def reloaded_page_remembers_executed_cells(book: Notebook, address: str) -> None:
    page = book.page
    book.save()
    page.goto(f"{address}/lab/tree/{LESSON}")
    wait_until_ready(page, LESSON)
    activate(page, "check-softmax")
    page.wait_for_timeout(1000)  # a second is long enough for an unwanted bar to appear
    expect(bar(page)).to_be_hidden()


def undo_restores_a_reset_exercise(book: Notebook) -> None:
    page, source = (
        book.page,
        "cell => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.source",
    )
    book.rewrite(book.cell_with("def softmax("), ANSWER)
    activate(page, "softmax")
    page.locator(".jp-cell-toolbar [data-command='transformer-course:reset-exercise']").click()
    page.wait_for_function(f"stub => ({source})() === stub", polling=200, arg=exercise_stub("softmax"))
    expect(book.cell_with("def softmax(").locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+z")
    page.wait_for_function(f"mine => ({source})() === mine", polling=200, arg=ANSWER)
    activate(page, "check-softmax")
    expect(page.locator(".jp-cell-toolbar [data-command='transformer-course:reset-exercise']")).to_be_hidden()


def panel_button_resets_exercise(book: Notebook) -> None:
    check = book.cell_with("check(softmax)")
    book.run(book.cell_with("def softmax("))
    book.run(check)
    check.get_by_role("button", name="Reset to the stub").click()
    expect(book.cell_with("def softmax(")).to_contain_text("raise NotImplementedError")
    expect(check.locator(".jp-OutputArea-output")).to_have_count(0)


def running_all_cells_shows_no_bar(book: Notebook) -> None:
    """The cells above the last cell are in the queue. The first of them imports torch, which takes seconds."""
    page, kernel = book.page, "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    page.evaluate(f"{kernel}.restart()")
    page.wait_for_function(f"{kernel}.status === 'idle'", polling=200)
    expect(bar(page)).to_be_visible()
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    state = page.wait_for_function(
        """() => {
            const { widgets } = window.jupyterapp.shell.currentWidget.content;
            const queued = widgets.filter(widget => widget.model.executionState === 'running').length;
            const bars = [...document.querySelectorAll('.tl-kernel-bar')].filter(each => each.offsetParent).length;
            return queued > 1 && { queued, bars };
        }""",
        polling=200,
    )
    assert state.json_value()["bars"] == 0
    expect(book.cell_with("check(softmax)")).to_contain_text("Not started yet.")
    expect(bar(page)).to_be_hidden()


def start_over_keeps_the_old_lesson(book: Notebook, lessons: Path) -> None:
    page = book.page
    book.rewrite(book.cell_with("def softmax("), ANSWER)
    page.evaluate("void window.jupyterapp.commands.execute('transformer-course:reset-lesson')")
    page.locator(".jp-Dialog").get_by_role("button", name="Start over").click()
    expect(book.cell_with("def softmax(")).to_contain_text("raise NotImplementedError")
    [kept] = lessons.glob("01_lookup (*).ipynb")
    assert "dim=0" in kept.read_text(encoding="utf-8")
    assert "dim=0" not in (lessons / LESSON).read_text(encoding="utf-8")
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def first_command_changes_the_theme(page: Page) -> None:
    page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.wait_for_function("document.body.dataset.jpThemeName === 'JupyterLab Dark'", polling=200)
    go_home(page)
