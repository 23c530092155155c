"""Recipes: from a task to a trained translator in a folder, with settings that were found to work."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from transformer_lab.data.batches import Batches, InMemory
from transformer_lab.data.corpus import LineErrors, read_pairs
from transformer_lab.data.dates import date_pairs
from transformer_lab.data.prepare import prepare
from transformer_lab.data.tokenizers import PAD_ID, character_tokenizer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.text.translator import Translator
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.distributed import World
from transformer_lab.training.metrics import bleu, exact_match
from transformer_lab.training.trainer import Trainer
from transformer_lab.training.validation import Validation

N_TRAINING_DATES, N_HELD_OUT_DATES = 60_000, 1000

DATES = TrainingConfig(steps=2200, batch_tokens=900, peak_rate=4e-3, warmup=100)
DATES_MODEL = TransformerConfig(
    vocab_size=500, d_model=64, n_heads=4, d_ff=256, n_layers=2, max_length=64, dropout=0.0, pre_norm=True
)
"""A model of 300,000 parameters that writes 99 of 100 unseen dates right after a minute of training on a CPU."""

CORPUS = TrainingConfig(steps=4000, batch_tokens=1200, peak_rate=1.6e-3, warmup=400, average=0.998, validate_every=500)
CORPUS_MODEL = TransformerConfig(
    vocab_size=4000, d_model=256, n_heads=8, d_ff=1024, n_layers=3, max_length=128, dropout=0.1, pre_norm=True
)
"""A model of 6.6 million parameters, for some ten thousand sentence pairs; for more of them, train longer."""


def train_dates(
    folder: Path,
    config: TrainingConfig = DATES,
    shape: TransformerConfig = DATES_MODEL,
    device: torch.device | str = "cpu",
    world: World | None = None,
) -> Trainer:
    """Make ready to train the embedded task, or to go on if the folder holds a run.

    Args:
        folder: Where tokenizer, model and log go.
        config: How to train.
        shape: The model's; it gets as many tokens as there are characters.
        device: Where to compute.
        world: The processes that train together, and which of them this is. None: this one alone.

    Raises:
        ValueError: The folder's run has other settings.
    """
    pairs = date_pairs(N_TRAINING_DATES, config.seed, "train")
    tokenizer = character_tokenizer(side for pair in pairs for side in pair)
    translator = _translator(tokenizer, shape, config.seed, device)
    sources = InMemory(translator.encode_source(source) for source, _ in pairs)
    targets = InMemory(translator.encode_target(target) for _, target in pairs)
    batches = Batches(sources, targets, config.batch_tokens, PAD_ID, config.seed)
    held_out = date_pairs(N_HELD_OUT_DATES, config.seed, "held out")
    validation = Validation(translator, held_out, exact_match, config.batch_tokens)
    return _trainer(folder, translator, batches, config, validation, world)


def train_corpus(
    paths: Sequence[Path],
    folder: Path,
    validation: Sequence[Path] = (),
    config: TrainingConfig = CORPUS,
    shape: TransformerConfig = CORPUS_MODEL,
    errors: LineErrors | None = None,
    device: torch.device | str = "cpu",
    world: World | None = None,
) -> Trainer:
    """Make ready to train on a parallel corpus, or to go on if the folder holds a run.

    Args:
        paths: The corpus, as ``read_pairs`` takes it.
        folder: Where tokens, tokenizer, model and log go.
        validation: Pairs to judge by, as ``read_pairs`` takes them. None: the last parameters are the best.
        config: How to train.
        shape: The model's; as many tokens are learned as it has, or as many as the corpus gives.
        errors: Where bad lines are noted. None: they are skipped.
        device: Where to compute.
        world: The processes that train together, and which of them this is. None: this one alone.

    Raises:
        ValueError: The corpus holds nothing to train on, or the folder's run has other settings.
        OSError: A file cannot be read or written.
    """
    world, errors = world or World(), errors or LineErrors()
    pairs = [(pair.source, pair.target) for pair in read_pairs(validation, errors)] if validation else []
    if world.is_main:
        prepare(paths, folder / "data", shape.vocab_size, shape.max_length, errors)
    world.barrier()
    tokenizer, sources, targets = prepare(paths, folder / "data", shape.vocab_size, shape.max_length)
    translator = _translator(tokenizer, shape, config.seed, device)
    batches = Batches(sources, targets, config.batch_tokens, PAD_ID, config.seed)
    judge = Validation(translator, pairs, bleu, config.batch_tokens) if validation else None
    return _trainer(folder, translator, batches, config, judge, world)


def _translator(tokenizer: Tokenizer, shape: TransformerConfig, seed: int, device: torch.device | str) -> Translator:
    torch.manual_seed(seed)
    model = Transformer(replace(shape, vocab_size=tokenizer.get_vocab_size()))
    return Translator(model.to(device), tokenizer)


def _trainer(
    folder: Path,
    translator: Translator,
    batches: Batches,
    config: TrainingConfig,
    validation: Validation | None,
    world: World | None,
) -> Trainer:
    trainer = Trainer(translator.model, batches, config, folder, validation, world)
    if trainer.world.is_main:
        translator.save_description(folder)
    return trainer
