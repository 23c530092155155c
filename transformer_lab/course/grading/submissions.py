"""Find submitted notebooks, and read them as untrusted input.

The JSON is read directly: a hostile notebook can keep a library that validates and converts notebooks busy for
minutes, and only the text of the code cells is needed.
"""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from transformer_lab.course.exercises import LESSONS, UNGRADED, exercises_of

MAX_NOTEBOOK_BYTES = 16 << 20
"""An honest notebook with many pictures has a few million."""
MAX_CODE_LENGTH = 1 << 20
"""Number of characters in all code cells together."""
MAX_CELLS = 5000
MAX_ID_LENGTH = 100
MAX_NOTEBOOKS = 50
"""Number of notebooks in a student's folder; with more, all other students would wait for hours."""
MAX_DEPTH = 8
"""Number of nested folders that are searched."""
NOTHING_TO_GRADE = "There is nothing to grade in this notebook."


class UnreadableNotebook(ValueError):
    """The file is not a notebook that can be graded; the message says why."""


@dataclass(frozen=True)
class Submission:
    """One notebook of one student, or the reason why there is none.

    Args:
        student: The student's name.
        path: The notebook; a folder if that has none to grade.
        lesson: The lesson, one of ``LESSONS``; empty if it is unknown.
        cells: The code cells, each with its ``id`` and ``source``.
        problem: Why it cannot be graded; empty if it can.
        raw_name: The student's name as the file system has it. Two that are told apart there stay two students here.
        digest: SHA-256 of its code cells; empty if it cannot be read.
    """

    student: str
    path: Path
    lesson: str = ""
    cells: Sequence[dict[str, str]] = field(default_factory=list)
    problem: str = ""
    raw_name: str = ""
    digest: str = ""

    @property
    def file(self) -> str:
        """The name of the file, safe to print."""
        return clean_name(self.path.name)


def find_submissions(paths: Sequence[Path], ignore: Path | None = None) -> list[Submission]:
    """Find all submissions, each once.

    Args:
        paths: Each a notebook, a student's folder of notebooks, or a folder of such folders.
        ignore: A folder that is not searched: an earlier grading may be among the submissions.

    Raises:
        ValueError: A path does not exist, or holds no notebook at all.
    """
    found: list[Submission] = []
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no {printable(str(path))}")
        if path.is_dir():
            here = list(_in_folder(path, ignore))
            if not any(submission.path.suffix == ".ipynb" for submission in here):
                raise ValueError(f"no notebook lies in {printable(str(path))}")
            found += here
        else:
            found.append(_read_submission(path, _raw_student_of(path)))
    once = {os.path.abspath(submission.path): submission for submission in found}
    return _told_apart(list(once.values()))


def _told_apart(submissions: Sequence[Submission]) -> list[Submission]:
    """Number the students whose names look alike, and say so: "Zoë" has two encodings, "bob " ends in a space."""
    shown: dict[str, str] = {}
    warnings = []
    for submission in submissions:
        if submission.raw_name in shown:
            continue
        alike = [name for name in shown.values() if _without_number(name) == submission.student.casefold()]
        number = f" ({len(alike) + 1})" if alike else ""
        shown[submission.raw_name] = f"{submission.student}{number}"
        if alike:
            problem = f"This name differs from that of “{alike[0]}” only in case, in spaces or in how it is encoded."
            warnings.append(replace(submission, path=submission.path.parent, lesson="", cells=[], problem=problem))
    return [replace(submission, student=shown[submission.raw_name]) for submission in (*submissions, *warnings)]


def _without_number(name: str) -> str:
    return re.sub(r" \(\d+\)$", "", name).casefold()


def _in_folder(folder: Path, ignore: Path | None) -> Iterator[Submission]:
    own = [path for path in sorted(folder.glob("*.ipynb")) if not path.name.startswith(".")]
    yield from _gradable(_read_submission(path, _raw_student_of(path)) for path in own)
    for student in sorted(folder.iterdir()):
        name = student.name
        if student.is_symlink() and student.is_dir() and not name.startswith("."):
            linked = "This is a link to a folder somewhere else, and links are not followed."
            yield Submission(clean_name(name), student, problem=linked, raw_name=name)
        if not _is_folder(student, ignore):
            continue
        paths = sorted(_notebooks_below(student, ignore))
        gradable = _gradable(_read_submission(path, name) for path in paths[:MAX_NOTEBOOKS])
        yield from gradable
        if len(paths) > MAX_NOTEBOOKS:
            too_many = f"{len(paths)} notebooks are in this folder: only the first {MAX_NOTEBOOKS} were looked at."
            yield Submission(clean_name(name), student, problem=too_many, raw_name=name)
        if not gradable and not own:
            empty = "There is no notebook to grade in this folder."
            yield Submission(clean_name(name), student, problem=empty, raw_name=name)


def _gradable(submissions: Iterable[Submission]) -> list[Submission]:
    """Leave out notebooks that come with the lessons but have no exercises."""
    return [submission for submission in submissions if submission.problem != NOTHING_TO_GRADE]


