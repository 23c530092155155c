"""Whose a file is, told from the names that Canvas, Moodle and GitHub Classroom give to what they let download."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

MOODLE_NAME = re.compile(r"(?P<student>.+?)_(?P<lms_id>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)", re.DOTALL)
"""``Ada Lovelace_98765_assignsubmission_file_``, a folder, or with the name of the file after it."""
CANVAS_NAME = re.compile(r"(?P<student>[^_]+)_(?P<late>LATE_)?(?P<lms_id>\d{3,})_\d{3,}_(?P<file>.+)", re.DOTALL)
"""``lovelaceada_LATE_12345_67890_01_lookup-1.ipynb``: the student, their number, that of the file, and its name."""
CLASS_ZIP = re.compile(r"(^|.*[-_ ])(submissions|submitted)([-_ (].*)?", re.IGNORECASE)
"""What a zip of a class is called, where several zips are given."""


@dataclass(frozen=True)
class DownloadName:
    """What a name tells.

    Args:
        student: The student's name, as the system writes it.
        lms_id: The student's number in that system; empty if it is no such name.
        is_marked_late: Whether the system has marked it as late.
    """

    student: str
    lms_id: str = ""
    is_marked_late: bool = False


def read_download_name(name: str) -> DownloadName | None:
    """Return what the name of a file or folder tells; None if none of these systems gave it.

    Canvas comes first: its names begin with what it knows, and end with what the student has called the file, which
    may look like a name of Moodle's.

    >>> read_download_name("lovelaceada_LATE_12345_67890_01_lookup-1.ipynb")
    DownloadName(student='lovelaceada', lms_id='12345', is_marked_late=True)
    >>> read_download_name("Ada Lovelace_98765_assignsubmission_file_").student
    'Ada Lovelace'
    >>> read_download_name("ada_01_lookup.ipynb")
    """
    if found := CANVAS_NAME.fullmatch(name):
        return DownloadName(found["student"], found["lms_id"], found["late"] is not None)
    if found := MOODLE_NAME.fullmatch(name):
        return DownloadName(found["student"], found["lms_id"])
    return None


def classroom_prefix(folder: str, students: Sequence[str], repositories: Sequence[str]) -> str:
    """Return what stands before the user's name in the names of repositories of GitHub Classroom; "" if they are none.

    Its command makes a folder ``ASSIGNMENT-submissions`` with a repository ``ASSIGNMENT-USER`` for each student.

    Args:
        folder: The name of the folder.
        students: The names of the folders in it.
        repositories: Those of them that are repositories.

    >>> classroom_prefix("week-1-submissions", ["week-1-ada", "week-1-ben-2"], [])
    'week-1-'
    >>> classroom_prefix("class", ["week-1-ada", "week-1-ben"], ["week-1-ada", "week-1-ben"])
    'week-1-'
    >>> classroom_prefix("class", ["ann-lee", "ann-smith"], [])
    ''
    """
    assignment = folder.removesuffix("-submissions")
    if assignment != folder and students and all(name.startswith(f"{assignment}-") for name in students):
        return f"{assignment}-"
    if len(students) > 1 and set(students) == set(repositories):
        first, last = min(students), max(students)
        same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        return first[: first.rfind("-", 0, same) + 1]
    return ""


def zips_of_classes(folder: Path, is_student: Callable[[str], bool]) -> list[Path]:
    """Return the zips in a folder into which nothing but downloads of classes was put; an empty list for any other."""
    if not folder.is_dir() or is_student(folder.resolve().name):
        return []
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    names = [entry.stem for entry in entries if entry.suffix.lower() == ".zip" and not entry.is_symlink()]
    are_classes = all(CLASS_ZIP.fullmatch(name) and not is_student(name) for name in names)
    return entries if are_classes and len(names) == len(entries) else []


def names_several(paths: Iterable[Path]) -> bool:
    """Return whether files, or the folders they are in, are called as a system calls those of several students."""
    parts = {part for path in paths for part in path.parts[-2:]}
    return len({known.lms_id for known in map(read_download_name, parts) if known}) > 1


def folder_of_downloads(path: Path) -> Path:
    """Return the folder or zip in which a system has put what it has named."""
    return Path(*takewhile(lambda part: read_download_name(part) is None, path.parts))
