"""Test every view on a plain page in a real browser, which resembles VS Code, Colab and other widget hosts."""

from collections.abc import Iterator
from functools import partial

import pytest
import torch
from playwright.sync_api import Page

from tests.end_to_end.browser import find_browser
from tests.helpers.small_models import CONFIGS, build, inputs
from tests.helpers.thoroughness import one_in
from tests.transformer_course.views.letter_model import LETTERS, new_model, read, stored
from tests.transformer_course.views.plain_page import plain_page, show
from transformer_course import views
from transformer_course.views.browser_model import round_parameters
from transformer_course.views.model_run import record_run
from transformer_course.views.view import View

BROWSER = find_browser()

pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed, so views cannot be shown")


def training_view() -> View:
    view = views.TrainingView(4)
    view.step, view.curve, view.scored_at, view.scores = 2, [(1, 3.0), (2, 2.0)], [2], {"right": [0.5], "exact": [0.2]}
    view.show_sample("ab", "cd", torch.eye(2), wanted="cd")
    return view


def model_map() -> View:
    model = build(CONFIGS["two vocabularies, pre-norm"])
    names = [lambda i: f"s{i}", lambda i: f"t{i}"]
    return views.ModelMap(model, lambda text: inputs(model, batch=1, n=len(text)), names, ["abcd", "xyz"])


