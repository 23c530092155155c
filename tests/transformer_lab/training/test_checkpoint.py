"""Tests that a run resumes exactly from a checkpoint, and that corrupted or unsuitable files are rejected."""

import random

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from transformer_lab.tensor_files import write_tensors
from transformer_lab.training.checkpoint import load_training, save_training
from transformer_lab.training.optimizer import make_optimizer


def run(steps=0):
    """Create a small model and its optimizer, and train for some steps on random numbers."""
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


def test_resumed_run_matches_an_uninterrupted_run(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    expected = run(steps=9)[2]
    model, optimizer, losses = run(steps=4)
    save_training(path, model, optimizer, {"step": 4})
    model, optimizer, _ = run(steps=1)  # loading the checkpoint must replace this unrelated state
    assert load_training(path, model, optimizer) == {"step": 4}
    assert losses + [train(model, optimizer) for _ in range(5)] == expected


@pytest.mark.parametrize("damage", ["cut", "empty", "header", "text", "no info"])
def test_rejects_corrupted_checkpoint(tmp_path, damage):
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
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors is not a checkpoint of this library: "):
        load_training(path, model, optimizer)


def test_rejects_a_file_with_only_parameters(tmp_path):
    model, optimizer, _ = run()
    write_tensors(tmp_path / "model.safetensors", model.state_dict(), {})
    with pytest.raises(ValueError, match=r"model\.safetensors is not a checkpoint of a training run"):
        load_training(tmp_path / "model.safetensors", model, optimizer)


@pytest.mark.parametrize("compiled", ["when saved", "when loaded"])
def test_compiled_and_plain_models_share_checkpoints(tmp_path, compiled):
    path = tmp_path / "checkpoint.safetensors"
    model, optimizer, _ = run(steps=2)
    other, other_optimizer, _ = run()
    expected = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    saved = torch.compile(model, backend="eager") if compiled == "when saved" else model
    loaded = torch.compile(other, backend="eager") if compiled == "when loaded" else other
    average = {name: tensor + 1 for name, tensor in saved.named_parameters()}
    save_training(path, saved, optimizer, {}, average)
    loaded_average = {name: tensor.detach().clone() for name, tensor in loaded.named_parameters()}
    load_training(path, loaded, other_optimizer, loaded_average)
    for name, tensor in other.state_dict().items():
        assert torch.equal(tensor, expected[name])
    for ours, theirs in zip(loaded_average.values(), average.values(), strict=True):
        assert torch.equal(ours, theirs)
