"""Collect all pages of the site, and write Sphinx's sources in a tree that mirrors the repository."""

import base64
import filecmp
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from authoring.page_to_keep import collection as page_to_keep
from docs.site import exercise_list, inside, lessons, reference, slides, teaching_plan
from docs.site import front_page as front
from docs.site.repository import ROOT, Repository
from notebooks import build
from transformer_course.home.lesson_outline import read_outlines
from transformer_course.lesson_order import PRACTICE_BANK

TEXTS = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "benchmarks/speed_run/README.md",
    "docs/authoring.md",
    "docs/capstones.md",
    "docs/generating.md",
    "docs/grading.md",
    "docs/instructors.md",
    "docs/lesson_notes.md",
    "docs/library.md",
    "docs/mistakes.md",
    "docs/release.md",
    "docs/run.md",
    "docs/training.md",
    "transformer_course/sandbox/README.md",
)
COLLECTIONS = tuple(build.COLLECTIONS)
PRINTED = f"notebooks/{page_to_keep.DOCUMENT_FILE}"
"""The file whose name becomes a link on the site."""
FRONT_PAGE = "README.md"
ENDINGS = {".md", ".ipynb"}
"""The file extensions that become pages. Linked files with an extension in ``DOCUMENTS`` are copied unchanged."""
DOCUMENTS = {".pdf", ".png", ".svg", ".json", ".cff", ""}


def tables_of_contents(folder: Path = build.FOLDER) -> dict[str, list[str]]:
    """Return the pages under each heading of the navigation, in reading order."""
    in_order = build.lessons(folder)
    return {
        "Start": ["docs/run", "inside"],
        "Lessons": [
            "exercises",
            *(f"notebooks/{name}" for name in in_order),
            f"notebooks/{PRACTICE_BANK}",
            "docs/capstones",
        ],
        "To keep": [f"notebooks/{name}" for name in ("page_to_keep", "glossary", "interview_questions")],
        "Library": ["docs/library", "docs/training", "docs/generating", "reference/index"],
        "For instructors": ["docs/instructors", "docs/lesson_notes", "docs/grading", "slides/index"],
        "For contributors": [
            "CONTRIBUTING",
            "docs/authoring",
            "ARCHITECTURE",
            "docs/mistakes",
            "transformer_course/sandbox/README",
            "benchmarks/README",
            "benchmarks/speed_run/README",
            "docs/release",
            "CHANGELOG",
        ],
    }


