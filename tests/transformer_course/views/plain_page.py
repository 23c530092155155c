"""Show views on a page without a notebook, in a host that implements only anywidget's interface."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

from tests.end_to_end.browser import new_page, running_browser
from transformer_course.views.view import View

HOST = Path(__file__).with_suffix(".js").read_text()


@contextlib.contextmanager
def plain_page(browser: str) -> Iterator[Page]:
    """Open an empty page. On exit, assert that the page raised no error and sent no network requests."""
    with running_browser(browser) as started:
        page = new_page(started)
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("blob:") else problems.append(request.url))
        page.set_content("<!doctype html><title>views</title><main></main>")
        page.evaluate(HOST)
        yield page
    assert problems == []


def show(page: Page, view: View) -> None:
    """Show a single view on the page, and wait for a frame. ``page.evaluate("shown")`` returns the view's state."""
    state = json.loads(view.stored())
    given = {"name": state["view"], "esm": view._esm, "css": view._css, "state": state["traits"]}
    page.evaluate("given => show(given)", given)
