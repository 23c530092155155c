"""Create the learner's working copies of the lessons, without outputs, because outputs would spoil predictions.

Notebooks are read and written as plain JSON, because importing ``nbformat`` can take longer than a whole check.
"""

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from transformer_course.lesson_folder import REPOSITORY, is_clone, published_lessons
from transformer_course.lesson_order import resolve_lesson
from transformer_lab.atomic_write import atomic_write_text

EDITIONS_FILE = ".editions.json"
"""The file that records the last copied edition of each lesson. Without it, an edition may be offered twice."""
COLAB = "colab"
"""The id of the cell that installs the course on Colab. Working copies do not need it."""
LANGUAGE = {
    "name": "python",
    "version": sys.version.split()[0],
    "mimetype": "text/x-python",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
    "file_extension": ".py",
}
"""The language metadata of the kernel. If a notebook lacks it, JupyterLab adds it and marks the notebook as unsaved as
soon as it is opened.
"""


def working_copy() -> Path:
    """Return the learner's folder: ``TRANSFORMER_LAB_LESSONS`` if it is set, otherwise ``my-lessons`` in the clone.

    Without a clone, the variable is required, and ``transformer-course lab`` sets it (see ``choose_folder``).
    """
    return Path(os.environ.get("TRANSFORMER_LAB_LESSONS") or REPOSITORY / "my-lessons").absolute()


def choose_folder(folder: Path | None = None) -> None:
    """Set ``TRANSFORMER_LAB_LESSONS``, unless the learner's folder is in the clone.

    Args:
        folder: The learner's folder. By default, the variable keeps its value. If it is not set and there is no clone,
            the default is the current folder if it contains copied lessons, otherwise its subfolder ``my-lessons``.
    """
    if folder is None and not is_clone() and not os.environ.get("TRANSFORMER_LAB_LESSONS"):
        here = Path.cwd()
        folder = here if (here / EDITIONS_FILE).is_file() else here / "my-lessons"
    if folder is not None:
        os.environ["TRANSFORMER_LAB_LESSONS"] = str(folder.absolute())


def find_lesson(typed: str, names: Sequence[str] = ()) -> str:
    """Return the full name of a lesson, such as ``03_heads``, given its name, file, number or word.

    Args:
        typed: The text that the user typed.
        names: The names of all lessons; by default, of the published notebooks.

    Raises:
        ValueError: No lesson matches the text.
    """
    return resolve_lesson(typed, names or sorted(path.stem for path in published_lessons().glob("*.ipynb")))


def copy_lessons(published: Path, folder: Path, only: Sequence[str] = ()) -> list[str]:
    """Copy the lessons without outputs into the learner's folder, without overwriting the learner's changes.

    Missing copies are restored. A newer edition replaces a copy that was neither edited nor run. Otherwise, the newer
    edition is saved next to the copy, once.

    Args:
        published: The folder with the executed lessons.
        folder: The learner's folder, which is created if it is missing.
        only: The names of the lessons to copy; by default, all lessons are copied.

    Returns:
        Messages for the learner, one line each.

    Raises:
        OSError: There are no published lessons, or the folder is not writable.
        ValueError: A lesson is not a notebook, or a name in ``only`` is unknown.
    """
    lessons = sorted(published.glob("*.ipynb"))
    if not lessons:
        raise FileNotFoundError(f"there are no lessons in {published}")
    if unknown := set(only) - {lesson.stem for lesson in lessons}:
        raise ValueError(
            f"there is no lesson {min(unknown)!r}; the lessons are {', '.join(lesson.stem for lesson in lessons)}"
        )
    lessons = [lesson for lesson in lessons if not only or lesson.stem in only]
    folder.mkdir(parents=True, exist_ok=True)
    record, messages = _read_record(folder), list[str]()
    recorded = dict(record)
    for lesson in lessons:
        book = _without_outputs(_read(lesson))
        edition, copy = _edition(book), folder / lesson.name
        before = record.get(lesson.name)
        if not os.path.lexists(copy):
            atomic_write_text(copy, _text_of(book))
        elif edition != before and edition != _edition_of(copy):
            if _is_untouched(copy, before):
                atomic_write_text(copy, _text_of(book))
                messages.append(f"{copy.name}: replaced by a newer edition, because you had not started this lesson.")
            else:
                new_copy = free_name(copy, "new edition")
                atomic_write_text(new_copy, _text_of(book))
                messages.append(f"{copy.name}: your copy is unchanged. A newer edition is next to it: {new_copy.name}.")
        record[lesson.name] = edition
    if record != recorded:
        atomic_write_text(folder / EDITIONS_FILE, json.dumps(record, indent=1))
    return messages


