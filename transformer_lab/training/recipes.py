"""Recipes: create the trainer for a task, with its model, data and validation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.data.batches import Batch, Batches, InMemory, TextBatch, WindowBatches
from transformer_lab.data.corpus import LineErrors, read_pairs
from transformer_lab.data.dates import date_pairs
from transformer_lab.data.documents import read_documents
from transformer_lab.data.prepare import HELD_OUT, prepare, prepare_text, sha256_of
from transformer_lab.data.tokenizers import EOS_ID, PAD_ID, character_tokenizer
from transformer_lab.device import without_memory
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.pretrained.hub import write_options
from transformer_lab.pretrained.load import published_options, published_tensors
from transformer_lab.pretrained.text_tokenizer import TOKENIZER
from transformer_lab.text.translator import Translator
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.metrics import bleu, exact_match
from transformer_lab.training.presets import CORPUS, CORPUS_SHAPE, DATES, DATES_SHAPE, TEXT, TEXT_SHAPE
from transformer_lab.training.trainer import Trainer
from transformer_lab.training.validation import TextValidation, Validation

N_TRAINING_DATES, N_HELD_OUT_DATES = 60_000, 1000
"""Numbers of pairs for ``train_dates``."""

DATES_MODEL = TransformerConfig(vocab_size=500, **DATES_SHAPE)
"""The model for dates; ``train_dates`` replaces ``vocab_size`` with the number of characters."""
CORPUS_MODEL = TransformerConfig(**CORPUS_SHAPE)
"""The model for a parallel corpus; ``vocab_size`` is the maximum size of the learned vocabulary."""
TEXT_MODEL = LanguageModelConfig(**TEXT_SHAPE)
"""The language model for text; ``vocab_size`` is the maximum size of the learned vocabulary."""


def train_dates(
    folder: Path,
    config: TrainingConfig = DATES,
    shape: TransformerConfig = DATES_MODEL,
    device: torch.device | str = "cpu",
) -> Trainer[Batch]:
    """Create a trainer for the built-in task; if the folder contains a run, resume it.

    Args:
        folder: Folder for the tokenizer, the model and the log.
        config: The training settings.
        shape: Configuration of the model; ``vocab_size`` is replaced with the number of characters.
        device: The device to compute on.

    Raises:
        ValueError: The folder's run has different settings.
    """
    pairs = date_pairs(N_TRAINING_DATES, config.seed, "train")
    tokenizer = character_tokenizer(side for pair in pairs for side in pair)
    translator = _make_translator(tokenizer, shape, config.seed, device)
    sources = InMemory(translator.encode_source(source) for source, _ in pairs)
    targets = InMemory(translator.encode_target(target) for _, target in pairs)
    batches = Batches(sources, targets, config.batch_tokens, PAD_ID, config.seed)
    held_out = date_pairs(N_HELD_OUT_DATES, config.seed, "held out")
    validation = Validation(translator, held_out, exact_match, config.batch_tokens)
    return _make_trainer(folder, translator, batches, config, validation)


def train_corpus(
    paths: Sequence[Path],
    folder: Path,
    validation: Sequence[Path] = (),
    config: TrainingConfig = CORPUS,
    shape: TransformerConfig = CORPUS_MODEL,
    errors: LineErrors | None = None,
    device: torch.device | str = "cpu",
) -> Trainer[Batch]:
    """Create a trainer for a parallel corpus; if the folder contains a run, resume it.

    Args:
        paths: The files of the corpus, as for ``read_pairs``.
        folder: Folder for the tokens, the tokenizer, the model and the log.
        validation: The files of held-out pairs, as for ``read_pairs``. If empty, the last parameters are saved.
        config: The training settings.
        shape: Configuration of the model; ``vocab_size`` is the maximum size of the vocabulary learned from the corpus.
        errors: Records bad lines. None creates a new record.
        device: The device to compute on.

    Raises:
        ValueError: The corpus has no usable pair, or the folder's run has different settings.
        OSError: A file cannot be read or written.
    """
    errors = errors or LineErrors()
    _check_shape(Transformer, shape)
    pairs = [(pair.source, pair.target) for pair in read_pairs(validation, errors)] if validation else []
    if validation and not pairs:
        raise ValueError(f"{' and '.join(path.name for path in validation)}: found no usable validation pairs")
    tokenizer, sources, targets = prepare(paths, folder / "data", shape.vocab_size, shape.max_length, errors)
    translator = _make_translator(tokenizer, shape, config.seed, device)
    batches = Batches(sources, targets, config.batch_tokens, PAD_ID, config.seed)
    validate = Validation(translator, pairs, bleu, config.batch_tokens) if validation else None
    return _make_trainer(folder, translator, batches, config, validate, _hashes(validation))


def train_text(
    paths: Sequence[Path],
    folder: Path,
    validation: Sequence[Path] = (),
    config: TrainingConfig = TEXT,
    shape: LanguageModelConfig = TEXT_MODEL,
    errors: LineErrors | None = None,
    device: torch.device | str = "cpu",
) -> Trainer[TextBatch]:
    """Create a trainer for a language model on text files; if the folder contains a run, resume it.

    The folder has the format of a published model, which ``load_language_model`` and ``TextGenerator`` can load. The
    token that ends a text also begins it.

    Args:
        paths: The text files, as for ``read_documents``.
        folder: Folder for the tokens, the tokenizer, the model and the log.
        validation: The files of held-out text, as for ``read_documents``. If empty, the last documents of ``paths`` are
            held out. A single document is not held out; then the last parameters are saved as the best.
        config: The training settings.
        shape: Configuration of the model; ``vocab_size`` is the maximum size of the vocabulary learned from the text,
            and ``max_length`` is the length of the text windows.
        errors: Records bad lines. None creates a new record.
        device: The device to compute on.

    Raises:
        ValueError: There is no text, no published layout matches ``shape``, or the folder's run has different settings.
        OSError: A file cannot be read or written.
    """
    errors, data = errors or LineErrors(), folder / "data"
    _check_shape(LanguageModel, shape)
    tokenizer, windows = prepare_text(paths, data, shape.vocab_size, shape.max_length, not validation, errors)
    texts = list(read_documents(validation or [data / HELD_OUT], errors))
    torch.manual_seed(config.seed)
    model = LanguageModel(replace(shape, vocab_size=tokenizer.get_vocab_size())).to(device)
    batches = WindowBatches(windows, config.batch_tokens, config.seed)
    validate = TextValidation(model, tokenizer, texts, EOS_ID, config.batch_tokens) if texts or validation else None
    held_out = _hashes(validation)
    trainer = Trainer(model, batches, config, folder, validate, published_tensors, held_out)
    write_options(folder, published_options(model.config, bos_id=EOS_ID, eos_id=EOS_ID))
    atomic_write_text(folder / TOKENIZER, tokenizer.to_str(pretty=True))
    return trainer


def _check_shape(model: type[Transformer] | type[LanguageModel], shape: Any) -> None:
    """Raise ValueError if a model of this shape cannot be built or saved, before a corpus is read."""
    with without_memory():
        model(shape)
    if isinstance(shape, LanguageModelConfig):
        published_options(shape, bos_id=None, eos_id=None)


def _hashes(paths: Sequence[Path]) -> dict[str, str]:
    return {path.name: sha256_of(path) for path in paths}


def _make_translator(
    tokenizer: Tokenizer, shape: TransformerConfig, seed: int, device: torch.device | str
) -> Translator:
    torch.manual_seed(seed)
    model = Transformer(replace(shape, vocab_size=tokenizer.get_vocab_size()))
    return Translator(model.to(device), tokenizer)


def _make_trainer(
    folder: Path,
    translator: Translator,
    batches: Batches,
    config: TrainingConfig,
    validation: Validation | None,
    held_out: Mapping[str, str] | None = None,
) -> Trainer[Batch]:
    trainer = Trainer(translator.model, batches, config, folder, validation, held_out=held_out)
    translator.save_description(folder)
    return trainer
