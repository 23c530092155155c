"""Where to compute."""

import pytest
import torch

from transformer_lab.device import pick_device, widest_float, without_memory


def test_what_is_asked_for_is_taken():
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("gpus, mps, best", [(0, False, "cpu"), (0, True, "mps"), (2, False, "cuda")])
def test_else_the_best_there_is(monkeypatch, gpus, mps, best):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device() == torch.device(best)


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta:x", ""])
def test_a_device_that_is_not_there_is_refused_in_one_line(name):
    with pytest.raises(ValueError, match=f"^cannot compute on the device '{name}': [^\n]+$"):
        pick_device(name)


@pytest.mark.parametrize("device, dtype", [("cpu", torch.float64), ("cuda:1", torch.float64), ("mps", torch.float32)])
def test_the_widest_float_is_float64_but_on_mps(device, dtype):
    assert widest_float(torch.device(device)) == dtype


def test_afterwards_numbers_are_drawn_again():
    with without_memory():
        assert torch.empty(3).normal_().is_meta
    assert torch.nn.Linear(3, 3).weight.any()
