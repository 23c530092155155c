"""Create a private root directory for a job, with only Python, its packages and the job's folder.

Landlock denies reading and writing on other paths, but does not restrict ``stat`` and ``readlink``, which reveal
whether a file exists, its size and its times. In a private root, other files have no path at all. Creating a private
root requires the privilege to mount file systems. Root has this privilege, and so does an unprivileged user inside
namespaces.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from transformer_course.sandbox.linux import disk_quota

BIND = 1 << 12  # man 2 mount
RECURSIVE = 1 << 14


def make(root: str, paths: Iterable[str]) -> bool:
    """Mount an empty file system on a folder and bind paths into it, visible only to this process and its children.

    Args:
        root: The folder.
        paths: The paths to bind under the same names, including symbolic links along each path.

    Returns:
        Whether the system permitted the mounts.
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
    """Bind a folder into an existing private root."""
    _bind(root, Path(folder), [])


def enter(root: str) -> None:
    """Make a folder the root directory of this process, which must not have any other folder open.

    Raises:
        OSError: The system call fails.
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