def write(target: Path, repository: Repository | None, root: Path = ROOT) -> None:
    """Write the sources of the site. Skip unchanged files, so that Sphinx does not read them again.

    Args:
        target: The folder for the sources. All other files in this folder are deleted.
        repository: The project's repository, if it is published.
        root: The clone of the repository on this machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        _write_all(Path(folder), repository, root)
        fresh = {path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file()}
        for path in target.rglob("*"):
            if path.is_file() and path.relative_to(target) not in fresh:
                path.unlink()
        for name in fresh:
            if not (target / name).exists() or not filecmp.cmp(Path(folder, name), target / name, shallow=False):
                _write_bytes(target / name, Path(folder, name).read_bytes())


def _write_all(target: Path, repository: Repository | None, root: Path) -> None:
    texts = {name: (root / name).read_text(encoding="utf-8") for name in TEXTS}
    texts["docs/instructors.md"] = teaching_plan.fill_in(texts["docs/instructors.md"], stored_lessons(root))
    texts["index.md"] = front_page((root / FRONT_PAGE).read_text(encoding="utf-8"), stored_lessons(root), repository)
    library, course = root / reference.PACKAGE, root / reference.COURSE
    packages = [*reference.packages(library), *reference.course_packages(course)]
    texts |= {f"reference/{package.name}.md": reference.page(package) for package in packages}
    texts["inside.md"] = inside.page(inside.FILE.read_text(encoding="utf-8").strip())
    texts["exercises.md"] = exercise_list.page(read_outlines(root / "notebooks"))
    texts["slides/index.md"] = slides.index(stored_lessons(root))
    texts["reference/index.md"] = reference.contents(library, course)
    for name, text in texts.items():
        _write(target / name, with_links(text, name, target, repository, root))
    for name, book in stored_lessons(root).items():
        _write(target / "slides" / f"{name}.md", slides.deck(name, book))
        for picture, data in slides.pictures(name, book).items():
            _write_bytes(target / "slides" / picture, data)
        _write_notebook(target, name, lessons.for_reading(name, book, repository), repository, root)
    bank = lessons.for_reading(PRACTICE_BANK, _read(root, PRACTICE_BANK), repository)
    _write_notebook(target, PRACTICE_BANK, bank, repository, root)
    for name in COLLECTIONS:
        _write_notebook(target, name, _read(root, name), repository, root)


def front_page(readme: str, lessons: Mapping[str, NotebookNode], repository: Repository | None = None) -> str:
    """Return the front page with the navigation below it."""
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])
        for caption, pages in tables_of_contents().items()
    ]
    return "\n\n".join([front.front_page(readme, lessons, repository), *trees, ""])


def stored_lessons(root: Path = ROOT) -> dict[str, NotebookNode]:
    """Read all stored lessons, in order."""
    return {name: _read(root, name) for name in build.lessons(root / "notebooks")}


def with_links(text: str, name: str, target: Path, repository: Repository | None, root: Path = ROOT) -> str:
    """Resolve the links in a text. Copy linked files that do not become pages, or link to them in the repository.

    Args:
        text: The text in Markdown.
        name: The text's path in the repository.
        target: The folder to which linked documents and pictures are copied.
        repository: The repository for links to source files. If None, these links become plain text.
        root: The clone of the repository on this machine.
    """

    def link(found: re.Match[str]) -> str:
        words, address = found["words"], found["address"].partition("#")[0]
        path = (root / name).parent.joinpath(address).resolve()
        if not path.is_relative_to(root) or not path.exists():
            return found[0]
        inside = path.relative_to(root).as_posix()
        if inside == FRONT_PAGE:
            return f"{words}({'../' * name.count('/')}index.md)"
        if path.suffix in ENDINGS:
            return found[0]
        if path.is_file() and path.suffix in DOCUMENTS:
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / inside)
            return found[0]
        return f"{words}({repository.file(inside)})" if repository else words.removeprefix("[").removesuffix("]")

    return re.sub(
        r"(?P<words>!?\[(?:[^\[\]]|\[[^\]]*\](?:\([^)]*\))?)*\])\((?P<address>(?!\w+:|#)[^)\s]+)\)", link, text
    )


def _write_notebook(target: Path, name: str, book: NotebookNode, repository: Repository | None, root: Path) -> None:
    """Write a notebook and its attachments, with links that work on the site."""
    path = f"notebooks/{name}.ipynb"
    for cell in book.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = html_links(output.data["text/html"])
        if cell.cell_type != "markdown":
            continue
        for picture, kinds in cell.pop("attachments", {}).items():
            file = f"{name}-{picture}"
            _write_bytes(target / "notebooks" / file, base64.b64decode(next(iter(kinds.values()))))
            cell.source = cell.source.replace(f"attachment:{picture}", file)
        cell.source = cell.source.replace(f"`{PRINTED}`", f"[`{PRINTED}`]({Path(PRINTED).name})")
        cell.source = _anchored(cell) + html_links(with_links(cell.source, path, target, repository, root))
    _write(target / path, nbformat.writes(book))


def html_links(source: str) -> str:
    """Convert HTML links, which Sphinx does not change, and JupyterLab's links to headings."""
    source = re.sub(r"\]\(#[\w-]+\)", lambda found: found[0].lower(), source)
    source = re.sub(r'(href="[\w/.]+)\.ipynb#cell-id=', r"\1.html#cell-", source)
    return re.sub(r'(href="[\w/.]+)\.ipynb"', r'\1.html"', source)


def _anchored(cell: Mapping[str, str]) -> str:
    """Return an anchor for a cell with a heading, because the interview questions link to headings."""
    return f'<span id="cell-{cell["id"]}"></span>\n\n' if re.search("^##+ ", cell["source"], re.MULTILINE) else ""


def _read(root: Path, name: str) -> NotebookNode:
    return nbformat.read(root / "notebooks" / f"{name}.ipynb", as_version=4)


def _write(path: Path, text: str) -> None:
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
