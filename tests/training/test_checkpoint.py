"""Checkpoints: all comes back, and what is damaged or of another model is named."""

import json
import os
import random

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from transformer_lab.tensor_files import load_parameters, read_tensors, write_tensors
from transformer_lab.training.checkpoint import load_training, save_training
from transformer_lab.training.optimizer import make_optimizer


def run(steps=0):
    """Make a small model and its optimiser, and train them a little on random numbers."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Linear(5, 2))
    optimizer = make_optimizer(model)
    return model, optimizer, [train(model, optimizer) for _ in range(steps)]


def train(model, optimizer):
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    loss = model(torch.randn(7, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def test_a_run_goes_on_as_if_it_had_never_stopped(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    expected = run(steps=9)[2]
    model, optimizer, losses = run(steps=4)
    save_training(path, model, optimizer, {"step": 4})
    model, optimizer, _ = run(steps=1)  # another run altogether
    assert load_training(path, model, optimizer) == {"step": 4}
    assert losses + [train(model, optimizer) for _ in range(5)] == expected


def test_all_that_was_written_is_read(tmp_path):
    shared = torch.arange(6.0)
    tensors = {"a": shared, "b": shared, "c": torch.randn(4, 3).T, "d": torch.tensor(7), "e": torch.randn(2).bfloat16()}
    info = {"é": [1, None, 0.1 + 0.2], "nested": {"x": "y"}}
    write_tensors(tmp_path / "x.safetensors", tensors, info)
    found, found_info = read_tensors(tmp_path / "x.safetensors")
    assert found_info == info
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert os.listdir(tmp_path) == ["x.safetensors"]


def test_what_was_read_does_not_look_at_the_file_any_more(tmp_path):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(1000)}, {})
    tensors, _ = read_tensors(path)
    path.write_bytes(b"\xff" * path.stat().st_size)
    assert torch.equal(tensors["a"], torch.zeros(1000))


def test_the_old_one_is_whole_until_the_new_one_is(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(3)}, {"version": 1})

    def fail(file):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        write_tensors(path, {"a": torch.ones(3)}, {"version": 2})
    assert read_tensors(path)[1] == {"version": 1}


@pytest.mark.parametrize("damage", ["cut", "empty", "header", "text", "no info"])
def test_a_damaged_checkpoint_is_named(tmp_path, damage):
    path = tmp_path / "checkpoint.safetensors"
    model, optimizer, _ = run(steps=1)
    save_training(path, model, optimizer, {})
    data = path.read_bytes()
    rng = random.Random(0)
    if damage == "no info":
        save_file({"a": torch.zeros(1)}, path)
    else:
        path.write_bytes(
            {
                "cut": data[: len(data) // 2],
                "empty": b"",
                "header": bytes(rng.randrange(256) for _ in range(64)) + data[64:],
                "text": b"not a checkpoint",
            }[damage]
        )
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors is no checkpoint of ours: "):
        load_training(path, model, optimizer)


def test_a_file_of_parameters_alone_is_no_run(tmp_path):
    model, optimizer, _ = run()
    write_tensors(tmp_path / "model.safetensors", model.state_dict(), {})
    with pytest.raises(ValueError, match=r"model\.safetensors holds no training run"):
        load_training(tmp_path / "model.safetensors", model, optimizer)


def test_a_file_that_is_not_there_is_not_called_damaged(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.safetensors"):
        read_tensors(tmp_path / "nowhere.safetensors")


def test_parameters_that_do_not_fit_are_all_named(tmp_path):
    model = nn.Linear(3, 2)
    with pytest.raises(ValueError) as caught:
        load_parameters(model, {"weight": torch.zeros(3, 2), "scale": torch.zeros(1)}, tmp_path / "x")
    said = "bias is missing; scale is unknown; weight has the shape (3, 2), not (2, 3)"
    assert str(caught.value) == f"{tmp_path / 'x'} does not fit the model: {said}"


def test_the_information_is_json_beside_the_tensors(tmp_path):
    """Anyone can read it, with any safetensors library, and reading it runs no code."""
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(2)}, {"step": 3})
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert json.loads(header["__metadata__"]["info"]) == {"step": 3}
