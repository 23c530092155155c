"""Publish a model with its tokenizer and model card, in a folder or on the Hugging Face Hub.

``load_translator`` and ``TextGenerator.load`` can load a published model from the folder or from the hub.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from transformer_course.commands.model_card import CARD_FILE, model_card
from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.pretrained.hub import HUB_NAME
from transformer_lab.pretrained.load import save_pretrained
from transformer_lab.tensor_files import PARAMETERS_FILE, write_tensors
from transformer_lab.text.text_generator import TextGenerator
from transformer_lab.text.translator import Translator

TRANSLATE = """
from transformer_lab import load_translator

translator = load_translator({name!r})
print(*translator.translate(["a text"]))
"""
GENERATE = """
from transformer_lab import TextGenerator

model = TextGenerator.load({name!r})
print(model.generate(["a text to continue"], max_new_tokens=20))
"""


def save_model(
    model: Translator | TextGenerator, folder: str | Path, measured: Mapping[str, str], name: str | None = None
) -> Path:
    """Save a model with its tokenizer and model card, and return the folder.

    Args:
        model: A translator trained with this library, or a language model.
        folder: Folder for the files. It is created if necessary.
        measured: Measurements for the model card, keyed by name.
        name: The model's name on the model card. None means the name of the folder.

    Raises:
        ValueError: There is no published layout for the language model's architecture.
        OSError: The folder cannot be written.
    """
    folder = Path(folder)
    if isinstance(model, Translator):
        model.save_description(folder)
        write_tensors(folder / PARAMETERS_FILE, model.model.state_dict(), {})
        description, task, usage = "A Transformer for translation", "translation", TRANSLATE
    else:
        ends = list(model.eos_ids)
        eos_id = ends if len(ends) > 1 else next(iter(ends), None)
        save_pretrained(model.model, folder, model.bos_id, eos_id, model.tokenizer)
        description, task, usage = "A language model", "text-generation", GENERATE
    usage = usage.format(name=name or str(folder))
    title = name or folder.name
    card = model_card(model.model, model.model.config, title, description, task, usage, measured)
    atomic_write_text(folder / CARD_FILE, card)
    return folder


def push_model(model: Translator | TextGenerator, name: str, measured: Mapping[str, str]) -> str:
    """Upload a model with its tokenizer and model card to the hub, and return its URL.

    Args:
        model: As in ``save_model``.
        name: Name of the model on the hub, such as ``ada/dates``. If the model exists, it gets a new version.
        measured: As in ``save_model``.

    Raises:
        ValueError: ``name`` is not a valid name on the hub, there is no published layout for the language model's
            architecture, or the upload failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        return push_folder(save_model(model, folder, measured, name), name)


def push_folder(folder: Path, name: str) -> str:
    """Upload all files in a folder to the hub with the account from ``hf auth login``, and return the URL.

    Args:
        folder: The folder.
        name: Name of the model on the hub, such as ``ada/dates``. A new repository is private.

    Raises:
        ValueError: ``name`` is not a valid name on the hub, or the upload failed.
    """
    if not HUB_NAME.fullmatch(name):
        raise ValueError(f"{name} is not a valid name on the hub; use a name such as ada/dates")
    from huggingface_hub import HfApi

    try:
        api = HfApi()
        address = str(api.create_repo(name, private=True, exist_ok=True))
        api.upload_folder(repo_id=name, folder_path=folder, commit_message="Upload with Transformer Course")
    except Exception as error:  # several libraries raise many types of errors
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"could not upload {name} to the hub: {reason}") from error
    return address
