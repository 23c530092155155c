"""Load published models into our classes, and save ours as ``transformers`` loads them."""

from pathlib import Path

import torch
from tokenizers import Tokenizer

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer
from transformer_lab.pretrained import gpt2, llama, marian
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.hub import CONFIG, find, read_json, read_tensors, write
from transformer_lab.pretrained.text_tokenizer import TOKENIZER

LANGUAGE_MODELS = {"gpt2": gpt2, "llama": llama}


def load_language_model(name: str | Path, pad_id: int | None = None) -> LanguageModel:
    """Load a model published in the layout of GPT-2 or Llama.

    Args:
        name: A folder with ``config.json`` and safetensors, or a name on the hub.
        pad_id: The token that will fill short texts up and is to be hidden; None if there is none. What a published
            configuration names is not taken: it is often a token that also stands in texts.

    Returns:
        The model in eval mode, in float32.

    Raises:
        ValueError: There is no such model, ours lack some of its options, or its tensors do not fit; all are named.
    """
    folder = find(name)
    options = read_options(folder)
    kind = options.get("model_type", "")
    if kind not in LANGUAGE_MODELS:
        raise ValueError(f"{options.where}: model_type must be {' or '.join(LANGUAGE_MODELS)}; got {kind!r}")
    their = LANGUAGE_MODELS[kind]
    config = their.config_of(options, pad_id)
    model = LanguageModel(config)
    their.layout(config).load(model, read_tensors(folder), str(folder))
    return model.eval()


def load_translation_model(name: str | Path) -> Transformer:
    """Load a translation model published in Marian's layout, as all of ``Helsinki-NLP/opus-mt-…`` are.

    Args:
        name: A folder with ``config.json`` and safetensors, or a name on the hub.

    Returns:
        The model in eval mode, in float32. Its source must be padded with its ``config.source_pad_id``.

    Raises:
        ValueError: There is no such model, ours lack some of its options, or its tensors do not fit; all are named.
    """
    folder = find(name)
    options = read_options(folder)
    if (kind := options.get("model_type", "")) != "marian":
        raise ValueError(f"{options.where}: model_type must be marian; got {kind!r}")
    config = marian.config_of(options)
    model = Transformer(config)
    stored = {marian.BIAS: torch.zeros(1, config.vocab_size)} | read_tensors(folder)  # some have no bias
    marian.layout(config).load(model, stored, str(folder))
    return model.eval()


def read_options(folder: Path) -> Options:
    """Read a model's configuration.

    Raises:
        ValueError: There is none.
    """
    return Options(read_json(folder / CONFIG), str(folder / CONFIG))


def save(
    model: LanguageModel | Transformer,
    folder: Path,
    bos_id: int | None = None,
    eos_id: int | None = None,
    tokenizer: Tokenizer | None = None,
) -> None:
    """Save a model in a published layout that fits: GPT-2's or Llama's, or a Transformer in Marian's.

    ``transformers`` loads it, and so does this library. Dropout is left out where the layout has no place for it.

    Args:
        model: The model.
        folder: Where it goes.
        bos_id: The token that begins a text; a Transformer's target must begin with one.
        eos_id: The token that ends one.
        tokenizer: A language model's, saved beside it: then ``transformer-lab generate`` can use the folder. Marian's
            layout has no place for it.

    Raises:
        ValueError: No layout fits, or a Transformer's ``bos_id`` or ``eos_id`` is not said.
    """
    if isinstance(model, Transformer):
        if misfits := marian.misfits(model.config):
            raise ValueError(f"this model has no published layout; Marian's needs {', '.join(misfits)}")
        if bos_id is None or eos_id is None:
            raise ValueError(f"Marian's layout says how targets begin and end; got bos_id={bos_id}, eos_id={eos_id}")
        write(folder, marian.options_of(model.config, bos_id, eos_id), marian.layout(model.config).tensors(model))
        return
    config = model.config
    all_misfits = {kind: their.misfits(config) for kind, their in LANGUAGE_MODELS.items()}
    fitting = [kind for kind, misfits in all_misfits.items() if not misfits]
    if not fitting:
        needs = "; ".join(f"{kind} needs {', '.join(misfits)}" for kind, misfits in all_misfits.items())
        raise ValueError(f"this model has no published layout: {needs}")
    their = LANGUAGE_MODELS[fitting[0]]
    tokens = {"bos_token_id": bos_id, "eos_token_id": eos_id, "pad_token_id": config.pad_id}
    write(folder, their.options_of(config) | tokens, their.layout(config).tensors(model))
    if tokenizer is not None:
        tokenizer.save(str(folder / TOKENIZER))
