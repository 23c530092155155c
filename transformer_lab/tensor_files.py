"""Tensors and JSON in one safetensors file, written atomically and read without running code."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from transformer_lab.atomic_write import atomic_write
from transformer_lab.device import without_memory

AnyModel = TypeVar("AnyModel", bound=nn.Module)
PARAMETERS_FILE = "model.safetensors"
MAX_SINUSOIDS = 2**24
"""Maximum number of sinusoids in a model, which take up 64 MiB."""


def plain_names(named: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """Return tensors, keyed by name, without the prefix that ``torch.compile`` adds to a module's names.

    >>> list(plain_names([("_orig_mod.blocks.0._orig_mod.norm.weight", torch.ones(3))]))
    ['blocks.0.norm.weight']
    """
    return {name.replace("_orig_mod.", ""): tensor for name, tensor in named}


def write_tensors(path: Path, tensors: Mapping[str, Tensor], info: Mapping[str, Any]) -> None:
    """Write tensors and JSON to one file atomically.

    Args:
        path: The file.
        tensors: The tensors, keyed by name.
        info: JSON data, which becomes the file's metadata.

    Raises:
        OSError: The file cannot be written.
    """
    # safetensors rejects tensors that share memory, such as tied embeddings.
    own = {name: x.detach().cpu().clone().contiguous() for name, x in plain_names(tensors.items()).items()}
    # save_file would leave temporary files behind when killed, and would ignore the umask.
    content = save(own, metadata={"format": "pt", "info": json.dumps(dict(info))})
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the JSON that ``write_tensors`` wrote.

    Raises:
        ValueError: The file is corrupted, or ``write_tensors`` did not write it.
        OSError: The file cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            info: dict[str, Any] = json.loads((file.metadata() or {})["info"])
            if not isinstance(info, dict):
                raise ValueError(f"the metadata must be a JSON object; got {type(info).__name__}")
            # Clone the tensors, because the file may be replaced.
            return {name: file.get_tensor(name).clone() for name in file.keys()}, info  # noqa: SIM118  # not a dict
    except OSError:
        raise
    except Exception as error:  # safetensors raises its own exception class
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"{path} is not a checkpoint of this library: {reason}") from error


def make_empty(make: Callable[[], AnyModel], n_layers: int, tensors: Mapping[str, Tensor], where: str) -> AnyModel:
    """Return a model whose parameters have shapes but no memory yet, for ``load_parameters`` or ``Layout.load``.

    These functions compare the shapes with the shapes in a file before they allocate memory, so a corrupted
    configuration with a trillion parameters is rejected immediately.

    Args:
        make: Builds the model.
        n_layers: Number of layers, each of which has parameters.
        tensors: The tensors in the file.
        where: Name of the configuration in error messages.

    Raises:
        ValueError: There are more layers than tensors, or the model cannot be built.
    """
    if n_layers > len(tensors):
        raise ValueError(f"{where}: {n_layers=} is too large for a file with {len(tensors)} tensors")
    with described_by(where), without_memory():
        return make()


def check_sinusoids(max_length: int, d_model: int, tensors: Mapping[str, Tensor], where: str) -> None:
    """Raise ValueError if sinusoidal positions, which are not stored, would take far more memory than the file.

    Args:
        max_length: Number of positions.
        d_model: Number of features.
        tensors: The tensors in the file.
        where: Name of the configuration in error messages.

    Raises:
        ValueError: There are more than ``MAX_SINUSOIDS`` sinusoids, and more sinusoids than numbers in the file.
    """
    if max_length * d_model > max(MAX_SINUSOIDS, sum(tensor.numel() for tensor in tensors.values())):
        raise ValueError(f"{where}: {max_length=} and {d_model=} are too large for a file of this size")


@contextmanager
def described_by(where: str) -> Iterator[None]:
    """Add the name of a configuration to errors raised in a block that builds a model or settings from it.

    Raises:
        ValueError: The block raised an error, for example because a size is too large for any tensor.
    """
    try:
        yield
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
        [message, *_] = str(error).splitlines() or [type(error).__name__]  # torch appends a stack trace of its C++ code
        raise ValueError(message if where in message else f"{where}: {message}") from error


def load_parameters(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Load parameters by name.

    Args:
        model: The model to load into, from ``make_empty`` or elsewhere.
        tensors: A tensor for each parameter.
        path: The file with the tensors, for error messages.

    Raises:
        ValueError: Parameters are missing, unknown, or have the wrong shape; the message lists these parameters.
    """
    own = plain_names(model.state_dict().items())
    problems = [f"{name} is missing" for name in own.keys() - tensors.keys()]
    problems += [f"{name} is unknown" for name in tensors.keys() - own.keys()]
    problems += [
        f"{name} has the shape {tuple(tensors[name].shape)}, not {tuple(own[name].shape)}"
        for name in own.keys() & tensors.keys()
        if tensors[name].shape != own[name].shape
    ]
    if problems:
        message = " ".join("; ".join(sorted(problems)).split())  # names may contain newlines
        raise ValueError(f"{path} does not match the model: {message}")
    if any(tensor.is_meta for tensor in own.values()):
        model.to_empty(device="cpu")
    with torch.no_grad():
        for name, tensor in plain_names(model.state_dict().items()).items():
            tensor.copy_(tensors[name])