def _notebooks_below(folder: Path, ignore: Path | None) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = [name for name in folders if depth < MAX_DEPTH and _is_folder(Path(here, name), ignore)]
        yield from (Path(here, name) for name in files if name.endswith(".ipynb") and not name.startswith("."))


def _is_folder(path: Path, ignore: Path | None) -> bool:
    if path.is_symlink() or not path.is_dir() or path.name.startswith((".", "__")):
        return False
    return ignore is None or path.resolve() != ignore.resolve()


def student_of(path: Path) -> str:
    """Return the student's name: the part of the file's name before the lesson's, else the name of the folder.

    A file that is not named after a lesson is taken to be named after its student.

    >>> student_of(Path("class/ada_01_lookup.ipynb")), student_of(Path("class/ada.ipynb"))
    ('ada', 'ada')
    """
    return clean_name(_raw_student_of(path))


def _raw_student_of(path: Path) -> str:
    lesson = lesson_by_name(path)
    before = path.stem.partition(lesson)[0].strip(" _-.") if lesson else path.stem
    return before or path.resolve().parent.name


def clean_name(name: str) -> str:
    """Return a name from the file system in a form that is safe everywhere, and is never a path."""
    return printable(name).replace("/", "_").replace("\\", "_").strip() or "_"


def printable(text: str) -> str:
    """Return text with replacements for undecodable bytes and for control codes, which files and terminals act on."""
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return "".join(c if c.isprintable() else "_" for c in composed)


def lesson_by_name(path: Path) -> str:
    """Return the lesson that a file is named after, as in ``01_lookup (new edition).ipynb``, or an empty string."""
    return next((lesson for lesson in LESSONS if lesson in path.stem), "")


def lesson_by_cells(cells: Sequence[dict[str, str]]) -> str:
    """Return the lesson whose exercises the cells check most of, or an empty string."""
    ids = {cell["id"] for cell in cells}
    counts = {lesson: sum(f"check-{e.name}" in ids for e in exercises_of(lesson)) for lesson in LESSONS}
    best = max(counts, key=lambda lesson: counts[lesson])
    return best if counts[best] else ""


def _read_submission(path: Path, raw_name: str) -> Submission:
    lesson = lesson_by_name(path)
    submission = Submission(clean_name(raw_name), path, lesson, raw_name=raw_name)
    try:
        cells = read_cells(path)
    except UnreadableNotebook as error:
        return replace(submission, problem=str(error))
    lesson = lesson or lesson_by_cells(cells)
    if not lesson and any(name in path.stem for name in UNGRADED):
        return replace(submission, problem=NOTHING_TO_GRADE)
    if not lesson:
        return replace(submission, problem="This is no lesson of the course: neither its name nor its cells are.")
    digest = hashlib.sha256(json.dumps(cells).encode()).hexdigest()
    return replace(submission, lesson=lesson, cells=cells, digest=digest)


def read_cells(path: Path) -> list[dict[str, str]]:
    """Read the code cells of a notebook: their ``id``, which may be empty, and ``source``.

    Raises:
        UnreadableNotebook: The file cannot be opened, is too large, or is not a notebook.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise UnreadableNotebook("This is no file of its own.")
        if path.stat().st_size > MAX_NOTEBOOK_BYTES:
            raise UnreadableNotebook(
                f"The file is larger than {MAX_NOTEBOOK_BYTES >> 20} MB. Were the outputs cleared?"
            )
        notebook = json.loads(path.read_bytes())
    except OSError as error:
        raise UnreadableNotebook(f"The file cannot be read: {error.strerror}.") from error
    except UnreadableNotebook:
        raise
    except Exception as error:  # not JSON, not text, nested too deep, too large for memory
        raise UnreadableNotebook("The file is damaged: it is no JSON, which every notebook is.") from error
    try:
        if type(version := notebook["nbformat"]) is int and version != 4:
            raise UnreadableNotebook(f"The notebook has the format {str(version)[:20]}; only 4 can be read.")
        cells = [_cell(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except UnreadableNotebook:
        raise
    except Exception as error:  # any JSON is possible
        raise UnreadableNotebook("The file is damaged: it is JSON, but no notebook.") from error
    if len(cells) > MAX_CELLS:
        raise UnreadableNotebook(f"The notebook has {len(cells)} cells of code; at most {MAX_CELLS} are read.")
    if sum(len(cell["source"]) for cell in cells) > MAX_CODE_LENGTH:
        raise UnreadableNotebook(f"The notebook holds more than {MAX_CODE_LENGTH >> 20} million characters of code.")
    return cells


def _cell(cell: dict[str, Any]) -> dict[str, str]:
    source, metadata = cell["source"], cell.get("metadata", {})
    text = source if isinstance(source, str) else "".join(source)
    name = cell.get("id") or metadata.get("id")  # Colab keeps ids in the metadata
    return {"id": name[:MAX_ID_LENGTH] if isinstance(name, str) else "", "source": text}
