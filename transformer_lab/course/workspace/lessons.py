"""The learner's working copy of the lessons, with nothing in it that spoils a prediction."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from transformer_lab.atomic_write import write_whole

REPOSITORY = Path(__file__).parents[3]
EDITIONS_FILE = ".editions.json"
"""Says which edition of each lesson was handed out last; without it a lesson may be offered once too often."""
FIRST_NOTEBOOK = "primer.ipynb"
"""Opened when the learner comes for the first time: by its name it would stand last in the list."""


def open_lab(arguments: Sequence[str]) -> None:
    """Hand the lessons out and open them in JupyterLab, which runs until it is shut down.

    Args:
        arguments: What JupyterLab is told besides, such as ``--no-browser``.

    Raises:
        OSError: The lessons are not there, or nothing can be written.
        ValueError: A lesson is not a notebook.
    """
    folder = working_copy()
    welcome = [] if folder.exists() else [f"--LabApp.default_url=/lab/tree/{FIRST_NOTEBOOK}"]
    for line in copy_lessons(REPOSITORY / "notebooks", folder):
        print(line, flush=True)
    os.environ |= {  # the lessons' kernels inherit them
        "TRANSFORMER_LAB_CHECK_SHAPES": "1",
        "TRANSFORMER_LAB_PARTS": os.environ.get("TRANSFORMER_LAB_PARTS") or str(folder / "parts"),
        "OMP_NUM_THREADS": "1",
    }
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []

    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]  # slow, and needed only here

    LabApp.launch_instance([f"--ServerApp.root_dir={folder}", *as_root, *welcome, *arguments])


def working_copy() -> Path:
    """Find the learner's folder: ``my-lessons``, or what ``TRANSFORMER_LAB_LESSONS`` says."""
    return Path(os.environ.get("TRANSFORMER_LAB_LESSONS") or REPOSITORY / "my-lessons").absolute()


def copy_lessons(published: Path, folder: Path) -> list[str]:
    """Give the learner a copy of each lesson, without its outputs, and touch nothing of the learner's.

    A copy that is missing comes back. Where a newer edition was published, it replaces a copy that was never worked
    on; any other stays as it is, and the newer edition is laid beside it, once.

    Args:
        published: The folder with the executed lessons.
        folder: The learner's folder, made if it is missing.

    Returns:
        What the learner should know, in lines.

    Raises:
        OSError: There are no lessons, or nothing can be written.
        ValueError: A lesson is not a notebook.
    """
    lessons = sorted(published.glob("*.ipynb"))
    if not lessons:
        raise FileNotFoundError(f"no lessons in {published}: they come with the repository, not with the package")
    folder.mkdir(parents=True, exist_ok=True)
    record, messages = _read_record(folder), []
    for lesson in lessons:
        book = _without_outputs(nbformat.read(lesson, as_version=4))
        edition, copy = _edition(book), folder / lesson.name
        before = record.get(lesson.name)
        if not os.path.lexists(copy):
            write_whole(copy, nbformat.writes(book))
        elif edition != before and edition != _edition_of(copy):
            if _is_untouched(copy, before):
                write_whole(copy, nbformat.writes(book))
                messages.append(f"{copy.name}: a newer edition has replaced yours, which you had not begun.")
            else:
                new_copy = _free_name(copy)
                write_whole(new_copy, nbformat.writes(book))
                messages.append(
                    f"{copy.name}: yours is as you left it; a newer edition lies beside it, {new_copy.name}."
                )
        record[lesson.name] = edition
    write_whole(folder / EDITIONS_FILE, json.dumps(record, indent=1))
    return messages


def _is_untouched(copy: Path, handed_out: str | None) -> bool:
    """Say whether a copy is as it was handed out: not edited, and never run."""
    if handed_out is None or _edition_of(copy) != handed_out:
        return False
    cells = nbformat.read(copy, as_version=4).cells
    return not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def _edition_of(copy: Path) -> str | None:
    try:
        return _edition(nbformat.read(copy, as_version=4))
    except Exception:  # whatever has become of it, it is the learner's
        return None


def _edition(book: NotebookNode) -> str:
    """Name an edition by what its author wrote: running, saving or building it anew does not change it."""
    cells = [[c.get("id"), c.cell_type, c.metadata.get("tags", []), c.source] for c in book.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _free_name(copy: Path) -> Path:
    """Find a name beside the copy that nothing has yet."""
    number, new_copy = 1, copy.with_stem(f"{copy.stem} (new edition)")
    while os.path.lexists(new_copy):
        number += 1
        new_copy = copy.with_stem(f"{copy.stem} (new edition {number})")
    return new_copy


def _without_outputs(book: NotebookNode) -> NotebookNode:
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return book


def _read_record(folder: Path) -> dict[str, str]:
    try:
        record = json.loads((folder / EDITIONS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = record if isinstance(record, dict) else {}
    return {lesson: edition for lesson, edition in known.items() if isinstance(edition, str)}
