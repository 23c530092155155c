"""Test that every lesson, module and guide has a page, and that links between pages work."""

import importlib.util
import re
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from docs.site import front_page, pages, reference
from docs.site.repository import ROOT, Repository, published
from transformer_course.lesson_order import place


def test_every_notebook_is_in_the_navigation() -> None:
    listed = [page for listed in pages.tables_of_contents().values() for page in listed]
    assert len(listed) == len(set(listed))
    notebooks = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {page for page in listed if page.startswith("notebooks/")} == notebooks


def test_every_text_is_in_the_navigation() -> None:
    listed = {page for listed in pages.tables_of_contents().values() for page in listed}
    assert {name.removesuffix(".md") for name in pages.TEXTS} <= listed
    written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert written <= set(pages.TEXTS), "a guide is not in the navigation"


def test_reference_lists_library_modules_in_reading_order() -> None:
    packages = reference.packages(ROOT / reference.PACKAGE)
    listed = [module for package in packages for module in package.modules]
    assert len(listed) == len(set(listed))
    files = [path.relative_to(ROOT) for path in (ROOT / reference.PACKAGE).rglob("*.py")]
    expected = {".".join(path.with_suffix("").parts) for path in files if not path.stem.startswith("_")}
    expected |= {".".join(path.parent.parts) for path in files if path.stem == "__init__" and len(path.parts) > 3}
    assert set(listed) == expected
    assert [package.name for package in packages[:4]] == ["attention", "layers", "models", "generation"]
    assert [name.rpartition(".")[2] for name in packages[0].modules[:3]] == ["dot_product", "additive", "masks"]


def test_reference_covers_modules_imported_by_lessons() -> None:
    packages = reference.course_packages(ROOT / reference.COURSE)
    listed = {module for package in packages for module in package.modules}
    assert not {package.name for package in packages} & {
        package.name for package in reference.packages(ROOT / reference.PACKAGE)
    }
    assert all(importlib.util.find_spec(module) for module in listed)
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "notebooks" / "source").glob("*.py")]
    texts.append((ROOT / "docs" / "grading.md").read_text(encoding="utf-8"))
    named = {
        module for text in texts for module in re.findall(r"^from (transformer_course\.[\w.]+) import", text, re.M)
    }
    assert {name for name in named if not name.startswith("transformer_course.clinic")} <= listed


@pytest.mark.parametrize("name", [pages.FRONT_PAGE, *pages.TEXTS])
def test_links_in_texts_work_in_the_repository(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"""\]\((?!\w+:|#)([^)#\s]+)|src="([^"]+)"|href="(?!\w+:)([^"]+)""", text)
    paths = [(ROOT / name).parent / link for found in links for link in found if link]
    assert [path for path in paths if not path.exists()] == []
    texts = {ROOT / text for text in (pages.FRONT_PAGE, *pages.TEXTS)}
    assert {path.resolve() for path in paths if path.suffix == ".md"} <= texts, (
        "Sphinx would report these pages as missing"
    )


@pytest.mark.parametrize(
    ("text", "without_repository", "with_repository"),
    [
        ("[map](../ARCHITECTURE.md)", "[map](../ARCHITECTURE.md)", "[map](../ARCHITECTURE.md)"),
        ("[front](../README.md#the-lessons)", "[front](../index.md)", "[front](../index.md)"),
        ("[`setup`](../course.py)", "`setup`", "[`setup`](https://github.com/a/b/blob/main/course.py)"),
        ("[a [b] c](../tests)", "a [b] c", "[a [b] c](https://github.com/a/b/blob/main/tests)"),
        ("[paper](https://arxiv.org)", "[paper](https://arxiv.org)", "[paper](https://arxiv.org)"),
        ("[here](#points)", "[here](#points)", "[here](#points)"),
        ("[gone](nowhere.md)", "[gone](nowhere.md)", "[gone](nowhere.md)"),
    ],
)
def test_links_point_to_pages_or_to_the_repository(
    tmp_path: Path, text: str, without_repository: str, with_repository: str
) -> None:
    assert pages.with_links(text, "docs/grading.md", tmp_path, None) == without_repository
    assert pages.with_links(text, "docs/grading.md", tmp_path, Repository("a/b")) == with_repository


