"""The folder of a published model with ``config.json`` and safetensors files, local or downloaded from the hub.

A model without safetensors is read from ``pytorch_model.bin``. A pickle could run arbitrary code, so it is loaded with
``weights_only=True``, which allows only tensors.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from transformer_lab.atomic_write import atomic_write, atomic_write_text

CONFIG, TENSORS, PICKLED = "config.json", "model.safetensors", "pytorch_model.bin"
SAFETENSORS_PATTERNS = ["*.json", "model*.safetensors", "*.spm", "merges.txt"]
"""Files to download, excluding weights for other libraries."""
PICKLE_PATTERNS = ["pytorch_model*.bin"]
"""Additional files to download if there are no safetensors."""
EXAMPLES = "openai-community/gpt2 or, to translate, Helsinki-NLP/opus-mt-en-de"
HUB_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def fetch_model(name: str | Path) -> Path:
    """Return the folder of a model, downloading it from the hub if necessary.

    Args:
        name: A folder or a name on the hub, such as ``Helsinki-NLP/opus-mt-en-de``.

    Raises:
        ValueError: ``name`` is neither a folder nor a name on the hub, or the download failed.
    """
    if (folder := Path(name)).is_dir():
        return folder
    if not HUB_NAME.fullmatch(str(name)):
        raise ValueError(f"{name} is neither a folder nor a name on the hub, such as {EXAMPLES}")
    from huggingface_hub import snapshot_download  # imported here because the import is slow

    try:
        folder = Path(snapshot_download(str(name), allow_patterns=SAFETENSORS_PATTERNS))
        if not any(folder.glob("model*.safetensors")):
            folder = Path(snapshot_download(str(name), allow_patterns=PICKLE_PATTERNS))
    except Exception as error:  # several libraries raise many types of errors
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"{name} is not a local folder, and could not be downloaded from the hub: {reason}") from error
    return folder


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that contains an object.

    Raises:
        ValueError: The file is missing, is not valid JSON, or does not contain an object.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"{path.parent} has no {path.name}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} must contain a JSON object; got {type(found).__name__}")
    return found


def read_model_tensors(folder: Path) -> dict[str, Tensor]:
    """Read the tensors of a model by their published names, from one file or from all files listed in an index.

    Raises:
        ValueError: There are no tensors, a file is missing or corrupted, or a pickle contains other objects.
    """
    for name in (TENSORS, PICKLED):
        if (folder / name).is_file():
            return _read_file(folder / name)
        if (index := folder / f"{name}.index.json").is_file():
            files = read_json(index).get("weight_map")
            if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
                raise ValueError(f"{index} has no weight_map from tensor names to files")
            # Use only the file names, so that no path leads outside this folder.
            parts = sorted({Path(file).name for file in files.values()})
            if missing := [part for part in parts if not (folder / part).is_file()]:
                raise ValueError(f"{folder} lacks files listed in {index.name}: {', '.join(missing)}")
            return {name: tensor for part in parts for name, tensor in _read_file(folder / part).items()}
    raise ValueError(f"{folder} has no {TENSORS}, no {TENSORS}.index.json and no {PICKLED}")


def write_model(folder: Path, options: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write ``config.json`` and one safetensors file, which ``transformers`` can load."""
    write_options(folder, options)
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = save(contiguous, metadata={"format": "pt"})
    with atomic_write(folder / TENSORS) as temporary:
        temporary.write_bytes(content)


def write_options(folder: Path, options: Mapping[str, Any]) -> None:
    """Write the ``config.json`` of a model to its folder, creating the folder if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write_text(folder / CONFIG, json.dumps(dict(options), indent=2) + "\n")


def _read_file(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except SafetensorError as error:
            raise ValueError(f"{path} is corrupted: {' '.join(str(error).split())}") from error
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # files that are not pickles raise many types of errors
        raise ValueError(f"{path} is corrupted or contains objects other than tensors") from error
    if not isinstance(found, dict) or not all(isinstance(tensor, Tensor) for tensor in found.values()):
        raise ValueError(f"{path} must contain a dict from names to tensors")
    return found
