"""Checkpoints: everything that a training run needs to be resumed as if it had never stopped, in one file.

It is a safetensors file: tensors by name, and JSON in its metadata. Reading it runs no code. It is written atomically:
whenever the run is killed, the old or the new checkpoint is there, whole.
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
    """Save parameters, the state of the optimizers and of torch's random number generators, and ``info``.

    Args:
        path: The file.
        model: The model.
        optimizer: Its optimizer, or several, each of some of its parameters.
        info: What else the run needs, as JSON can hold it.
        ema: The averaged parameters by name, if an average is kept.
    """
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"ema.{name}": tensor for name, tensor in (ema or {}).items()}
    start = 0  # parameters are counted through all optimizers
    for one in _all_of(optimizer):
        for index, state in one.state_dict()["state"].items():
            tensors |= {f"optimizer.{start + index}.{name}": torch.as_tensor(value) for name, value in state.items()}
        start += _n_parameters(one)
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
    """Restore what ``save_training`` saved, and return its ``info``.

    Args:
        path: The file.
        model: The model to load into.
        optimizer: The optimizer to load into, or several in the order in which they were saved.
        ema: The averaged parameters to load into, if an average is kept.
        check: Called with the ``info`` before anything is loaded; it raises ValueError if the run is another one.

    Raises:
        ValueError: The file is damaged, is not a checkpoint of a run, or is of a model of another shape.
        OSError: The file cannot be read.
    """
    tensors, info = read_tensors(path)
    if "random" not in tensors:
        raise ValueError(f"{path} does not hold a training run")
    check(info)
    load_parameters(model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")}, path)
    for name, tensor in plain_names((ema or {}).items()).items():
        stored = tensors.get(f"ema.{name}", tensor)
        if stored.shape != tensor.shape:
            raise ValueError(f"{path} is damaged: the average of {name} has the shape {tuple(stored.shape)}")
        tensor.copy_(stored)
    optimizers = _all_of(optimizer)
    for one, state in zip(optimizers, _states(tensors, optimizers, path), strict=True):
        one.load_state_dict({"state": state, "param_groups": one.state_dict()["param_groups"]})
    try:
        torch.set_rng_state(tensors["random"])
        if "random.cuda" in tensors and torch.cuda.is_available():
            torch.cuda.set_rng_state(tensors["random.cuda"])
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {str(error).splitlines()[0]}") from error
    return info


def _states(
    tensors: Mapping[str, Tensor], optimizers: Sequence[torch.optim.Optimizer], path: Path
) -> list[dict[int, dict[str, Tensor]]]:
    """Return the state of each optimizer: some tensors for each parameter, of its shape or single numbers.

    Raises:
        ValueError: Some are of another shape, are missing, or belong to no parameter.
    """
    stored: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if match := re.fullmatch(r"optimizer\.(\d{1,9})\.(\w+)", name):
            stored.setdefault(int(match[1]), {})[match[2]] = tensor
        elif name.startswith("optimizer."):
            raise ValueError(f"{path} is damaged: it holds {name}")
    states, start = [], 0
    for optimizer in optimizers:
        n = _n_parameters(optimizer)
        states.append({i: stored.pop(start + i) for i in range(n) if start + i in stored})
        _check_state(states[-1], optimizer, path)
        start += n
    if stored:
        raise ValueError(f"{path} is damaged: the optimizer has {start} parameters, and it has state of more")
    return states


def _check_state(state: Mapping[int, Mapping[str, Tensor]], optimizer: torch.optim.Optimizer, path: Path) -> None:
    """Raise ValueError if some of an optimizer's state is of another shape than its parameter, or is missing."""
    index = 0
    for group in optimizer.param_groups:
        own = [(parameter, state.get(index + i, {})) for i, parameter in enumerate(group["params"])]
        index += len(own)
        if len({frozenset(of_one) for _, of_one in own if of_one}) > 1:
            raise ValueError(f"{path} is damaged: of some parameters, a part of the optimizer's state is missing")
        for parameter, of_one in own:
            for name, tensor in of_one.items():
                if tensor.dim() and tensor.shape != parameter.shape:
                    shapes = f"{tuple(tensor.shape)}, of a parameter of shape {tuple(parameter.shape)}"
                    raise ValueError(f"{path} is damaged: {name} of the optimizer has the shape {shapes}")


def _all_of(optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer]) -> Sequence[torch.optim.Optimizer]:
    return [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else optimizer


def _n_parameters(optimizer: torch.optim.Optimizer) -> int:
    return sum(len(group["params"]) for group in optimizer.param_groups)
