"""Find the submitted files in a folder and in the zips inside it."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from transformer_course.grading.incoming.git_clones import checked_out_files
from transformer_course.grading.incoming.platform_names import notebook_stem, read_platform_name
from transformer_course.grading.incoming.submission_times import (
    CLONE_TIME,
    DOWNLOAD_TIME,
    TIMESTAMP_FILE,
    Time,
    are_download_times,
    modification_time,
    nbgrader_time,
)
from transformer_course.grading.incoming.submitted_file import (
    MAX_DEPTH,
    MAX_NOTEBOOK_BYTES,
    NO_NOTEBOOK_IN_FOLDER,
    SYSTEM_FILES,
    SubmittedFile,
    UnreadableFile,
    is_hidden,
    not_a_notebook,
    read_at_most,
)
from transformer_course.grading.incoming.zip_files import files_in_zip


def files_below(
    folder: Path, ignore: Path | None = None, *, of_nbgrader: bool = False, zone: ZoneInfo | None = None
) -> Iterator[SubmittedFile]:
    """Find the files in a folder and in its zips, skipping hidden files and links.

    An empty direct subfolder is yielded with a problem, because it belongs to a student. Read each file before
    requesting the next file.

    Args:
        folder: The folder.
        ignore: A folder to skip.
        of_nbgrader: Whether nbgrader collected the files, so that its timestamp files can be trusted.
        zone: The time zone of the course. None means the local time zone.
    """
    entries = sorted(entry for entry in folder.iterdir() if not is_hidden(entry.name))
    clones, checked_out, root = _clones(entries), checked_out_files(folder), folder.resolve()
    if len(clones) == 1:  # a single repository may be a student's own, so only its tracked files count as cloned
        checked_out, clones = checked_out | checked_out_files(clones.pop()), set()

    downloads = {entry for entry in entries if read_platform_name(entry.name)}
    unpacked = [path for entry in downloads for path in (_files_in_tree(entry, ignore) if entry.is_dir() else [entry])]
    is_download = are_download_times([moment for path in unpacked if (moment := modification_time(path)[0])])

    def time(path: Path) -> Time:
        student, assignment, *_ = (*path.relative_to(folder).parts, "", "")
        stamp = folder / student / assignment / TIMESTAMP_FILE
        if of_nbgrader and stamp.is_file() and not stamp.is_symlink():
            return nbgrader_time(stamp, zone)
        is_cloned = folder / student in clones or root / path.relative_to(folder) in checked_out
        if is_cloned or (is_download and folder / student in downloads):
            return None, CLONE_TIME if is_cloned else DOWNLOAD_TIME
        return modification_time(path)

    for entry in entries:
        if entry.is_symlink() and entry.is_dir():
            problem = "This is a link to a folder somewhere else, and links are not followed."
            yield SubmittedFile(entry, (entry.name,), problem=problem)
        elif entry.is_dir() and not _is_same(entry, ignore):
            found = False
            for path in sorted(_files_in_tree(entry, ignore)):
                for submitted_file in _file(path, path.relative_to(folder).parts, time(path)):
                    found = True
                    yield submitted_file
            if not found:
                yield SubmittedFile(entry, (entry.name,), problem=NO_NOTEBOOK_IN_FOLDER)
        elif not entry.is_dir():
            yield from _file(entry, (entry.name,), time(entry))


def _clones(entries: Sequence[Path]) -> set[Path]:
    """Return the entries that are Git repositories, or an empty set unless most students' entries are repositories."""
    submissions = [entry for entry in entries if entry.is_dir() or entry.suffix.lower() in (".ipynb", ".zip")]
    clones = {entry for entry in submissions if (entry / ".git").exists()}
    return clones if 2 * len(clones) > len(submissions) else set()


def _files_in_tree(folder: Path, ignore: Path | None) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        depth = len(Path(parent).relative_to(folder).parts)
        folders[:] = [
            name
            for name in folders
            if depth < MAX_DEPTH and not is_hidden(name) and not _is_same(Path(parent, name), ignore)
        ]
        yield from (Path(parent, name) for name in files if not is_hidden(name))


def _file(path: Path, parts: tuple[str, ...], time: Time) -> Iterator[SubmittedFile]:
    suffix = path.suffix.lower()
    if notebook_stem(path.name) is not None:
        yield notebook_file(path, parts, time)
    elif suffix == ".zip" and not path.is_symlink() and path.is_file():
        yield from files_in_zip(path, (*parts[:-1], path.stem), time)
    elif path.name.lower() not in SYSTEM_FILES:
        yield SubmittedFile(path, parts, bytes, *time, problem=not_a_notebook(path.name), is_notebook=False)


def notebook_file(path: Path, parts: tuple[str, ...], time: Time) -> SubmittedFile:
    """Return a notebook in the file system, with its submission time."""

    def read() -> bytes:
        try:
            if path.is_symlink() or not path.is_file():
                raise UnreadableFile("This is a link or a special file, not a regular file.")
            with path.open("rb") as file:
                return read_at_most(file, MAX_NOTEBOOK_BYTES)
        except OSError as error:
            raise UnreadableFile(f"The file cannot be read: {error.strerror}.") from error

    return SubmittedFile(path, parts, read, *time)


def _is_same(path: Path, other: Path | None) -> bool:
    return other is not None and path.resolve() == other.resolve()
