"""Load published checkpoints into this library's models, and save models in formats that ``transformers`` loads."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from tokenizers import Tokenizer
from torch import Tensor

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.pretrained import gpt2, llama, marian
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.hub import CONFIG, fetch_model, read_json, read_model_tensors, write_model
from transformer_lab.pretrained.tensor_layout import Layout
from transformer_lab.pretrained.text_tokenizer import TOKENIZER
from transformer_lab.tensor_files import check_sinusoids, described_by, make_empty


@runtime_checkable
class LanguageModelLayout(Protocol):
    """A published layout of language models, such as the module ``gpt2`` or an instance of ``LlamaLayout``."""

    def config_of(self, options: Options, pad_id: int | None = None) -> LanguageModelConfig:
        """Convert a configuration of ``transformers`` into a configuration of this library."""

    def options_of(self, config: LanguageModelConfig) -> dict[str, Any]:
        """Convert a configuration of this library into the options of ``config.json``."""

    def incompatibilities(self, config: LanguageModelConfig) -> list[str]:
        """Return, as ``name=value``, the settings that the layout requires but ``config`` does not have."""

    def layout(self, config: LanguageModelConfig) -> Layout:
        """Return the mapping from the tensors of a checkpoint to our parameters."""


LANGUAGE_MODELS: dict[str, LanguageModelLayout] = {
    "gpt2": gpt2,
    **{layout.model_type: layout for layout in (llama.LLAMA, llama.MISTRAL, llama.QWEN_2, llama.QWEN_3, llama.GEMMA_3)},
}
"""The layout of each ``model_type``; a model is saved in the first matching layout."""


def load_language_model(name: str | Path, pad_id: int | None = None) -> LanguageModel:
    """Load a language model from a checkpoint in the layout of GPT-2, Llama, Mistral, Qwen 2 or 3, or Gemma 3.

    Args:
        name: A folder with ``config.json`` and safetensors, or a name on the hub.
        pad_id: Padding token to mask, or None. The padding token of a published configuration is ignored, because it is
            often a token that also occurs in texts.

    Returns:
        The model in float32 and in evaluation mode.

    Raises:
        ValueError: The model does not exist, this library does not support some of its options, or its tensors do not
            match the configuration; the message lists all problems.
    """
    folder = fetch_model(name)
    options = read_options(folder)
    kind = options.get("model_type", "")
    if kind not in LANGUAGE_MODELS:
        supported = " or ".join(LANGUAGE_MODELS)
        hint = ", a translation model: load it with load_translator"
        is_translation_model = kind in ("", "marian")  # a translator trained with this library has no model_type
        raise ValueError(f"{options.where}: model_type must be {supported}; got {kind!r}{hint * is_translation_model}")
    family = LANGUAGE_MODELS[kind]
    with described_by(options.where):
        config = family.config_of(options, pad_id)
    stored = read_model_tensors(folder)
    model = make_empty(lambda: LanguageModel(config), config.n_layers, stored, options.where)
    family.layout(config).load(model, stored, str(folder))
    return model.eval()


def load_translation_model(name: str | Path) -> Transformer:
    """Load a translation model from a checkpoint in Marian's layout, such as ``Helsinki-NLP/opus-mt-en-de``.

    Args:
        name: A folder with ``config.json`` and safetensors, or a name on the hub.

    Returns:
        The model in float32 and in evaluation mode. Pad its sources with ``config.source_pad_id``.

    Raises:
        ValueError: The model does not exist, this library does not support some of its options, or its tensors do not
            match the configuration; the message lists all problems.
    """
    folder = fetch_model(name)
    options = read_options(folder)
    if (kind := options.get("model_type", "")) != "marian":
        hint = ", a language model: load it with TextGenerator.load"
        raise ValueError(f"{options.where}: model_type must be marian; got {kind!r}{hint * (kind in LANGUAGE_MODELS)}")
    with described_by(options.where):
        config = marian.config_of(options)
    stored = read_model_tensors(folder)
    model = make_empty(lambda: Transformer(config), config.n_layers, stored, options.where)
    check_sinusoids(config.max_length, config.d_model, stored, options.where)
    stored.setdefault(marian.OUTPUT_BIAS, torch.zeros(1, config.vocab_size))  # some checkpoints have no bias
    marian.layout(config).load(model, stored, str(folder))
    return model.eval()


def read_options(folder: Path) -> Options:
    """Read the ``config.json`` of a model.

    Raises:
        ValueError: The file is missing or corrupted.
    """
    return Options(read_json(folder / CONFIG), str(folder / CONFIG))


def save_pretrained(
    model: LanguageModel | Transformer,
    folder: Path,
    bos_id: int | None = None,
    eos_id: int | list[int] | None = None,
    tokenizer: Tokenizer | None = None,
) -> None:
    """Save a model in a format that ``transformers`` and this library can load.

    A language model is saved in the first matching layout of ``LANGUAGE_MODELS``, a ``Transformer`` in Marian's layout.
    Dropout settings without an option in the layout are lost.

    Args:
        model: The model.
        folder: Folder to write to; it is created if necessary.
        bos_id: The token that begins a text; required for a ``Transformer``.
        eos_id: The token that ends a text, or several tokens for a language model; required for a ``Transformer``.
        tokenizer: The tokenizer of a language model, saved with the model so that ``TextGenerator.load`` can read the
            folder. Not used for a ``Transformer``, because Marian has a different kind of tokenizer.

    Raises:
        ValueError: No layout matches the model, or ``bos_id`` or ``eos_id`` of a ``Transformer`` is missing.
    """
    model = getattr(model, "_orig_mod", model)  # unwrap a compiled model
    if isinstance(model, Transformer):
        if settings := marian.incompatibilities(model.config):
            raise ValueError(f"no published layout matches this model; Marian's layout requires {', '.join(settings)}")
        if bos_id is None or not isinstance(eos_id, int):
            raise ValueError(f"Marian's layout requires bos_id and eos_id; got bos_id={bos_id}, eos_id={eos_id}")
        write_model(folder, marian.options_of(model.config, bos_id, eos_id), marian.layout(model.config).tensors(model))
        return
    write_model(folder, published_options(model.config, bos_id, eos_id), published_tensors(model))
    if tokenizer is not None:
        atomic_write_text(folder / TOKENIZER, tokenizer.to_str(pretty=True))


def published_options(
    config: LanguageModelConfig, bos_id: int | None, eos_id: int | list[int] | None
) -> dict[str, Any]:
    """Return the options of a language model for ``config.json``.

    Args:
        config: The model's configuration.
        bos_id: The token that begins a text.
        eos_id: The token that ends a text, or several tokens.

    Raises:
        ValueError: No layout matches the model.
    """
    tokens = {"bos_token_id": bos_id, "eos_token_id": eos_id, "pad_token_id": config.pad_id}
    return _layout_of(config).options_of(config) | tokens


def published_tensors(model: LanguageModel) -> dict[str, Tensor]:
    """Return the parameters of a language model under their published names.

    Raises:
        ValueError: No layout matches the model.
    """
    return _layout_of(model.config).layout(model.config).tensors(model)


def _layout_of(config: LanguageModelConfig) -> LanguageModelLayout:
    required = {kind: layout.incompatibilities(config) for kind, layout in LANGUAGE_MODELS.items()}
    for kind, settings in required.items():
        if not settings:
            return LANGUAGE_MODELS[kind]
    needs = "; ".join(f"{kind} needs {', '.join(settings)}" for kind, settings in required.items())
    raise ValueError(f"no published layout matches this model: {needs}")