def reset_lesson(published: Path, folder: Path, lesson: str, today: date | None = None) -> Path | None:
    """Replace the learner's copy with the published lesson, and keep the old copy under a name with the date.

    Passes, predictions and saved parts are preserved.

    Args:
        published: The folder with the executed lessons.
        folder: The learner's folder.
        lesson: The name of the lesson, such as ``01_lookup``.
        today: The date for the name; by default, the current date.

    Returns:
        The new path of the old copy, or None if there was no copy.

    Raises:
        OSError: The published lesson cannot be read, or the folder is not writable. The copy is then unchanged.
        ValueError: The published lesson is not a notebook, or the lesson does not exist.
    """
    copy, kept = folder / f"{lesson}.ipynb", None
    if lesson not in {path.stem for path in published.glob("*.ipynb")}:
        raise ValueError(f"there is no lesson {lesson!r} in {published}")
    _without_outputs(_read(published / copy.name))  # raises an error before anything is renamed
    if os.path.lexists(copy):
        kept = free_name(copy, str(today or date.today()))
        copy.rename(kept)
    try:
        copy_lessons(published, folder, [lesson])
    except OSError:
        if kept is not None and not os.path.lexists(copy):
            kept.rename(copy)
        raise
    return kept


def _is_untouched(copy: Path, copied_edition: str | None) -> bool:
    """Return whether a copy was neither edited nor run."""
    if copied_edition is None or _edition_of(copy) != copied_edition:
        return False
    cells = _read(copy)["cells"]
    return not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def _edition_of(copy: Path) -> str | None:
    try:
        return _edition(_read(copy))
    except Exception:  # the learner may have written anything to the file
        return None


def _read(path: Path) -> dict[str, Any]:
    """Read a notebook in format 4.

    Raises:
        ValueError: The file is not a notebook.
    """
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a notebook: {error}") from None
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list):
        raise ValueError(f"{path} is not a notebook")
    return book


def _text_of(book: dict[str, Any]) -> str:
    """Return a notebook in Jupyter's file format."""
    return json.dumps(book, indent=1, sort_keys=True, ensure_ascii=False)


def _edition(book: dict[str, Any]) -> str:
    """Return a hash of the cells' sources and tags, which does not change if a lesson is run, saved or rebuilt."""
    without_colab = [c for c in book["cells"] if c.get("id") != COLAB]
    cells = [[c.get("id"), c["cell_type"], c["metadata"].get("tags", []), "".join(c["source"])] for c in without_colab]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def free_name(copy: Path, remark: str = "") -> Path:
    """Return an unused name in the same folder: the name of the copy with a remark in parentheses.

    If the name is in use, a number is added to the remark. Without a remark, only the number is in parentheses.
    """
    number, new_copy = 1, copy.with_stem(f"{copy.stem} ({remark or 2})")
    while os.path.lexists(new_copy):
        number += 1
        new_copy = copy.with_stem(f"{copy.stem} ({f'{remark} {number}' if remark else number + 1})")
    return new_copy


def _without_outputs(book: dict[str, Any]) -> dict[str, Any]:
    book["cells"] = [cell for cell in book["cells"] if cell.get("id") != COLAB]
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    book["metadata"] = {**book.get("metadata", {}), "language_info": LANGUAGE}
    return book


def _read_record(folder: Path) -> dict[str, str]:
    try:
        record = json.loads((folder / EDITIONS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = record if isinstance(record, dict) else {}
    return {lesson: edition for lesson, edition in known.items() if isinstance(edition, str)}
