"""Find the notebooks that were handed in, and read them without trusting them.

The JSON is read directly: a library that validates and converts notebooks can be kept busy for minutes by a hostile
one, and all that is needed is the text of the code cells.
"""

import json
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformer_lab.course.exercises import LESSONS, UNGRADED, exercises_of

LARGEST_NOTEBOOK = 16 << 20
"""Bytes: with many pictures, an honest notebook has a few million."""
MOST_CODE = 1 << 20
"""Characters in all code cells together."""
MOST_CELLS = 5000
LONGEST_ID = 100
MOST_NOTEBOOKS = 50
"""In a student's folder; all others would wait for hours."""
DEEPEST = 8
"""So many folders within folders are looked into."""
NOTHING_TO_GRADE = "There is nothing to grade in this notebook."


class Unreadable(ValueError):
    """Why a file is no notebook that can be graded."""


@dataclass(frozen=True)
class Submission:
    """One notebook of one student, or the reason why there is none.

    Args:
        student: Whose it is.
        path: Where it was found.
        lesson: Which lesson it holds, a key of ``LESSONS``; empty if that cannot be told.
        cells: The code cells, each with its ``id`` and ``source``.
        problem: Why nothing in it can be graded; empty if it can.
    """

    student: str
    path: Path
    lesson: str = ""
    cells: Sequence[dict[str, str]] = field(default_factory=list)
    problem: str = ""

    @property
    def file(self) -> str:
        """The file's name, fit to be written down."""
        return clean(self.path.name)


def find(paths: Sequence[Path], ignore: Path | None = None) -> list[Submission]:
    """Find all submissions.

    Args:
        paths: Each a notebook, a student's folder of notebooks, or a folder of such folders.
        ignore: A folder that is not looked into: an earlier grading may lie among the submissions.

    Raises:
        ValueError: A path does not exist, or holds no notebook at all.
    """
    found: list[Submission] = []
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no {path}")
        if path.is_dir():
            here = list(_in_folder(path, ignore))
            if not any(submission.path.suffix == ".ipynb" for submission in here):
                raise ValueError(f"no notebook lies in {path}")
            found += here
        else:
            found.append(_submission(path, student=_student(path)))
    return list({os.path.abspath(submission.path): submission for submission in found}.values())


def _in_folder(folder: Path, ignore: Path | None) -> Iterator[Submission]:
    own = [path for path in sorted(folder.glob("*.ipynb")) if not path.name.startswith(".")]
    yield from _gradable(_submission(path, _student(path)) for path in own)
    for student in sorted(path for path in folder.iterdir() if _is_folder(path, ignore)):
        theirs = sorted(_below(student, ignore))
        gradable = _gradable(_submission(path, clean(student.name)) for path in theirs[:MOST_NOTEBOOKS])
        yield from gradable
        if len(theirs) > MOST_NOTEBOOKS:
            left = f"{len(theirs)} notebooks are in this folder: only the first {MOST_NOTEBOOKS} were looked at."
            yield Submission(clean(student.name), student, problem=left)
        if not gradable and not own:
            yield Submission(clean(student.name), student, problem="There is no notebook to grade in this folder.")


def _gradable(submissions: Iterable[Submission]) -> list[Submission]:
    """Leave out what comes with the lessons, and has no exercises."""
    return [submission for submission in submissions if submission.problem != NOTHING_TO_GRADE]


def _below(folder: Path, ignore: Path | None) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = [name for name in folders if depth < DEEPEST and _is_folder(Path(here, name), ignore)]
        yield from (Path(here, name) for name in files if name.endswith(".ipynb") and not name.startswith("."))


def _is_folder(path: Path, ignore: Path | None) -> bool:
    if path.is_symlink() or not path.is_dir() or path.name.startswith((".", "__")):
        return False
    return ignore is None or path.resolve() != ignore.resolve()


def _student(path: Path) -> str:
    """Name the student by what precedes the lesson in the file's name (``ada_01_lookup.ipynb``), else by the folder.

    A file that is not named after a lesson is named after its student.
    """
    lesson = lesson_by_name(path)
    before = path.stem.partition(lesson)[0].strip(" _-.") if lesson else path.stem
    return clean(before or path.resolve().parent.name)


def clean(name: str) -> str:
    """Make a name from the file system one that can be written down anywhere; it never is a path."""
    return printable(name).replace("/", "_").replace("\\", "_").strip() or "_"


def printable(text: str) -> str:
    """Keep what every file, page and terminal shows as it is: bytes that are no text go, and so do control codes."""
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return "".join(c if c.isprintable() else "_" for c in composed)


def lesson_by_name(path: Path) -> str:
    """Tell the lesson by a file's name, such as ``01_lookup-1.ipynb`` or ``01_lookup (new edition).ipynb``."""
    return next((lesson for lesson in LESSONS if lesson in path.stem), "")


def lesson_by_cells(cells: Sequence[dict[str, str]]) -> str:
    """Tell the lesson by the cells that check its exercises."""
    ids = {cell["id"] for cell in cells}
    counts = {lesson: sum(f"check-{e.name}" in ids for e in exercises_of(lesson)) for lesson in LESSONS}
    best = max(counts, key=lambda lesson: counts[lesson])
    return best if counts[best] else ""


def _submission(path: Path, student: str) -> Submission:
    lesson = lesson_by_name(path)
    try:
        cells = read_cells(path)
    except Unreadable as error:
        return Submission(student, path, lesson, problem=str(error))
    lesson = lesson or lesson_by_cells(cells)
    if not lesson and any(name in path.stem for name in UNGRADED):
        return Submission(student, path, problem=NOTHING_TO_GRADE)
    if not lesson:
        return Submission(student, path, problem="This is no lesson of the course: neither its name nor its cells are.")
    return Submission(student, path, lesson, cells)


def read_cells(path: Path) -> list[dict[str, str]]:
    """Read the code cells of a notebook.

    Raises:
        Unreadable: It cannot be opened, is too large, or is no notebook.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise Unreadable("This is no file of its own.")
        if path.stat().st_size > LARGEST_NOTEBOOK:
            raise Unreadable(f"The file is larger than {LARGEST_NOTEBOOK >> 20} MB. Were the outputs cleared?")
        notebook = json.loads(path.read_bytes())
    except OSError as error:
        raise Unreadable(f"The file cannot be read: {error.strerror}.") from error
    except Unreadable:
        raise
    except Exception as error:  # no JSON, no text, too deep, too large for memory
        raise Unreadable("The file is damaged: it is no JSON, which every notebook is.") from error
    try:
        if type(version := notebook["nbformat"]) is int and version != 4:
            raise Unreadable(f"The notebook has the format {version}; only 4 can be read.")
        cells = [_cell(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except Unreadable:
        raise
    except Exception as error:  # it can be any JSON
        raise Unreadable("The file is damaged: it is JSON, but no notebook.") from error
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells of code; at most {MOST_CELLS} are read.")
    if sum(len(cell["source"]) for cell in cells) > MOST_CODE:
        raise Unreadable(f"The notebook holds more than {MOST_CODE >> 20} million characters of code.")
    return cells


def _cell(cell: dict[str, Any]) -> dict[str, str]:
    source, metadata = cell["source"], cell.get("metadata", {})
    text = source if isinstance(source, str) else "".join(source)
    name = cell.get("id") or metadata.get("id")  # Colab keeps ids in the metadata
    return {"id": name[:LONGEST_ID] if isinstance(name, str) else "", "source": text}
