"""Where to compute."""

import subprocess
import sys

import pytest
import torch

from transformer_lab.device import pick_device, widest_float, without_memory


def test_what_is_asked_for_is_taken():
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("gpus, mps, rank, best", [(0, False, 0, "cpu"), (0, True, 0, "mps"), (2, False, 3, "cuda:1")])
def test_else_the_best_there_is(monkeypatch, gpus, mps, rank, best):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setenv("LOCAL_RANK", str(rank))
    assert pick_device() == torch.device(best)


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta:x", ""])
def test_a_device_that_is_not_there_is_refused_in_one_line(name):
    with pytest.raises(ValueError, match=f"^cannot compute on the device '{name}': [^\n]+$"):
        pick_device(name)


@pytest.mark.parametrize("device, dtype", [("cpu", torch.float64), ("cuda:1", torch.float64), ("mps", torch.float32)])
def test_the_widest_float_is_float64_but_on_mps(device, dtype):
    assert widest_float(torch.device(device)) == dtype


LOADED_LIGHTLY = """
import sys, torch
from transformer_lab.device import without_memory
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
with without_memory():
    model = LanguageModel(LanguageModelConfig(11))
print({p.device.type for p in model.parameters()}, {"sympy", "torch._dynamo"} & {*sys.modules})
"""


def test_models_without_memory_do_not_import_torchs_compiler():
    done = subprocess.run([sys.executable, "-c", LOADED_LIGHTLY], capture_output=True, text=True, check=True)
    assert done.stdout == "{'meta'} set()\n"


def test_afterwards_numbers_are_drawn_again():
    with without_memory():
        assert torch.empty(3).normal_().is_meta
    assert torch.nn.Linear(3, 3).weight.any()
