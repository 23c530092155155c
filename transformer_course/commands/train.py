"""``transformer-course train``: train a translator on dates or a parallel corpus, or a language model on text."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_course.commands.common import add_corpus, add_machine, is_dates, set_threads
from transformer_lab.training import presets
from transformer_lab.training.config import TrainingConfig

if TYPE_CHECKING:
    from transformer_lab.training.trainer import Trainer

DESCRIPTION = """Train a Transformer for translation or, with --text, a language model. The output folder contains
everything you need to use the model or to continue training: parameters, configuration, tokenizer, a CSV log, and a
checkpoint. Ctrl-C stops training after the current step and saves the model. To resume a run that was stopped or
killed, run the same command again. To continue a finished run, increase --steps."""

EXAMPLES = """examples:
  transformer-course train dates
  transformer-course train train.de.gz train.en.gz --validation val.de.gz val.en.gz -o german
  transformer-course train --text stories/*.txt -o stories"""

TRAINING = {
    "steps": "number of training steps",
    "seed": "random seed for parameters, the order of batches, and dropout",
    "batch_tokens": "maximum number of tokens on the longer side of a batch",
    "lr": "peak learning rate, or a factor for the noam schedule",
    "warmup": "number of warm-up steps; by default, a short run uses a tenth of its steps",
    "label_smoothing": "fraction of the probability that label smoothing moves away from the right token",
    "weight_decay": "weight decay for matrices; biases and norms have no weight decay",
    "ema": "decay of the parameters' exponential moving average; 0 turns it off",
    "clip": "maximum norm of the gradient",
    "validate_every": "number of steps between validations; 0 means one validation at the end",
    "save_every": "number of steps between checkpoints",
    "log_every": "number of steps between rows of the log",
}
"""Numeric options of ``TrainingConfig``, with their help texts."""

TRAINING_DEFAULTS: dict[str, Mapping[str, Any]] = {
    "for dates": vars(presets.DATES),
    "for a corpus": vars(presets.CORPUS),
    "for text": vars(presets.TEXT),
}
SHAPE_DEFAULTS: dict[str, Mapping[str, Any]] = {
    "for dates": {**presets.DATES_SHAPE, "vocab_size": "number of characters"},
    "for a corpus": presets.CORPUS_SHAPE,
    "for text": presets.TEXT_SHAPE,
}

SHAPE = {
    "d_model": "width of the vectors between layers",
    "n_heads": "number of attention heads in each layer",
    "n_layers": "number of layers in the encoder and in the decoder",
    "d_ff": "width of the hidden layer of the feed-forward networks",
    "dropout": "dropout probability of each sublayer's output",
    "max_length": "maximum number of tokens in a sentence, or in a language model's context window",
    "vocab_size": "maximum number of tokens in the vocabulary",
}
"""Numeric options of ``TransformerConfig`` and ``LanguageModelConfig``, with their help texts."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "train",
        help="train a translator or a language model",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_corpus(parser, text="train a language model on text files")
    out = "the output folder (default: model-dates, or model-NAME, where NAME is the name of the first file up to its "
    out += "first dot)"
    parser.add_argument("-o", "--out", type=Path, metavar="FOLDER", help=out)
    validation = "files with held-out pairs or texts, in the same format as CORPUS; training saves the parameters with"
    validation += " the highest BLEU or, with --text, with the fewest bits per byte (default: none; with --text, the"
    validation += " last documents in CORPUS, about a hundredth of its bytes; a single document is not split)"
    parser.add_argument("--validation", nargs="+", type=Path, default=[], metavar="FILE", help=validation)
    training = parser.add_argument_group("training")
    _add_numbers(training, TRAINING, TRAINING_DEFAULTS)
    noam = "learning rate schedule: cosine decays to 0; noam is the paper's inverse square root (default: cosine)"
    training.add_argument("--schedule", choices=["cosine", "noam"], help=noam)
    muon = "muon uses Muon for the layers' matrices and AdamW for all other parameters; it needs fewer, slower steps"
    training.add_argument("--optimizer", choices=["adamw", "muon"], help=f"{muon} (default: adamw)")
    bfloat16 = "compute in bfloat16, which is faster on GPUs and on CPUs with bfloat16 instructions, but slower on "
    bfloat16 += "other CPUs"
    training.add_argument("--autocast", action="store_true", default=None, help=bfloat16)
    add_machine(training, threads="1 for dates, because more threads are slower; otherwise torch's default")
    shape = parser.add_argument_group("model size")
    _add_numbers(shape, SHAPE, SHAPE_DEFAULTS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train the model, and return the exit code 0, or 130 if training was stopped."""
    from transformer_lab.training.folder_lock import folder_lock

    set_threads(args.threads, default=1 if is_dates(args) else None)
    folder = args.out or _default_folder(args.corpus)
    with folder_lock(folder):
        trainer = _make_trainer(args, folder)
        print(_describe(trainer), file=sys.stderr)
        if args.vocab_size and (n_tokens := trainer.model.config.vocab_size) < args.vocab_size:
            message = f"the vocabulary has only {n_tokens:,} tokens, fewer than --vocab-size {args.vocab_size}"
            print(message, file=sys.stderr)
        finished = trainer.run()
    progress = trainer.progress
    best = "" if progress.best is None else f"; best validation score {progress.best:.2f}"
    if args.text and progress.best is not None:
        best = f"; best validation {-progress.best:.3f} bits per byte"
    print(f"{progress.step} steps in {progress.seconds:.0f} s{best}; the model is in {folder}")
    if not finished:
        print("stopped before the end: run the same command to continue")
    return 0 if finished else 130


def _describe(trainer: "Trainer[Any]") -> str:
    """Return a one-line summary of the data, the size of the model and the estimated training time."""
    n_parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
    per_epoch = len(trainer.batches.plan(0))
    left = max(0, trainer.config.steps - trainer.progress.step)
    n_tokens, step = trainer.model.config.vocab_size, trainer.progress.step
    parts = [f"{trainer.batches}", f"vocabulary of {n_tokens:,} tokens", f"{n_parameters:,} parameters"]
    parts.append(f"{per_epoch:,} step{'s' * (per_epoch != 1)} per epoch")
    if left and step:
        rate = trainer.config.lr_at(step + 1, trainer.model.config.d_model)
        parts.append(f"continues after step {step:,} with learning rate {rate:.2g}")
    if left:
        minutes = left * trainer.seconds_per_step() / 60
        parts.append(f"{left:,} steps in about {f'{minutes:.0f} min' if minutes >= 1 else 'a minute'}")
    return "; ".join(parts)


def _make_trainer(args: argparse.Namespace, folder: Path) -> "Trainer[Any]":
    """Create the trainer that the arguments specify."""
    from transformer_lab.data.corpus import LineErrors
    from transformer_lab.device import pick_device
    from transformer_lab.training import recipes

    device = pick_device(args.device)
    given = {name: value for name, value in vars(args).items() if value is not None}
    training = {field.name: given[field.name] for field in fields(TrainingConfig) if field.name in given}
    preset = presets.DATES if is_dates(args) else presets.TEXT if args.text else presets.CORPUS
    training.setdefault("warmup", _warmup(folder, training.get("steps", preset.steps), preset.warmup))
    sizes = {name: given[name] for name in SHAPE if name in given}
    if is_dates(args):
        if args.validation or args.vocab_size:
            raise ValueError(
                'the corpus "dates" has its own validation set and vocabulary; remove --validation and --vocab-size'
            )
        config, shape = replace(preset, **training), replace(recipes.DATES_MODEL, **sizes)
        return recipes.train_dates(folder, config, shape, device)
    errors = LineErrors()
    paths = [Path(name) for name in args.corpus]
    trainer: Trainer[Any]
    if args.text:
        config, text_shape = replace(preset, **training), replace(recipes.TEXT_MODEL, **sizes)
        trainer = recipes.train_text(paths, folder, args.validation, config, text_shape, errors, device)
    else:
        config, shape = replace(preset, **training), replace(recipes.CORPUS_MODEL, **sizes)
        trainer = recipes.train_corpus(paths, folder, args.validation, config, shape, errors, device)
    if errors.counts:
        print(errors, file=sys.stderr)
    return trainer


def _warmup(folder: Path, steps: int, default: int) -> int:
    """Return the number of warm-up steps for a run without ``--warmup``.

    A resumed run keeps its number of warm-up steps. A new run uses the default, or a tenth of its steps if the run is
    not longer than the default warm-up.
    """
    from transformer_lab.tensor_files import read_tensors
    from transformer_lab.training.checkpoint import CHECKPOINT_FILE

    try:
        warmup = read_tensors(folder / CHECKPOINT_FILE)[1]["training"]["warmup"]
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
    ):  # no run, or a corrupted run, which the trainer reports
        warmup = None
    if isinstance(warmup, int):
        return warmup
    return default if steps > default else max(1, steps // 10)


def _default_folder(corpus: list[str]) -> Path:
    return Path(f"model-{Path(corpus[0]).name.split('.')[0]}")


def _add_numbers(
    group: argparse._ArgumentGroup, meanings: Mapping[str, str], defaults: Mapping[str, Mapping[str, Any]]
) -> None:
    """Add an option for each number. The help text shows the default for each task, or one default for all tasks."""
    for name, meaning in meanings.items():
        values = {task: numbers[name] for task, numbers in defaults.items()}
        displayed = {task: value if isinstance(value, str) else f"{value:g}" for task, value in values.items()}
        is_shared = len(set(displayed.values())) == 1
        per_task = ", ".join(f"{value} {task}" for task, value in displayed.items())
        default = displayed["for text"] if is_shared else per_task
        option, kind = f"--{name.replace('_', '-')}", type(values["for text"])
        group.add_argument(option, type=kind, metavar="N", help=f"{meaning} (default: {default})")