def test_last_cell_links_to_the_next_lesson(tmp_path: Path, books: dict[str, NotebookNode]) -> None:
    for name, following in pairwise(name for name in sorted(books, key=place) if place(name)[0]):
        pages._write_notebook(tmp_path, name, deepcopy(books[name]), None, ROOT)
        [displayed] = nbformat.read(tmp_path / "notebooks" / f"{name}.ipynb", as_version=4).cells[-1].outputs
        assert f', <a href="{following}.html"><code>{following}.ipynb</code></a>.' in displayed.data["text/html"]


def test_copies_documents_and_pictures(tmp_path: Path) -> None:
    text = "![a lesson](docs/lesson.png) [the page](notebooks/page_to_keep.pdf) [license](LICENSE)"
    assert pages.with_links(text, "README.md", tmp_path, None) == text
    for name in ("docs/lesson.png", "notebooks/page_to_keep.pdf", "LICENSE"):
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()


def test_links_to_headings_work_outside_jupyterlab() -> None:
    source = '<a href="01_lookup.ipynb#cell-id=one-lookup">x</a> <a href="01_lookup.ipynb">y</a> [z](#Self-check)'
    expected = '<a href="01_lookup.html#cell-one-lookup">x</a> <a href="01_lookup.html">y</a> [z](#self-check)'
    assert pages.html_links(source) == expected


def test_does_not_rewrite_unchanged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.md": "a", "folder/b.md": "b"}
    monkeypatch.setattr(pages, "_write_all", lambda target, *_: [pages._write(target / n, t) for n, t in texts.items()])
    pages.write(tmp_path, None)
    before = (tmp_path / "a.md").stat()
    texts = {"a.md": "a", "folder/c.md": "c"}
    pages.write(tmp_path, None)
    assert (tmp_path / "a.md").stat() == before
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["a.md", "c.md"]


def test_front_page_has_the_navigation(books: dict[str, NotebookNode]) -> None:
    page = pages.front_page((ROOT / pages.FRONT_PAGE).read_text(encoding="utf-8"), books)
    for name in ("docs/instructors", "notebooks/00_bottleneck", "reference/index", "CONTRIBUTING"):
        assert re.search(rf"^{name}$", page, re.MULTILINE)


def test_readme_links_are_generated_from_the_url(books: dict[str, NotebookNode]) -> None:
    readme = (ROOT / pages.FRONT_PAGE).read_text(encoding="utf-8")
    assert front_page.with_addresses(readme, published({})) == readme, "run `python -m docs.site.front_page`"
    known = front_page.with_addresses(readme, Repository("Ada/b"))
    colab = "https://colab.research.google.com/github/Ada/b/blob/main/notebooks/{}.ipynb)"
    assert [name for name in books if colab.format(name) not in known] == []
    [line] = re.findall(r"<!-- links -->\n\n(.+)\n<!-- end of links -->", known)
    assert re.findall(r"\((\S+)\)", line) == [
        "https://ada.github.io/b/",
        "https://ada.github.io/b/inside.html",
        "https://colab.research.google.com/github/Ada/b/blob/main/notebooks/01_lookup.ipynb",
        "https://mybinder.org/v2/gh/Ada/b/main?urlpath=lab",
        "https://github.com/Ada/b/pkgs/container/b",
    ]
    assert "\ngit clone https://github.com/Ada/b.git transformer-course\n" in known
    assert front_page.with_addresses(known, Repository("Ada/b")) == known
    assert front_page.with_addresses(known, None) == front_page.with_addresses(readme, None)


def test_readme_omits_links_if_url_is_unknown() -> None:
    readme = front_page.with_addresses((ROOT / pages.FRONT_PAGE).read_text(encoding="utf-8"), None)
    assert "<!-- links -->\n<!-- end of links -->" in readme
    assert not re.search(r"mybinder|colab\.research|github\.io", readme)


def test_user_site_is_at_the_root() -> None:
    assert Repository("Ada/ada.github.io").site == "https://ada.github.io/"


def test_front_page_map_links_lessons(books: dict[str, NotebookNode]) -> None:
    page = pages.front_page((ROOT / pages.FRONT_PAGE).read_text(encoding="utf-8"), books)
    assert {name for name in books if f'<a class="tl-lesson" href="notebooks/{name}.html"' in page} == set(books)
    assert "Leak" not in page and "reaches the outputs at “cat”, “sat”" in page, (
        "the mask painter must initially show the mistake"
    )
    assert f"{len(books)} lessons, " in page
    assert not re.search(r"<div.*\n\n.*</svg>", page), "a blank line would end the HTML block"
