"""Test the learner's own model on the home page, with the lesson's kernel and without a kernel."""

import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.end_to_end.browser import BROWSER, needs_browser, open_notebook, running_lab, wait_until_ready
from tests.end_to_end.open_view import METADATA
from tests.end_to_end.test_model_map import CELLS


@pytest.mark.slow
@pytest.mark.thorough
@needs_browser
def test_own_model_runs_text_typed_on_home_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, settings = tmp_path / "lessons", tmp_path / "home"
    settings.mkdir()
    lessons.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS], metadata=METADATA)
    nbformat.write(book, lessons / "09_language_model.ipynb")  # a learner's copy, which is never overwritten
    assert BROWSER is not None
    command = [sys.executable, "-m", "transformer_course.commands", "lab", "--no-browser"]
    with (
        running_lab(command, tmp_path, settings) as address,
        open_notebook(address, "09_language_model.ipynb", BROWSER) as notebook,
    ):
        page = notebook.page
        home = page.locator(".tl-home")
        notebook.run_all()
        page.locator(".jp-Notebook .tl-view").wait_for()
        notebook.save()
        page.evaluate("window.jupyterapp.commands.execute('transformer-course:home')")
        expect(home.get_by_role("heading", name="Your own model")).to_be_visible()
        home.get_by_role("textbox", name="text").fill("horse")
        home.get_by_role("textbox", name="text").press("Enter")
        expect(home.locator(".tl-said")).to_contain_text("After e₄, the model predicts")

        home.locator("#tl-to-own-model").click()
        wait_until_ready(page, "09_language_model.ipynb")
        assert notebook.python("view.text") == "horse", "the home page and the lesson must show the same view"
        page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        page.evaluate("window.jupyterapp.commands.execute('transformer-course:home')")
        saved = home.locator("#tl-own-model").get_by_role("combobox", name="text")
        expect(saved).to_have_value("cat")  # the saved value, shown without a kernel
        home.get_by_role("button", name="feed_forward").first.click()
        expect(home.locator(".tl-said")).to_contain_text("blocks.0.feed_forward")
