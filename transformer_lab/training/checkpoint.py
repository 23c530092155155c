"""Checkpoints: everything a training run needs to go on as if it had never stopped, in one file.

It is a safetensors file: tensors by name, and one JSON text beside them. Reading it runs no code. It is written
beside the old one, flushed to the disk, and put in its place in one step, so that whenever the run is killed one of
the two is there, whole.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

CHECKPOINT, PARAMETERS = "checkpoint.safetensors", "model.safetensors"
"""Where a run stands, and the parameters that are to be used."""


def write_atomically(path: Path, tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> None:
    """Write tensors and JSON to one file that is either the old one or the new one, never half of each."""
    beside = path.with_suffix(".part")
    # safetensors refuses tensors that share memory, as tied embeddings do.
    own = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    save_file(own, beside, metadata={"info": json.dumps(dict(info))})
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
    beside.replace(path)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``write_atomically`` wrote.

    Raises:
        ValueError: The file is damaged, or of another kind.
        OSError: It cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            info: dict[str, Any] = json.loads((file.metadata() or {})["info"])
            # Copied, so that nothing goes on looking at a file that is about to be replaced.
            return {name: file.get_tensor(name).clone() for name in file.keys()}, info  # noqa: SIM118  # not a dict
    except OSError:
        raise
    except Exception as error:  # safetensors raises one of its own
        raise ValueError(f"{path} is no checkpoint of ours: {type(error).__name__}: {error}") from error


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
    write_atomically(path, tensors, info)


def load_training(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Mapping[str, Tensor] | None = None
) -> dict[str, Any]:
    """Put a run back as it was when it was saved, its average too, and give its ``info``.

    Raises:
        ValueError: The file is damaged, holds no run, or one of a model of another shape.
    """
    tensors, info = read(path)
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


def load_parameters(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Load parameters by name, and name all that do not fit.

    Raises:
        ValueError: Parameters are missing, unknown, or of another shape.
    """
    own = model.state_dict()
    wrong = [f"{name} is missing" for name in own.keys() - tensors.keys()]
    wrong += [f"{name} is unknown" for name in tensors.keys() - own.keys()]
    wrong += [
        f"{name} has the shape {tuple(tensors[name].shape)}, not {tuple(own[name].shape)}"
        for name in own.keys() & tensors.keys()
        if tensors[name].shape != own[name].shape
    ]
    if wrong:
        raise ValueError(f"{path} does not fit the model: {'; '.join(sorted(wrong))}")
    model.load_state_dict(dict(tensors))
