"""Test that all links on the built site work, and that a browser displays its pages on phones and desktops. These tests
take a minute and need the extra ``site``, which ``python3 course.py site`` installs. The workflow that publishes the
site runs these tests before publishing.
"""

import contextlib
import html
import importlib.util
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from nbformat import NotebookNode
from playwright.sync_api import Browser, Page

from docs.site.pages import stored_lessons
from docs.site.repository import ROOT
from tests.end_to_end.browser import find_browser, new_page, running_browser
from transformer_course.views.view import STATE

BROWSER = find_browser()

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx_book_theme") is None,
    reason="the extra `site` is not installed; run `python3 course.py site` first",
)

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
PAGES = (
    "index.html",
    "exercises.html",
    "notebooks/01_lookup.html",
    "notebooks/glossary.html",
    "notebooks/interview_questions.html",
    "reference/attention.html",
    "docs/instructors.html",
    "slides/01_lookup.html",
    "CONTRIBUTING.html",
)


@pytest.fixture(scope="module")
def site() -> Path:
    """Build the site in the same folder as ``course.py site``, so that Sphinx does not read unchanged files again."""
    built = subprocess.run([sys.executable, "-m", "docs.site"], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return ROOT / "build" / "site" / "html"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if BROWSER is None:
        pytest.skip("Chromium is not installed, so the site cannot be displayed")
    with running_browser(BROWSER) as started:
        yield started


def metadata(book: NotebookNode) -> list[dict[str, Any]]:
    """Return the metadata of every output of a lesson."""
    return [output.get("metadata", {}) for cell in book.cells for output in cell.get("outputs", [])]


@contextlib.contextmanager
def opened(browser: Browser, address: str, size: dict[str, int] = DESK) -> Iterator[Page]:
    """Open a page. On exit, assert that it made no requests to other hosts and that no script failed."""
    page = new_page(browser, viewport=size)
    page.set_default_timeout(120_000)  # a lesson usually loads in 1 s, but in 30 s on a very busy machine
    wrong: list[str] = []
    page.on("request", lambda sent: None if sent.url.startswith((origin(address), "data:")) else wrong.append(sent.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("response", lambda got: wrong.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    page.goto(address, wait_until="load")
    yield page
    page.context.close()
    assert wrong == []


def origin(address: str) -> str:
    return "{0.scheme}://{0.netloc}/".format(urlsplit(address))


@cache
def ids(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\b(?:id|name)="([^"]+)"', page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["index.html", "notebooks/01_lookup.html", "docs/run.html"])
def test_shared_links_show_title_description_and_picture(site: Path, name: str) -> None:
    page = (site / name).read_text(encoding="utf-8")
    found = dict(re.findall(r'<meta property="(og:[\w:]+)" content="([^"]+)">', page))
    assert {"og:title", "og:description", "og:image", "og:image:alt"} <= found.keys()
    picture = found["og:image"]
    if not picture.startswith("https://"):
        assert (site / name).parent.joinpath(picture).resolve() == site / "_static" / "lesson.png"
    assert (site / "_static" / "lesson.png").is_file()


def test_every_link_works(site: Path) -> None:
    # Do not check links from source code back to the reference, because Sphinx gets some of them wrong.
    broken, n_links = [], 0
    for page in [
        page for page in site.rglob("*.html") if "_static" not in page.parts
    ]:  # _static contains theme templates
        for link in re.findall(
            r'<(?:a|link|img|script)\b(?![^>]*viewcode-back)[^>]*?\b(?:href|src)="([^"]*)"',
            page.read_text(encoding="utf-8"),
        ):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc:
                continue
            n_links += 1
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (
                parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in ids(target) | {"top"}
            ):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert n_links > 1000
    assert broken == []


def test_pages_make_no_requests_to_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe)\b[^>]*\bsrc="(?:https?:)?//[^"]*"', text), page
        assert not re.findall(r'<link\b[^>]*rel="stylesheet"[^>]*href="(?:https?:)?//[^"]*"', text), page


def test_every_picture_has_an_alternative_text(site: Path) -> None:
    pictures = [
        (page.name, tag) for page in site.rglob("*.html") for tag in re.findall(r"<img\b[^>]*>", page.read_text())
    ]
    assert len(pictures) > 100
    assert [(name, tag) for name, tag in pictures if not re.search(r'\balt="[^"]+"', tag)] == []


def test_browser_renders_every_formula(site: Path) -> None:
    for page in [*site.glob("notebooks/*.html"), *site.glob("slides/*.html")]:
        text = re.sub(r"<(pre|code|script)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert "$$" not in text and r"$\\" not in text, page.name


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_pages_fit_every_screen_width(browser: Browser, address: str, size: dict[str, int]) -> None:
    for name in PAGES:
        with opened(browser, address + name, size) as page:
            page.wait_for_timeout(300)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
            assert page.locator("article h1").first.is_visible(), name


def test_browser_draws_formulas(browser: Browser, address: str) -> None:
    with opened(browser, address + "notebooks/01_lookup.html") as page:
        page.wait_for_selector("mjx-container")
        assert page.locator("mjx-container").count() == page.locator(".math").count() > 5


def test_keyboard_opens_collapsed_answer(browser: Browser, address: str) -> None:
    with opened(browser, address + "notebooks/01_lookup.html") as page:
        answer = page.get_by_text("you made no prediction, measured 8")
        assert not answer.is_visible()
        page.locator(".cell", has=answer).locator("summary").focus()
        page.keyboard.press("Enter")
        assert answer.is_visible()


def test_theme_changed_by_keyboard_persists(browser: Browser, address: str) -> None:
    with opened(browser, address + "index.html") as page:
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        page.locator(".theme-switch-button:visible").first.focus()
        page.keyboard.press("Enter")
        page.locator("button[data-mode=dark]:visible").first.focus()
        page.keyboard.press("Enter")
        page.goto(address + "notebooks/glossary.html")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert sum(map(int, re.findall(r"\d+", background)[:3])) < 150, background


def test_search_finds_text_in_a_lesson(browser: Browser, address: str) -> None:
    with opened(browser, address + "index.html") as page:
        page.keyboard.press("Control+k")
        page.keyboard.type("kernel regression")
        page.keyboard.press("Enter")
        page.wait_for_selector("#search-results a")
        found = page.locator("#search-results a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert any("notebooks/01_lookup.html" in link for link in found), found


def test_search_lists_lessons_with_matching_title_first(browser: Browser, address: str) -> None:
    for query, lesson in {"tokenizers": "tokenizers", "masks": "04_masks", "encoder": "06_encoder"}.items():
        with opened(browser, address + f"search.html?q={query}") as page:
            first = page.locator("#search-results li a").first
            first.wait_for()
            assert f"notebooks/{lesson}.html" in str(first.get_attribute("href"))


def test_search_lists_lesson_once_with_its_question(browser: Browser, address: str) -> None:
    with opened(browser, address + "search.html?q=masks") as page:
        lesson = page.locator(
            "#search-results li", has=page.locator("a[href*='notebooks/04_masks.html']:not([href*='#'])")
        )
        lesson.locator(".context").wait_for()
        assert lesson.count() == 1
        assert "Contents" not in lesson.inner_text() and "?" in lesson.locator(".context").inner_text()
        assert page.locator("#search-results a[href*='slides/']").count() == 0


def test_view_responds_to_mouse_and_keys_without_kernel(browser: Browser, address: str) -> None:
    with opened(browser, address + "index.html") as page:
        painter = page.locator(".tl-view.mask_painter")
        painter.locator(".tl-said", has_text="Leak").wait_for()
        painter.get_by_role("button", name="query cat, key sat").click()
        assert "Leak" not in painter.locator(".tl-said").inner_text()
        painter.get_by_role("button", name="query cat, key sat").press("Space")
        assert "Leak" in painter.locator(".tl-said").inner_text()


LIVE = [name for name, book in stored_lessons().items() if any(STATE in m for m in metadata(book))]


def test_first_lessons_have_live_views() -> None:
    assert {"01_lookup", "02_scaling", "03_heads", "04_masks", "05_positions", "06_encoder"} <= {*LIVE}


@pytest.mark.parametrize("name", LIVE)
def test_live_views_replace_their_pictures(browser: Browser, address: str, name: str) -> None:
    with opened(browser, address + f"notebooks/{name}.html", PHONE) as page:
        page.locator(".tl-view .tl-said:not(:empty)").first.wait_for(
            state="attached"
        )  # "attached" is enough, because the first view may be collapsed
        is_live = [
            [STATE in output.get("metadata", {}) for output in cell.outputs if "image/png" in output.get("data", {})]
            for cell in stored_lessons()[name].cells
            if cell.cell_type == "code"
        ]
        assert page.locator(".tl-view").count() == sum(map(sum, is_live))
        stills = sum(
            pictures.count(False) for pictures in is_live if any(pictures)
        )  # plots in cells that also have a view
        assert page.locator(".cell_output:has(.tl-view) img").count() == stills
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_dark_theme_has_no_light_backgrounds(browser: Browser, address: str) -> None:
    light = """() => [...document.querySelectorAll('.cell_output, .cell_output *')].filter(node => {
        const [red, green, blue, opacity = 1] = getComputedStyle(node).backgroundColor.match(/[\\d.]+/g).map(Number);
        return !node.closest('.tl-view') && opacity * (red + green + blue) > 300;
    }).map(node => node.outerHTML.slice(0, 100))"""
    for name in ("01_lookup", "08_training", "14_post_training"):
        with opened(browser, address + f"notebooks/{name}.html") as page:
            page.emulate_media(color_scheme="dark")
            page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
            assert page.locator(".cell_output img").count() > 3
            assert page.evaluate(light) == [], name


def test_trained_model_on_the_site_generates_a_date(browser: Browser, address: str) -> None:
    with opened(browser, address + "inside.html") as page:
        view = page.locator(".tl-view.model_map")
        view.locator(".tl-said", has_text="the model predicts 3 with").wait_for()
        view.get_by_role("button", name="feed_forward").last.click()
        view.locator(".tl-said", has_text="decoder.layers.1.feed_forward").wait_for()
        view.get_by_role("slider", name="token").press("ArrowRight")
        view.locator(".tl-said", has_text="the model predicts - with").wait_for()
        view.get_by_role("textbox", name="text").fill("7 juin 1998")
        view.get_by_role("textbox", name="text").press("Enter")
        view.locator(".tl-said", has_text="decoder.norm").wait_for()  # appears when the model has processed the text
        assert "".join(view.locator(".mm-open .mm-tokens span").all_inner_texts()) == "bos1998-06-07"


def test_first_tab_stop_is_the_skip_link(browser: Browser, address: str) -> None:
    with opened(browser, address + "notebooks/01_lookup.html") as page:
        page.keyboard.press("Tab")
        assert "Skip to main content" in page.evaluate("document.activeElement.textContent")


def test_arrow_keys_change_slides(browser: Browser, address: str) -> None:
    with opened(browser, address + "slides/01_lookup.html") as page:
        page.keyboard.press("ArrowRight")
        page.wait_for_function("scrollY > 300")
        second = page.locator(".bd-article section > section").first
        assert abs(second.bounding_box()["y"]) < 5
        assert second.bounding_box()["height"] >= DESK["height"]
        bar = page.get_by_role("navigation", name="Slides")
        page.wait_for_function("document.querySelector('.deck-bar span').textContent.startsWith('2 / ')")
        assert "to change slides" in bar.inner_text()
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("scrollY < 100")
        bar.get_by_role("button", name="next slide").click()
        page.wait_for_function("scrollY > 300")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_exercise_list_finds_exercises_by_term(address: str, browser: Browser, size: dict[str, int]) -> None:
    with opened(browser, f"{address}exercises.html", size) as page:
        rows = page.locator(".bd-article tbody tr:visible")
        n = rows.count()
        for term, name in {"RoPE": "apply_rotary", "gqa": "GroupedQueryAttention", "DPO": "dpo_loss"}.items():
            page.locator(".exercise-search input").fill(term)
            assert rows.filter(has_text=name).count() == 1
            assert rows.count() < 10
        page.locator(".exercise-search input").fill("LoRA")
        assert page.locator(".exercise-search").inner_text().endswith(f"1 of {n}")
        rows.first.get_by_role("link", name="LoRALinear").click()
        page.wait_for_url("**/notebooks/11_modern_block.html#cell-*")
        assert page.evaluate("Boolean(document.getElementById(location.hash.slice(1)))")


def test_site_search_indexes_exercise_list(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    listed = json.loads(re.search(r'"docnames":\s*(\[.*?\])', index)[1]).index("exercises")
    for term in ("rope", "gqa", "lora", "dpo"):
        found = json.loads(re.search(rf'"{term}":(\d+|\[[\d,]*\])', index)[1])
        assert listed in (found if isinstance(found, list) else [found]), term


def test_swipe_changes_slides(address: str, browser: Browser) -> None:
    swipe = """([from, to, down]) => {
        const [start, end] = [["touchstart", "touches", from, 0], ["touchend", "changedTouches", to, down]];
        for (const [name, list, x, y] of [start, end]) {
            const event = new Event(name, { bubbles: true, composed: true });
            document.body.dispatchEvent(Object.assign(event, { [list]: [{ clientX: x, clientY: y }] }));
        }
    }"""
    with opened(browser, f"{address}slides/01_lookup.html", PHONE) as page:
        number = page.locator(".deck-bar span")
        for move, slide in (
            ([300, 100, 0], "2 /"),
            ([300, 100, 0], "3 /"),
            ([100, 300, 0], "2 /"),
            ([300, 100, 300], "2 /"),
        ):
            page.evaluate(swipe, move)
            page.wait_for_function(
                "start => document.querySelector('.deck-bar span').textContent.startsWith(start)", arg=slide
            )
        assert number.is_visible()
