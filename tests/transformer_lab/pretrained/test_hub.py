"""Tests for reading and downloading published models from single files, shards, pickles and corrupted files."""

import json
import pickle
from pathlib import Path

import huggingface_hub
import pytest
import torch

from tests.transformer_lab.pretrained.small_checkpoints import VARIANTS, difference, drawn
from transformer_lab.pretrained.hub import fetch_model, read_json, read_model_tensors, write_model
from transformer_lab.pretrained.load import load_translation_model

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b.c": torch.ones(4)}


def assert_tensors(found):
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], TENSORS[name]) for name in TENSORS)


def test_written_model_round_trips(tmp_path):
    write_model(tmp_path / "new" / "folder", {"model_type": "gpt2"}, TENSORS)
    assert_tensors(read_model_tensors(tmp_path / "new" / "folder"))
    assert read_json(tmp_path / "new" / "folder" / "config.json") == {"model_type": "gpt2"}


def test_reads_tensors_from_several_files(tmp_path):
    theirs = drawn(VARIANTS["Marian"])
    theirs.save_pretrained(tmp_path, max_shard_size="2KB")
    shards = sorted(path.name for path in tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 5
    assert difference(load_translation_model(tmp_path), theirs) < 1e-4
    (tmp_path / shards[1]).unlink()
    with pytest.raises(ValueError, match=f"lacks files listed in model.safetensors.index.json: {shards[1]}$"):
        load_translation_model(tmp_path)


def test_index_cannot_reference_files_outside_its_folder(tmp_path):
    write_model(tmp_path, {}, TENSORS)
    inside = tmp_path / "inside"
    inside.mkdir()
    index = {"weight_map": {"a": "../model.safetensors"}}
    (inside / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=r"lacks files listed in .*: model.safetensors$"):
        read_model_tensors(inside)


@pytest.mark.parametrize("index", [{}, {"weight_map": ["a"]}, {"weight_map": {"a": 1}}], ids=str)
def test_rejects_index_without_weight_map(tmp_path, index):
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=r"index.json has no weight_map from tensor names to files"):
        read_model_tensors(tmp_path)


def test_error_names_corrupted_files(tmp_path):
    with pytest.raises(ValueError, match=f"{tmp_path.name} has no config.json$"):
        read_json(tmp_path / "config.json")
    for text, message in {
        "{": "is not valid JSON",
        "[]": "must contain a JSON object; got list",
        '"\\ud800': "is not valid JSON",
    }.items():
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ValueError, match=f"config.json {message}"):
            read_json(tmp_path / "config.json")
    (tmp_path / "config.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ValueError, match="is not valid JSON"):
        read_json(tmp_path / "config.json")
    with pytest.raises(ValueError, match=r"has no model.safetensors, no model.safetensors.index.json and no pytorch_m"):
        read_model_tensors(tmp_path)
    write_model(tmp_path, {}, TENSORS)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ValueError, match=r"model.safetensors is corrupted: "):
        read_model_tensors(tmp_path)


def test_reads_pickled_tensors_without_safetensors(tmp_path):
    torch.save(TENSORS, tmp_path / "pytorch_model.bin")
    assert_tensors(read_model_tensors(tmp_path))
    torch.save({"a": torch.zeros(1)}, tmp_path / "pytorch_model.bin")
    write_model(tmp_path, {}, TENSORS)
    assert_tensors(read_model_tensors(tmp_path))


class Trap:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def pickled(found: object, path: Path) -> None:
    path.write_bytes(pickle.dumps(found, protocol=2))


@pytest.mark.parametrize("save", [torch.save, pickled], ids=["torch.save", "pickle"])
def test_never_executes_code_in_a_pickle(tmp_path, save):
    created, path = tmp_path / "created", tmp_path / "pytorch_model.bin"
    save({"trap": Trap(created)}, path)
    with pytest.raises(ValueError, match=r"pytorch_model.bin is corrupted or contains objects other than tensors$"):
        read_model_tensors(tmp_path)
    assert not created.exists()
    if save is pickled:
        pickle.loads(path.read_bytes())
    else:
        torch.load(path, weights_only=False)
    assert created.exists(), "without protection, unpickling the trap must create the file"


def test_rejects_a_file_that_is_not_a_pickle(tmp_path):
    for garbage in (b"", b"garbage", bytes(range(256))):
        (tmp_path / "pytorch_model.bin").write_bytes(garbage)
        with pytest.raises(ValueError, match=r"pytorch_model.bin is corrupted"):
            read_model_tensors(tmp_path)


@pytest.mark.parametrize("found", [[torch.ones(1)], {"a": 1}], ids=["a list", "a number"])
def test_rejects_pickles_of_arbitrary_objects(tmp_path, found):
    torch.save(found, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model.bin must contain a dict from names to tensors$"):
        read_model_tensors(tmp_path)


def test_does_not_download_local_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", None)
    assert fetch_model(tmp_path) == tmp_path
    (tmp_path / "org" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert fetch_model("org/model") == Path("org/model")


@pytest.mark.parametrize("has_safetensors", [True, False])
def test_downloads_pickles_only_without_safetensors(tmp_path, monkeypatch, has_safetensors):
    downloads = []

    def download(name, allow_patterns):
        downloads.append((name, allow_patterns))
        if has_safetensors:
            write_model(tmp_path, {}, TENSORS)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert fetch_model("Helsinki-NLP/opus-mt-en-de") == tmp_path
    expected = [["*.json", "model*.safetensors", "*.spm", "merges.txt"], ["pytorch_model*.bin"]][
        : 1 if has_safetensors else 2
    ]
    assert downloads == [("Helsinki-NLP/opus-mt-en-de", patterns) for patterns in expected]


def test_reports_failed_download_on_one_line(monkeypatch):
    def fail(name, allow_patterns):
        raise OSError("no route\nto host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    message = r"^some/model is not a local folder, and could not be downloaded from the hub: OSError: no route to host$"
    with pytest.raises(ValueError, match=message):
        fetch_model("some/model")


@pytest.mark.parametrize("name", ["gpt2", "./runs/mine", "a/b/c", "/nowhere/at/all", "../x"])
def test_rejects_invalid_name_without_contacting_the_hub(name, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", None)
    with pytest.raises(ValueError, match="is neither a folder nor a name on the hub, such as openai-community/gpt2 or"):
        fetch_model(name)
