"""A page that shows views with no notebook around them: their host holds to anywidget's contract, and no more."""

import contextlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from transformer_course.views.view import View

HOST = Path(__file__).with_suffix(".js").read_text()
OF_THE_WIDGET = ("_model_", "_view_", "_esm", "_css", "_anywidget_id", "_dom_classes", "layout", "tooltip", "tabbable")


@contextlib.contextmanager
def plain_page(browser: str) -> Iterator[Page]:
    """Open an empty page; at the end, nothing has failed in it, and nothing was asked of the network."""
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("blob:") else said.append(request.url))
        page.set_content("<!doctype html><title>views</title><main></main>")
        page.evaluate(HOST)
        yield page
        page.context.browser.close()  # type: ignore[union-attr]
        assert said == []


def show(page: Page, view: View) -> None:
    """Show a view alone in the page, at its next frame; ``page.evaluate("shown")`` is what is known of it."""
    state = {name: _sent(value) for name, value in view.get_state().items() if not name.startswith(OF_THE_WIDGET)}
    page.evaluate("given => show(given)", {"name": view.front_end, "esm": view._esm, "css": view._css, "state": state})


def _sent(value: Any) -> Any:
    return {"bytes": b64encode(value).decode()} if isinstance(value, bytes) else value
