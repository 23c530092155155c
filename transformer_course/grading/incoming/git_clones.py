"""Recognize files checked out by Git. Their modification time is the time of the checkout, not of the submission.

The index of tracked files is read directly, because running ``git`` could execute commands from a student's
``.git/config``.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

MAX_INDEX_BYTES = 64 << 20
FIXED_BYTES = 62
"""Number of bytes before the path in an index entry. These bytes contain times, sizes, a hash and flags."""
IS_EXTENDED = 0x4000
"""Flag that marks an entry with two additional bytes of flags, in version 3 and later."""


def checked_out_files(folder: Path) -> frozenset[Path]:
    """Return the absolute paths of the files in a folder that the folder's Git repository tracks."""
    folder = folder.resolve()
    for above in [folder, *folder.parents]:
        index = _index_of(above / ".git")
        if index is not None:
            paths = (above / path for path in _tracked_paths(index))
            return frozenset(path for path in paths if path.is_relative_to(folder))
    return frozenset()


def _index_of(git: Path) -> bytes | None:
    """Return a repository's index, empty bytes if the index cannot be read, or None if there is no repository."""
    try:
        if git.is_file():  # a worktree or submodule
            git = git.parent / git.read_text("utf-8").removeprefix("gitdir:").strip()
        if not git.is_dir():
            return None
        with (git / "index").open("rb") as file:
            return file.read(MAX_INDEX_BYTES)
    except (OSError, ValueError):
        return b"" if git.exists() else None


def _tracked_paths(index: bytes) -> Iterator[str]:
    """Yield the paths in an index file (see https://git-scm.com/docs/index-format)."""
    try:
        signature, version, n_entries = struct.unpack_from(">4sII", index)
        if signature != b"DIRC" or version not in (2, 3, 4):
            return
        at, path = 12, b""
        for _ in range(n_entries):
            (flags,) = struct.unpack_from(">H", index, at + FIXED_BYTES - 2)
            start = at + FIXED_BYTES + (2 if flags & IS_EXTENDED else 0)
            n_kept = 0
            if version == 4:  # the path shares a prefix with the previous path
                n_dropped, start = _read_number(index, start)
                n_kept = len(path) - n_dropped
            end = index.index(b"\0", start)
            path = path[:n_kept] + index[start:end]
            at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8  # an entry is padded with 1 to 8 zeros
            yield path.decode("utf-8", "surrogateescape")
    except (struct.error, ValueError, IndexError):
        return


def _read_number(index: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length number and the position after it."""
    number = index[at] & 0x7F
    while index[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (index[at] & 0x7F)
    return number, at + 1
