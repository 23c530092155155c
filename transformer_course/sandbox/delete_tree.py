"""Delete the files that a learner's code wrote, even if they are deeply nested or write-protected."""

import contextlib
import itertools
import math
import os
import secrets
import time


def delete_tree(folder: str, seconds: float = math.inf) -> None:
    """Delete as much of a folder as the system permits within a time limit.

    ``shutil.rmtree`` fails on folders nested too deeply for a path or for recursion, so this function moves each folder
    to the top level before emptying it. It deletes links without following them, and ignores errors.

    Args:
        folder: Path of the folder; a missing folder is not an error.
        seconds: Time limit in seconds; a later call can continue.
    """
    deadline = time.monotonic() + seconds
    prefix = secrets.token_hex(8)  # names that the learner's code cannot predict
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
    """Delete the files in a folder, and return the paths of the folders in it."""
    os.chmod(folder, 0o700)  # a folder whose permissions exclude the owner can be neither read nor moved
    with os.scandir(folder) as entries:
        listed = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for path, is_folder in listed:
        if is_folder:
            os.chmod(path, 0o700)
        else:
            os.unlink(path)
    return [path for path, is_folder in listed if is_folder]
