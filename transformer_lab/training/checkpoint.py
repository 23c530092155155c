"""Checkpoints: everything a training run needs to go on as if it had never stopped, in one file.

It is a safetensors file: tensors by name, and one JSON text beside them. Reading it runs no code. It is written
beside the old one, flushed to the disk, and put in its place in one step, so that whenever the run is killed one of
the two is there, whole.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.tensor_files import load_parameters, read_tensors, write_tensors

CHECKPOINT = "checkpoint.safetensors"
"""Where a run stands."""


def save_training(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    info: Mapping[str, Any],
    average: Mapping[str, Tensor] | None = None,
) -> None:
    """Save a run: parameters, the optimiser's state, torch's random numbers, and what ``info`` says of the rest.

    If an average of the parameters is kept, it is saved as well.
    """
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"average.{name}": tensor for name, tensor in (average or {}).items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in state.items()}
    tensors["random"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    write_tensors(path, tensors, info)


def load_training(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Mapping[str, Tensor] | None = None
) -> dict[str, Any]:
    """Put a run back as it was when it was saved, its average too, and give its ``info``.

    Raises:
        ValueError: The file is damaged, holds no run, or one of a model of another shape.
    """
    tensors, info = read_tensors(path)
    if "random" not in tensors:
        raise ValueError(f"{path} holds no training run")
    load_parameters(model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")}, path)
    for name, tensor in (average or {}).items():
        tensor.copy_(tensors.get(f"average.{name}", tensor))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".", 2)
            state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    torch.set_rng_state(tensors["random"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return info
