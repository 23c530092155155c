"""Test that reloading a page restores the views in its notebook while the kernel is running."""

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.browser import BROWSER, LAB, needs_browser, open_notebook, running_lab, wait_until_ready
from tests.end_to_end.open_view import METADATA, OpenView

CELLS = ("from transformer_course.views import MaskPainter\nview = MaskPainter(['I', 'like', 'you'], source=1)", "view")
NAME = "view.ipynb"

pytestmark = [
    needs_browser,
    pytest.mark.slow,
    pytest.mark.thorough,
]


def test_reload_restores_view_or_shows_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, settings = tmp_path / "lessons", tmp_path / "home"
    lessons.mkdir()
    settings.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS], metadata=METADATA)
    nbformat.write(book, lessons / NAME)
    assert BROWSER is not None

    with (
        running_lab(LAB, tmp_path, settings) as address,
        open_notebook(address, NAME, BROWSER) as notebook,
    ):
        page, painter = notebook.page, OpenView(notebook)
        notebook.run_all()
        painter.root.get_by_role("button", name="causal", exact=True).click()
        painter.expect_description("6 of 9 pairs allowed.")
        painter.expect_value("sum(map(sum, view.allowed))", 6)
        notebook.save()
        saved = nbformat.read(lessons / NAME, as_version=4).cells[1].outputs[0]
        assert {"image/png", "text/plain"} == set(saved.data)

        load(page, address)
        painter.expect_description("6 of 9 pairs allowed.")
        assert not page.evaluate("window.jupyterapp.shell.currentWidget.context.model.dirty")
        painter.root.locator(".mp-cell").nth(1).click()  # I attends to like
        painter.expect_description("Leak: “I” comes before it.")
        painter.expect_value("sum(map(sum, view.allowed))", 7)

        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        load(page, address)
        painter.expect_value("'view' in globals()", False)
        expect(page.locator(".jp-RenderedImage img")).to_be_visible(timeout=60_000)
        expect(painter.root).to_have_count(0)


def load(page: Page, address: str) -> None:
    """Reload the notebook's page, and wait until the notebook is ready."""
    page.goto(f"{address}/lab/tree/{NAME}")
    wait_until_ready(page, NAME)
