"""Tests for tensor files, including atomic replacement and errors about corrupted or mismatched files."""

import errno
import json
import os
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_lab.tensor_files import load_parameters, read_tensors, write_tensors


def test_written_tensors_and_info_round_trip(tmp_path):
    shared = torch.arange(6.0)
    tensors = {"a": shared, "b": shared, "c": torch.randn(4, 3).T, "d": torch.tensor(7), "e": torch.randn(2).bfloat16()}
    info = {"é": [1, None, 0.1 + 0.2], "nested": {"x": "y"}}
    write_tensors(tmp_path / "x.safetensors", tensors, info)
    found, found_info = read_tensors(tmp_path / "x.safetensors")
    assert found_info == info
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert os.listdir(tmp_path) == ["x.safetensors"]


def test_tensors_are_independent_of_the_file(tmp_path):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(1000)}, {})
    tensors, _ = read_tensors(path)
    path.write_bytes(b"\xff" * path.stat().st_size)
    assert torch.equal(tensors["a"], torch.zeros(1000))


def test_old_file_is_complete_until_replaced(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(3)}, {"version": 1})

    def fail(file):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        write_tensors(path, {"a": torch.ones(3)}, {"version": 2})
    assert read_tensors(path)[1] == {"version": 1}
    assert os.listdir(tmp_path) == ["x.safetensors"]


@pytest.mark.parametrize("length", [0, 7, 100])
def test_rejects_truncated_file(tmp_path, length):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(100)}, {})
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"x\.safetensors is not a checkpoint of this library: "):
        read_tensors(path)


def test_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.safetensors"):
        read_tensors(tmp_path / "nowhere.safetensors")


def test_error_lists_all_mismatched_parameters(tmp_path):
    model = nn.Linear(3, 2)
    with pytest.raises(ValueError) as caught:
        load_parameters(model, {"weight": torch.zeros(3, 2), "scale": torch.zeros(1)}, tmp_path / "x")
    mismatches = "bias is missing; scale is unknown; weight has the shape (3, 2), not (2, 3)"
    assert str(caught.value) == f"{tmp_path / 'x'} does not match the model: {mismatches}"


def test_info_is_json_metadata(tmp_path):
    """Store the info as JSON, which any safetensors library can read without executing code."""
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(2)}, {"step": 3})
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert json.loads(header["__metadata__"]["info"]) == {"step": 3}


def test_full_disk_error_names_and_keeps_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    write_tensors(path, {"a": torch.ones(3)}, {})

    def fill(self, content):
        with self.open("wb") as file:
            file.write(content[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match=rf"No space left on device: '{path}'"):
        write_tensors(path, {"a": torch.zeros(3)}, {})
    assert torch.equal(read_tensors(path)[0]["a"], torch.ones(3))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix file modes")
def test_umask_determines_file_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_tensors(tmp_path / "model.safetensors", {"a": torch.ones(3)}, {})
    finally:
        os.umask(before)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o640
