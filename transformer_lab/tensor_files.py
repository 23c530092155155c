"""Tensors in safetensors files, written atomically."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

PARAMETERS = "model.safetensors"
"""The file of a folder that holds a model's parameters."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> None:
    """Write tensors and JSON to one file that is either the old one or the new one, never half of each."""
    beside = path.with_suffix(".part")
    # safetensors refuses tensors that share memory, as tied embeddings do.
    own = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    save_file(own, beside, metadata={"info": json.dumps(dict(info))})
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
    beside.replace(path)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``write_tensors`` wrote.

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
