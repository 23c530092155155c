"""Tests for the meta tags that give a shared link its title, description and picture."""

from html.parser import HTMLParser
from typing import Any

from docs.site.previews import PICTURE, preview_tags
from docs.site.repository import ROOT, Repository


def tags(**changes: Any) -> dict[str, str]:
    """Return the meta tags of a page."""
    found: dict[str, str] = {}

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            values = dict(attrs)
            found[values.get("property") or values.get("name") or ""] = values["content"] or ""

    page = {"page": "notebooks/01_lookup", "title": "01", "description": "Why?", "picture": "../p.png"}
    Reader().feed(preview_tags(**{**page, "repository": None, **changes}))
    return found


def test_preview_of_published_site_uses_absolute_urls() -> None:
    found = tags(repository=Repository("Ada/course"))
    assert found["og:image"] == f"https://ada.github.io/course/_static/{PICTURE}"
    assert found["og:url"] == "https://ada.github.io/course/notebooks/01_lookup.html"
    assert found["twitter:card"] == "summary_large_image"


def test_preview_without_repository_uses_relative_picture_path() -> None:
    found = tags()
    assert found["og:image"] == "../p.png"
    assert "og:url" not in found


def test_preview_escapes_and_unescapes_text() -> None:
    found = tags(title='01: <span class="math">d</span> &amp; &lt;k&gt;', description='Is "x" < 3 & y > 2?')
    assert found["og:title"] == "01: d & <k>"
    assert found["og:description"] == 'Is "x" < 3 & y > 2?'


def test_preview_picture_exists() -> None:
    assert (ROOT / "docs" / PICTURE).read_bytes().startswith(b"\x89PNG")
