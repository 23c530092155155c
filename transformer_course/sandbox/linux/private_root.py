"""A file system of a job's own, in which only Python, its packages and the job's folder exist.

Landlock denies reading and writing elsewhere, but has no rule for ``stat`` and ``readlink``: whether a file exists, its
size and its times would be open. A process that has changed its root cannot name any other file. This needs mounts,
which root has, and an ordinary user in namespaces.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from transformer_course.sandbox.linux import disk_quota

BIND = 1 << 12  # man 2 mount
RECURSIVE = 1 << 14


def make(root: str, paths: Iterable[str]) -> bool:
    """Mount an empty file system on a folder, and bind paths into it; for this process and its children only.

    Args:
        root: The folder.
        paths: What exists in it, below the same names, with the symbolic links on the way there.

    Returns:
        Whether the system permits it.
    """
    try:
        os.makedirs(root, exist_ok=True)
        disk_quota.enter_own_mounts()
        disk_quota.mount_on("tmpfs", root, "tmpfs", disk_quota.NO_SET_UID, "size=1m,mode=755")
        bound: list[Path] = []
        for path in sorted(paths):
            _bind(root, Path(path), bound)
    except OSError:
        return False
    return True


def bind_folder(root: str, folder: str) -> None:
    """Let a folder exist in a root that was made before."""
    _bind(root, Path(folder), [])


def enter(root: str) -> None:
    """Make a folder the root of this process, which must have no other folder open.

    Raises:
        OSError: The system refuses.
    """
    os.chroot(root)
    os.chdir("/")


def _bind(root: str, path: Path, bound: list[Path]) -> None:
    here = Path("/")
    parts: Sequence[str] = path.parts[1:]
    for i, part in enumerate(parts):
        here /= part
        if here in bound:
            return
        there = Path(root + str(here))
        if here.is_symlink():
            link = os.readlink(here)
            if not os.path.lexists(there):
                there.symlink_to(link)
            _bind(root, Path(os.path.normpath(os.path.join(here.parent, link, *parts[i + 1 :]))), bound)
            return
        if not here.exists():
            return
        if here.is_dir():
            there.mkdir(mode=0o755, exist_ok=True)
        else:
            there.touch()
    disk_quota.mount_on(str(here), root + str(here), None, BIND | RECURSIVE, None)
    bound.append(here)
