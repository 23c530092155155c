"""The folder of a published model: ``config.json`` and safetensors files, here or fetched from the hub.

Where a model has no safetensors, its ``pytorch_model.bin`` is read. That is a pickle, which could run any code, so
torch is made to read tensors from it and nothing else (``weights_only``); before torch 2.6 that could be got round, and
such files are refused.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

CONFIG, TENSORS, PICKLED = "config.json", "model.safetensors", "pytorch_model.bin"
FETCHED = ["*.json", "model*.safetensors", "*.spm", "merges.txt"]  # not what other libraries keep beside them
FETCHED_INSTEAD = ["pytorch_model*.bin"]


def find(name: str | Path) -> Path:
    """Find the folder of a model, fetching it from the hub if need be.

    Args:
        name: A folder, or a name on the hub, such as ``Helsinki-NLP/opus-mt-en-de``.

    Raises:
        ValueError: It is neither, or cannot be fetched.
    """
    if (folder := Path(name)).is_dir():
        return folder
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", str(name)):
        raise ValueError(f"{name} is neither a folder nor a name on the hub, such as Helsinki-NLP/opus-mt-en-de")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ValueError(f"{name} is no folder here; to fetch it from the hub: pip install huggingface_hub") from error
    try:
        folder = Path(snapshot_download(str(name), allow_patterns=FETCHED))
        if not any(folder.glob("model*.safetensors")):
            folder = Path(snapshot_download(str(name), allow_patterns=FETCHED_INSTEAD))
    except Exception as error:  # of many kinds, from many libraries
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"{name} is no folder here, and could not be fetched from the hub: {reason}") from error
    return folder


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    Raises:
        ValueError: There is no such file, or it holds something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"{path.parent} has no {path.name}") from error
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} must hold an object; got {type(found).__name__}")
    return found


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Read all tensors of a model, by their names there, from one file or from all that an index lists.

    Raises:
        ValueError: There are none, a file is missing or damaged, or it holds more than tensors.
    """
    for name in (TENSORS, PICKLED):
        if (folder / name).is_file():
            return _read_file(folder / name)
        if (index := folder / f"{name}.index.json").is_file():
            files = read_json(index).get("weight_map")
            if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
                raise ValueError(f"{index} has no weight_map that says in which files the tensors are")
            parts = sorted({Path(file).name for file in files.values()})  # none outside of this folder
            if missing := [part for part in parts if not (folder / part).is_file()]:
                raise ValueError(f"{folder} lacks what {index.name} lists: {', '.join(missing)}")
            return {name: tensor for part in parts for name, tensor in _read_file(folder / part).items()}
    raise ValueError(f"{folder} has no {TENSORS}, no {TENSORS}.index.json, and no {PICKLED}")


def write(folder: Path, options: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a model's folder, as ``transformers`` reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(whole, folder / TENSORS, metadata={"format": "pt"})
    (folder / CONFIG).write_text(json.dumps(dict(options), indent=2) + "\n", encoding="utf-8")


def _read_file(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except SafetensorError as error:
            raise ValueError(f"{path} is damaged: {error}") from error
    if torch.__version__ < "2.6":  # compares as versions do
        raise ValueError(f"reading {path} safely needs torch 2.6; this is {torch.__version__}")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # of many kinds, for what is no pickle
        raise ValueError(f"{path} is damaged, or holds more than tensors") from error
    if not isinstance(found, dict) or not all(isinstance(tensor, Tensor) for tensor in found.values()):
        raise ValueError(f"{path} must hold tensors by name")
    return found