VIEWS = {
    "attention_explorer": lambda: views.AttentionExplorer(torch.eye(3).expand(2, 3, 3), ["a", "b", "c"], query=1),
    "lookup_dial": lambda: views.LookupDial(torch.ones(2), torch.eye(2), torch.ones(2), ["a", "b"], widths=True),
    "mask_painter": lambda: views.MaskPainter(["a", "b", "c"], torch.ones(3, 3).tril().bool(), source=1),
    "model_map": model_map,
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


def test_tests_cover_every_view() -> None:
    assert sorted(VIEWS) == sorted(getattr(views, name).front_end for name in views.__all__)


@pytest.mark.parametrize("name", VIEWS)
def test_view_requires_only_anywidget_contract(page: Page, name: str) -> None:
    show(page, VIEWS[name]())
    assert page.evaluate("shown.sent") == [], "drawing a view must not change its state"
    assert page.locator(f".tl-view.{name} .tl-said").inner_text(), "there must be a description below the drawing"
    assert page.locator("section").get_attribute("aria-describedby") == page.locator(".tl-help").get_attribute("id")
    assert page.evaluate("shown.listening()") > 0
    page.evaluate("shown.cleanUp()")
    assert page.evaluate("shown.listening()") == 0, "a removed view must remove its listeners"


@pytest.mark.parametrize("name", one_in(2, VIEWS))
def test_other_style_sheets_do_not_affect_view(page: Page, name: str) -> None:
    view = VIEWS[name]()
    show(page, view)
    others = [getattr(views, other)._css for other in views.__all__ if getattr(views, other).front_end != name]
    assert page.evaluate("sheets => restyledBy(sheets)", others) == []


def test_stop_button_is_hidden_without_a_kernel(page: Page) -> None:
    show(page, training_view())
    assert page.get_by_role("button", name="Stop").count() == 0
    assert "Stop" not in page.locator(".tl-help").inner_text()
    page.evaluate("shown.model.set('state', 'finished')")
    assert not page.locator(".tl-help").is_visible(), "the help must be hidden when the run is finished"


@pytest.fixture
def explorer(page: Page) -> Page:
    # In one head, each query attends to the previous key. In the other head, it attends to the next key.
    left, right = (torch.eye(5).roll(by, 0)[1:4] for by in (1, -1))
    show(page, views.AttentionExplorer(torch.stack([left, right]), list("bcd"), list("abcde")))
    return page


def ends(page: Page) -> list[str]:
    """Return the heights at which the explorer's lines start and end."""
    paths = page.locator(".ae-lines path[d]").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    return sorted(line for path in paths for line in path.split("M")[1:])


def test_draws_lines_for_heads_and_aligns_queries(explorer: Page) -> None:
    assert len(ends(explorer)) == 6
    strokes = explorer.locator(".ae-lines path[d]").evaluate_all(
        "all => all.map(path => getComputedStyle(path).stroke)"
    )
    assert len(set(strokes)) == 2
    rows = [explorer.locator(f".ae-{side} .ae-text", has_text="c").bounding_box() for side in ("query", "key")]
    assert rows[0] is not None and rows[1] is not None and rows[0]["y"] == rows[1]["y"]


def test_mouse_leave_escape_and_outside_click_clear_selection(explorer: Page) -> None:
    token = explorer.locator(".ae-query .ae-token").nth(1)

    def selected() -> object:
        explorer.evaluate("frames()")
        lines = len(ends(explorer))
        return [*explorer.evaluate("[shown.model.get('query'), shown.model.get('key')]"), lines]

    token.hover()
    assert selected() == [1, None, 2]
    explorer.mouse.move(600, 5)
    assert selected() == [None, None, 6], "moving the pointer away must clear the selection"
    token.click()
    explorer.mouse.move(600, 5)
    assert selected() == [1, None, 2], "a click must keep the selection"
    explorer.keyboard.press("Escape")
    assert selected() == [None, None, 6], "Escape must clear the selection"
    token.click()
    explorer.mouse.click(900, 400)
    assert selected() == [None, None, 6], "a click outside must clear the selection"


def test_map_button_toggles_a_single_head(explorer: Page) -> None:
    button = explorer.get_by_role("button", name="show head 1 alone")
    button.press("Enter")
    explorer.evaluate("frames()")
    assert (len(ends(explorer)), button.get_attribute("aria-pressed")) == (3, "true")
    button.press("Enter")
    explorer.evaluate("frames()")
    assert (len(ends(explorer)), button.get_attribute("aria-pressed")) == (6, "false")


def test_tile_toggles_its_head_but_never_the_last(explorer: Page) -> None:
    first, second = (explorer.get_by_role("button", name=f"head {head}", exact=True) for head in (0, 1))
    expected = [(first, 3, [0]), (first, 6, []), (second, 3, [1]), (first, 6, [0, 1])]
    for tile, lines, off in expected:
        tile.press("Enter")
        explorer.evaluate("frames()")
        assert (len(ends(explorer)), explorer.evaluate("shown.model.get('off')")) == (lines, off)


def test_only_weights_above_the_threshold_have_lines(page: Page) -> None:
    show(page, views.AttentionExplorer(torch.tensor([[0.7, 0.3], [0.05, 0.95]]), ["a", "b"]))
    for threshold, lines in ((0.01, 4), (0.1, 3), (0.5, 2)):
        page.evaluate("threshold => shown.model.set('threshold', threshold)", threshold)
        page.evaluate("frames()")
        assert len(ends(page)) == lines


def test_browser_runs_typed_text_without_a_kernel(page: Page) -> None:
    model = new_model()
    round_parameters(model)
    view = views.ModelMap(
        model, partial(read, model), LETTERS.__getitem__, ["cab", "head"], block=3, in_browser=stored(model)
    )
    view.runs = {"cab": view.runs["cab"]}
    show(page, view)
    page.get_by_role("textbox", name="text").fill("deadbeef")
    page.get_by_role("textbox", name="text").press("Enter")
    description = page.locator(".tl-said", has_text="decoder.norm")  # appears after all blocks have been played
    description.wait_for()
    expected = record_run(model, read(model, "deadbeef"), LETTERS.__getitem__)
    assert f"the model predicts {expected['next'][0][0][0]} with" in description.inner_text()
    assert page.locator(".mm-block").count() == len(expected["blocks"])
    page.get_by_role("button", name="head", exact=True).click()
    page.locator("h5", has_text="5 × 12").first.wait_for()
    page.get_by_role("button", name="norm_1").first.click()  # click while the blocks are being played
    assert page.get_by_role("button", name="flow").get_attribute("aria-pressed") == "false", (
        "the selected block must stay open"
    )
    page.evaluate("frames()")
    assert "encoder.layers.0.norm_1" in page.locator(".mm-open h5").inner_text()


def test_open_block_is_visible_on_narrow_pages(
    page: Page,
) -> None:
    for width in (800, 360):
        page.set_viewport_size({"width": width, "height": 900})
        show(page, model_map())
        stacks, opened = (page.locator(name).bounding_box() for name in (".mm-stacks", ".mm-open"))
        assert stacks is not None and opened is not None
        assert opened["y"] - stacks["y"] < (60 if width == 800 else 420)
        page.evaluate("shown.model.set('block', shown.model.get('runs').abcd.blocks.length - 1)")
        page.evaluate("frames()")
        chosen = page.locator(".mm-block[aria-pressed=true]").bounding_box()
        assert chosen is not None
        assert chosen["y"] + chosen["height"] <= stacks["y"] + stacks["height"] + 1, (
            "the selected block must be visible"
        )
    page.set_viewport_size({"width": 1280, "height": 720})


def test_table_headings_do_not_break_words_on_phones(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    show(page, VIEWS["residual_stream"]())
    broken = """() => [...document.querySelectorAll('.tl-runs thead th')].flatMap(head => {
        const node = head.firstChild, found = [];
        for (const word of node?.data?.matchAll(/\\S+/g) ?? []) {
            const range = new Range();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (range.getClientRects().length > 1) found.push(word[0]);
        }
        return found;
    })"""
    assert page.locator(".tl-runs thead th", has_text="positions").count() == 1
    assert page.evaluate(broken) == []
    page.set_viewport_size({"width": 1280, "height": 720})


def test_mask_painter_marks_the_active_preset(page: Page) -> None:
    show(page, VIEWS["mask_painter"]())
    page.evaluate("frames()")
    pressed = page.locator(".mp-presets button[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["causal"]
    page.get_by_role("button", name="everything").click()
    page.evaluate("frames()")
    assert pressed.all_inner_texts() == ["everything"]
    page.locator(".mp-cell").first.click()
    page.evaluate("frames()")
    assert pressed.count() == 0, "a mask changed by hand must match no preset"


def test_mask_painter_with_six_tokens_fits_a_phone(page: Page) -> None:
    words = ["the", "cat", "sat", "on", "the", "mat"]
    page.set_viewport_size({"width": 360, "height": 700})
    show(page, views.MaskPainter(words, torch.ones(6, 6, dtype=torch.bool), source=2))
    page.evaluate("frames()")
    widths = page.locator(".tl-body").evaluate("node => [node.scrollWidth, node.clientWidth]")
    page.set_viewport_size({"width": 1280, "height": 720})
    assert widths[0] <= widths[1]


def test_residual_stream_shows_legend_above_charts(page: Page) -> None:
    show(page, VIEWS["residual_stream"]())
    legend, charts = (page.locator(part).bounding_box() for part in (".tl-runs", ".tl-charts"))
    assert legend is not None and charts is not None
    assert legend["y"] + legend["height"] <= charts["y"] + 1


def test_sampling_dial_scales_bars_to_largest_probability(page: Page) -> None:
    tail = torch.full((500,), 0.902 / 500)
    show(page, views.SamplingDial(torch.cat([torch.tensor([0.098]), tail]).log(), n_shown=3))
    page.evaluate("frames()")
    bar, cell = (page.locator(f"tbody tr:first-child {part}").bounding_box() for part in (".tl-now", ".tl-bar"))
    assert bar is not None and cell is not None
    assert bar["width"] > 0.8 * cell["width"], "the bar of a token with 10 % must be clearly visible"
    assert page.locator(".tl-scale").inner_text() == "0 to 10 %"
    assert page.locator("tbody tr:last-child .tl-now").count() == 0
