"""Tests that atomic writes replace a file either completely or not at all."""

import os
from pathlib import Path

import pytest

from transformer_lab.atomic_write import atomic_write, atomic_write_text


def test_replaces_the_file_and_leaves_no_other_file(tmp_path):
    path = tmp_path / "data.bin"
    for content in (b"the first, which is longer", b"the second"):
        with atomic_write(path) as temporary:
            temporary.write_bytes(content)
            assert not path.exists() or path.read_bytes() != content
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_flushes_the_new_file_before_replacing_the_old(tmp_path, monkeypatch):
    path, flushed = tmp_path / "data.bin", []
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append((os.fstat(file).st_size, path.read_bytes())))
    with atomic_write(path) as temporary:
        temporary.write_bytes(b"newer")
        assert flushed == []
    assert flushed == [(5, b"old")]


class Full(OSError):
    """An error that simulates a full disk."""


@pytest.mark.parametrize("error", [Full, KeyboardInterrupt])
@pytest.mark.parametrize("before", [b"old", None])
def test_failure_in_the_block_keeps_the_old_file(tmp_path, error, before):
    path = tmp_path / "data.bin"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(error), atomic_write(path) as temporary:
        temporary.write_bytes(b"half of the n")
        raise error
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if before is None else [before])


def test_raises_the_error_that_prevented_the_write(tmp_path):
    with pytest.raises(Full), atomic_write(tmp_path / "data.bin"):
        raise Full
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", ["os.fsync", "pathlib.Path.replace"])
def test_failed_flush_or_replace_keeps_the_old_file(tmp_path, monkeypatch, function):
    path = tmp_path / "data.bin"
    path.write_bytes(b"old")

    def fail(*_):
        raise Full("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(function, fail)
        with pytest.raises(Full, match="no space"), atomic_write(path) as temporary:
            temporary.write_bytes(b"new")
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"old"


def test_overwrites_the_temporary_file_of_a_killed_program(tmp_path):
    path = tmp_path / "data.bin"
    with atomic_write(path) as temporary:
        temporary.write_bytes(b"old")
    Path(temporary).write_bytes(b"incomplete file of a killed program")
    with atomic_write(path) as temporary:
        temporary.write_bytes(b"new")
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"new"


def test_writes_escaped_surrogates_as_original_bytes(tmp_path):
    path = tmp_path / "mine.py"
    for text in ("a longer text", "é\udcff"):
        atomic_write_text(path, text)
        assert path.read_bytes() == text.encode(errors="surrogateescape")
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_text_keeps_the_old_file(tmp_path):
    path = tmp_path / "mine.py"
    atomic_write_text(path, "before")
    with pytest.raises(UnicodeEncodeError):
        atomic_write_text(path, "after \ud800")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]
