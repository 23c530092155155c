"""Delete what a learner's code left behind, however it left it."""

import contextlib
import itertools
import math
import os
import secrets
import time


def remove(folder: str, seconds: float = math.inf) -> None:
    """Delete a folder with all that is in it, as far as the system lets us, and stop after some time.

    ``shutil.rmtree`` fails on folders within folders within folders, too deep for a path or for recursion. So each
    folder is lifted to the top before it is emptied. Links are deleted, never followed.
    """
    deadline = time.monotonic() + seconds
    prefix = secrets.token_hex(8)  # nobody has taken these names on purpose
    names = (os.path.join(folder, f"{prefix}-{number}") for number in itertools.count())
    with contextlib.suppress(OSError):
        while inner := _delete_files(folder):
            for path in inner:
                for deeper in _delete_files(path):
                    os.rename(deeper, next(names))
                os.rmdir(path)
                if time.monotonic() > deadline:
                    return
        os.rmdir(folder)


def _delete_files(folder: str) -> list[str]:
    """Delete the files in a folder, and list the folders in it."""
    os.chmod(folder, 0o700)  # it may have been closed to its owner; a closed folder cannot be lifted either
    with os.scandir(folder) as entries:
        found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for path, is_folder in found:
        if is_folder:
            os.chmod(path, 0o700)
        else:
            os.unlink(path)
    return [path for path, is_folder in found if is_folder]
