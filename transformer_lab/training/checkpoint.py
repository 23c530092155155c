"""Checkpoints: one file with everything needed to resume a training run as if it had never stopped.

A checkpoint is a safetensors file with tensors by name and JSON metadata. Reading it runs no code. It is written
atomically: even if the run is killed, the file contains a complete checkpoint, old or new.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.tensor_files import load_parameters, plain_names, read_tensors, write_tensors

CHECKPOINT_FILE = "checkpoint.safetensors"


def save_training(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer],
    info: Mapping[str, Any],
    ema: Mapping[str, Tensor] | None = None,
) -> None:
    """Save the parameters, the states of the optimizers and of torch's random number generators, and ``info``.

    Args:
        path: The file.
        model: The model.
        optimizer: The model's optimizer, or several optimizers for different parameters.
        info: Other data of the run, in JSON types.
        ema: The averaged parameters, keyed by name, if there is an EMA.
    """
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"ema.{name}": tensor for name, tensor in (ema or {}).items()}
    start = 0  # parameters are numbered across all optimizers
    for each in _all_of(optimizer):
        for index, state in each.state_dict()["state"].items():
            tensors |= {f"optimizer.{start + index}.{name}": torch.as_tensor(value) for name, value in state.items()}
        start += _n_parameters(each)
    tensors["random"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    write_tensors(path, tensors, info)


def load_training(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer],
    ema: Mapping[str, Tensor] | None = None,
    check: Callable[[Mapping[str, Any]], None] = lambda info: None,
) -> dict[str, Any]:
    """Restore the state that ``save_training`` saved, and return its ``info``.

    Args:
        path: The file.
        model: The model to load into.
        optimizer: The optimizer to load into, or several in the order in which they were saved.
        ema: The averaged parameters to load into, if there is an EMA.
        check: Called with the ``info`` before anything is loaded; it raises ValueError if the run does not match.

    Raises:
        ValueError: The file is corrupted, is not a checkpoint, or belongs to a model with different shapes.
        OSError: The file cannot be read.
    """
    tensors, info = read_tensors(path)
    if "random" not in tensors:
        raise ValueError(f"{path} is not a checkpoint of a training run")
    check(info)
    load_parameters(model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")}, path)
    for name, tensor in plain_names((ema or {}).items()).items():
        stored = tensors.get(f"ema.{name}", tensor)
        if stored.shape != tensor.shape:
            shapes = f"shape {tuple(stored.shape)}, but the parameter has shape {tuple(tensor.shape)}"
            raise ValueError(f"{path} is corrupted: the EMA of {name} has {shapes}")
        tensor.copy_(stored)
    optimizers = _all_of(optimizer)
    for each, state in zip(optimizers, _states(tensors, optimizers, path), strict=True):
        each.load_state_dict({"state": state, "param_groups": each.state_dict()["param_groups"]})
    try:
        torch.set_rng_state(tensors["random"])
        if "random.cuda" in tensors and torch.cuda.is_available():
            torch.cuda.set_rng_state(tensors["random.cuda"])
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{path} is corrupted: {str(error).splitlines()[0]}") from error
    return info


def _states(
    tensors: Mapping[str, Tensor], optimizers: Sequence[torch.optim.Optimizer], path: Path
) -> list[dict[int, dict[str, Tensor]]]:
    """Return each optimizer's state: for each parameter, tensors of the parameter's shape or single numbers.

    Raises:
        ValueError: Tensors have the wrong shape, are missing, or do not belong to a parameter.
    """
    stored: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if match := re.fullmatch(r"optimizer\.(\d{1,9})\.(\w+)", name):
            stored.setdefault(int(match[1]), {})[match[2]] = tensor
        elif name.startswith("optimizer."):
            raise ValueError(f"{path} is corrupted: unexpected tensor {name}")
    states, start = [], 0
    for optimizer in optimizers:
        n = _n_parameters(optimizer)
        states.append({i: stored.pop(start + i) for i in range(n) if start + i in stored})
        _check_state(states[-1], optimizer, path)
        start += n
    if stored:
        raise ValueError(f"{path} is corrupted: it has optimizer state for more than {start} parameters")
    return states


def _check_state(state: Mapping[int, Mapping[str, Tensor]], optimizer: torch.optim.Optimizer, path: Path) -> None:
    """Raise ValueError if some of an optimizer's state is missing or does not have the shape of its parameter."""
    index = 0
    for group in optimizer.param_groups:
        own = [(parameter, state.get(index + i, {})) for i, parameter in enumerate(group["params"])]
        index += len(own)
        if len({frozenset(tensors) for _, tensors in own if tensors}) > 1:
            raise ValueError(f"{path} is corrupted: part of the optimizer's state is missing for some parameters")
        for parameter, tensors in own:
            for name, tensor in tensors.items():
                if tensor.dim() and tensor.shape != parameter.shape:
                    shapes = f"shape {tuple(tensor.shape)}, but its parameter has shape {tuple(parameter.shape)}"
                    raise ValueError(f"{path} is corrupted: the optimizer state {name} has {shapes}")


def _all_of(optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer]) -> Sequence[torch.optim.Optimizer]:
    return [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else optimizer


def _n_parameters(optimizer: torch.optim.Optimizer) -> int:
    return sum(len(group["params"]) for group in optimizer.param_groups)
