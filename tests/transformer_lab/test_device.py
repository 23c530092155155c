"""Tests for choosing a device and for creating tensors without memory."""

import pytest
import torch

from transformer_lab.device import pick_device, widest_float, without_memory


def test_returns_the_requested_device():
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("gpus, mps, best", [(0, False, "cpu"), (0, True, "mps"), (2, False, "cuda")])
def test_defaults_to_the_best_device(monkeypatch, gpus, mps, best):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device() == torch.device(best)


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta:x", ""])
def test_rejects_unavailable_device_with_one_line_error(name):
    with pytest.raises(ValueError, match=f"^device '{name}' is not available: [^\n]+$"):
        pick_device(name)


@pytest.mark.parametrize("device, dtype", [("cpu", torch.float64), ("cuda:1", torch.float64), ("mps", torch.float32)])
def test_widest_float_is_float64_except_on_mps(device, dtype):
    assert widest_float(torch.device(device)) == dtype


def test_initialization_works_after_the_block():
    with without_memory():
        assert torch.empty(3).normal_().is_meta
    assert torch.nn.Linear(3, 3).weight.any()
