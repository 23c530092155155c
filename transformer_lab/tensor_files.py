"""Tensors and JSON in one safetensors file, written atomically and read without running code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from transformer_lab.atomic_write import atomic_write

PARAMETERS = "model.safetensors"
"""Name of the file that holds a model's parameters in its folder."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> None:
    """Write tensors and JSON to one file, atomically.

    Args:
        path: The file.
        tensors: The tensors by name.
        info: What JSON can hold; it becomes the file's metadata.

    Raises:
        OSError: The file cannot be written.
    """
    # safetensors rejects tensors that share memory, as tied embeddings do.
    own = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    # Not save_file, which leaves temporary files of its own when it is killed, and sets modes whatever the umask says.
    content = save(own, metadata={"format": "pt", "info": json.dumps(dict(info))})
    with atomic_write(path) as temporary:
        try:
            temporary.write_bytes(content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the JSON that ``write_tensors`` wrote.

    Raises:
        ValueError: The file is damaged, or ``write_tensors`` did not write it.
        OSError: The file cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            info: dict[str, Any] = json.loads((file.metadata() or {})["info"])
            # Cloned, so that no tensor refers to a file that may be replaced.
            return {name: file.get_tensor(name).clone() for name in file.keys()}, info  # noqa: SIM118  # not a dict
    except OSError:
        raise
    except Exception as error:  # safetensors raises an exception of its own
        raise ValueError(f"{path} is not a checkpoint of this library: {type(error).__name__}: {error}") from error


def load_parameters(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Load parameters by name.

    Args:
        model: The model to load into.
        tensors: A tensor for each of its parameters.
        path: The file that they come from, for error messages.

    Raises:
        ValueError: Parameters are missing, unknown, or of another shape; all of them are named.
    """
    own = model.state_dict()
    problems = [f"{name} is missing" for name in own.keys() - tensors.keys()]
    problems += [f"{name} is unknown" for name in tensors.keys() - own.keys()]
    problems += [
        f"{name} has the shape {tuple(tensors[name].shape)}, not {tuple(own[name].shape)}"
        for name in own.keys() & tensors.keys()
        if tensors[name].shape != own[name].shape
    ]
    if problems:
        raise ValueError(f"{path} does not fit the model: {'; '.join(sorted(problems))}")
    model.load_state_dict(dict(tensors))
