"""Every view in a plain page in a real browser: what holds in VS Code, Colab or wherever else widgets are shown."""

from collections.abc import Iterator

import pytest
import torch
from playwright.sync_api import Page

from tests.end_to_end.browser import find_browser
from tests.transformer_course.views.plain_page import plain_page, show
from transformer_course import views
from transformer_course.views.view import View

BROWSER = find_browser()

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed, so no view can be shown in one")


def training_view() -> View:
    view = views.TrainingView(4)
    view.step, view.curve, view.scored_at, view.scores = 2, [(1, 3.0), (2, 2.0)], [2], {"right": [0.5], "exact": [0.2]}
    view.show_sample("ab", "cd", torch.eye(2), wanted="cd")
    return view


VIEWS = {
    "attention_explorer": lambda: views.AttentionExplorer(torch.eye(3).expand(2, 3, 3), ["a", "b", "c"], query=1),
    "lookup_dial": lambda: views.LookupDial(torch.ones(2), torch.eye(2), torch.ones(2), ["a", "b"], widths=True),
    "mask_painter": lambda: views.MaskPainter(["a", "b", "c"], torch.ones(3, 3).tril().bool(), source=1),
    "position_clock": lambda: views.PositionClock(4, 20),
    "residual_stream": lambda: views.ResidualStream(depth=12, step=10),
    "sampling_dial": lambda: views.SamplingDial(torch.tensor([2.0, 1.0, 0.0]), ["a", "b", "c"], top_k=2),
    "training_view": training_view,
}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    assert BROWSER is not None
    with plain_page(BROWSER) as page:
        yield page


def test_every_view_is_here() -> None:
    assert sorted(VIEWS) == sorted(getattr(views, name).front_end for name in views.__all__)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_needs_no_more_of_its_host_than_the_contract(page: Page, name: str) -> None:
    show(page, VIEWS[name]())
    assert page.evaluate("shown.sent") == [], "drawing alone changes nothing"
    assert page.locator(f".tl-view.{name} .tl-said").inner_text(), "nothing is said below the drawing"
    assert page.locator("section").get_attribute("aria-describedby") == page.locator(".tl-help").get_attribute("id")
    assert page.evaluate("shown.listening()") > 0
    page.evaluate("shown.cleanUp()")
    assert page.evaluate("shown.listening()") == 0, "a view that is gone still listens"


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_looks_the_same_beside_all_others(page: Page, name: str) -> None:
    view = VIEWS[name]()
    show(page, view)
    others = [getattr(views, other)._css for other in views.__all__ if getattr(views, other).front_end != name]
    assert page.evaluate("sheets => restyledBy(sheets)", others) == []


def test_where_the_kernel_cannot_be_reached_no_stop_is_offered(page: Page) -> None:
    show(page, training_view())
    assert page.get_by_role("button", name="Stop").count() == 0
    assert "Stop" not in page.locator(".tl-help").inner_text()
