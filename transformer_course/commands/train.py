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

DESCRIPTION = """Train a Transformer that translates or, with --text, a language model that continues texts. Its folder
gets everything that is needed to use it: parameters, configuration, tokenizer, a log that pandas reads, and a
checkpoint. Ctrl-C ends training after a step and keeps the model; the same command goes on where a run was stopped or
killed, and with a larger --steps past its end."""

EXAMPLES = """examples:
  transformer-course train dates
  transformer-course train train.de.gz train.en.gz --validation val.de.gz val.en.gz -o german
  transformer-course train --text stories/*.txt -o stories"""

TRAINING = {
    "steps": "steps",
    "seed": "of the parameters, the order of the batches, and dropout",
    "batch_tokens": "tokens that the longer side of a batch has at most",
    "lr": "highest learning rate, or a factor on that of noam",
    "warmup": "steps that the rate rises; in a run that is not longer, a tenth of its steps",
    "label_smoothing": "label smoothing",
    "weight_decay": "of matrices; biases and norms have none",
    "ema": "fraction of the parameters' running mean kept at a step; 0 has no mean",
    "clip": "largest norm of the gradient",
    "validate_every": "steps between two validations; 0 is only at the end",
    "save_every": "steps between two checkpoints",
    "log_every": "steps between two rows of the log",
}
"""Numbers of ``TrainingConfig`` that can be set, with their meaning."""

TRAINING_DEFAULTS: dict[str, Mapping[str, Any]] = {
    "for dates": vars(presets.DATES),
    "for a corpus": vars(presets.CORPUS),
    "for text": vars(presets.TEXT),
}
SHAPE_DEFAULTS: dict[str, Mapping[str, Any]] = {
    "for dates": {**presets.DATES_SHAPE, "vocab_size": "as many as characters"},
    "for a corpus": presets.CORPUS_SHAPE,
    "for text": presets.TEXT_SHAPE,
}

SHAPE = {
    "d_model": "width of the vectors between the layers",
    "n_heads": "attention heads of a layer",
    "n_layers": "layers: of the encoder, and as many of the decoder",
    "d_ff": "width in the middle of the feed-forward networks",
    "dropout": "fraction of what each sublayer adds that training drops",
    "max_length": "tokens that a sentence may have, or that a language model reads at once",
    "vocab_size": "tokens to learn",
}
"""Numbers of ``TransformerConfig`` and ``LanguageModelConfig`` that can be set, with their meaning."""


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
    out = "the model's folder (default: model-dates, or model- and the first file's name up to its first dot)"
    parser.add_argument("-o", "--out", type=Path, metavar="FOLDER", help=out)
    validation = "held-out pairs or texts to judge by, as files like CORPUS: the parameters with the highest BLEU, or"
    validation += " for text the fewest bits per byte, are kept (default: none; for text, the last documents of CORPUS,"
    validation += " a hundredth of its bytes; a single document is not split)"
    parser.add_argument("--validation", nargs="+", type=Path, default=[], metavar="FILE", help=validation)
    training = parser.add_argument_group("how to train")
    _add_numbers(training, TRAINING, TRAINING_DEFAULTS)
    noam = "how the rate falls: to 0 along a cosine, or with the root of the step as in the paper (default: cosine)"
    training.add_argument("--schedule", choices=["cosine", "noam"], help=noam)
    muon = "muon for the matrices of the layers, and AdamW for all else: fewer steps, each of which takes longer"
    training.add_argument("--optimizer", choices=["adamw", "muon"], help=f"{muon} (default: adamw)")
    bfloat16 = "compute in bfloat16: faster on GPUs, and on CPUs with instructions for it; slower on others"
    training.add_argument("--autocast", action="store_true", default=None, help=bfloat16)
    add_machine(training, threads="1 for dates, which more threads would slow down; else as many as torch takes")
    shape = parser.add_argument_group("size of the model")
    _add_numbers(shape, SHAPE, SHAPE_DEFAULTS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train, and return the exit code: 0, or 130 if training was stopped."""
    from transformer_lab.training.folder_lock import folder_lock

    set_threads(args.threads, otherwise=1 if is_dates(args) else None)
    folder = args.out or _default_folder(args.corpus)
    with folder_lock(folder):
        trainer = _make_trainer(args, folder)
        print(_describe(trainer), file=sys.stderr)
        if args.vocab_size and (n_tokens := trainer.model.config.vocab_size) < args.vocab_size:
            print(f"the corpus yields {n_tokens:,} tokens, fewer than --vocab-size {args.vocab_size}", file=sys.stderr)
        finished = trainer.run()
    progress = trainer.progress
    best = "" if progress.best is None else f"; best validation score {progress.best:.2f}"
    if args.text and progress.best is not None:
        best = f"; best validation {-progress.best:.3f} bits per byte"
    print(f"{progress.step} steps in {progress.seconds:.0f} s{best}; the model is in {folder}")
    if not finished:
        print("stopped before the end: the same command goes on")
    return 0 if finished else 130


def _describe(trainer: "Trainer[Any]") -> str:
    """Return what a run learns from, how large its model is, and how long it will take, in one line."""
    n_parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
    per_epoch = len(trainer.batches.plan(0))
    left = max(0, trainer.config.steps - trainer.progress.step)
    n_tokens, step = trainer.model.config.vocab_size, trainer.progress.step
    parts = [f"{trainer.batches}", f"vocabulary of {n_tokens:,} tokens", f"{n_parameters:,} parameters"]
    parts.append(f"{per_epoch:,} step{'s' * (per_epoch != 1)} per epoch")
    if left and step:
        rate = trainer.config.lr_at(step + 1, trainer.model.config.d_model)
        parts.append(f"continues after step {step:,} with the learning rate {rate:.2g}")
    if left:
        minutes = left * trainer.seconds_per_step() / 60
        parts.append(f"{left:,} steps in about {f'{minutes:.0f} min' if minutes >= 1 else 'a minute'}")
    return "; ".join(parts)


def _make_trainer(args: argparse.Namespace, folder: Path) -> "Trainer[Any]":
    """Make the trainer that the arguments describe."""
    from transformer_lab.data.corpus import LineErrors
    from transformer_lab.device import pick_device
    from transformer_lab.training import recipes

    device = pick_device(args.device)
    typed = {name: value for name, value in vars(args).items() if value is not None}
    training = {field.name: typed[field.name] for field in fields(TrainingConfig) if field.name in typed}
    preset = presets.DATES if is_dates(args) else presets.TEXT if args.text else presets.CORPUS
    training.setdefault("warmup", _warmup(folder, training.get("steps", preset.steps), preset.warmup))
    sizes = {name: typed[name] for name in SHAPE if name in typed}
    if is_dates(args):
        if args.validation or args.vocab_size:
            raise ValueError("dates bring their own validation and vocabulary: no --validation, no --vocab-size")
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
    """Return the number of warm-up steps if none was given.

    That is the number of the run that is continued, or else the default; if the run is not longer than the default
    warm-up, a tenth of its steps.
    """
    from transformer_lab.tensor_files import read_tensors
    from transformer_lab.training.checkpoint import CHECKPOINT_FILE

    try:
        warmup = read_tensors(folder / CHECKPOINT_FILE)[1]["training"]["warmup"]
    except (OSError, ValueError, KeyError, TypeError):  # no run, or a damaged one, which the trainer reports
        warmup = None
    if isinstance(warmup, int):
        return warmup
    return default if steps > default else max(1, steps // 10)


def _default_folder(corpus: list[str]) -> Path:
    return Path(f"model-{Path(corpus[0]).name.split('.')[0]}")


def _add_numbers(
    group: argparse._ArgumentGroup, meanings: Mapping[str, str], defaults: Mapping[str, Mapping[str, Any]]
) -> None:
    """Add an option for each number, and show in its help the default for each task, or the one for all of them."""
    for name, meaning in meanings.items():
        values = {task: numbers[name] for task, numbers in defaults.items()}
        displayed = {task: value if isinstance(value, str) else f"{value:g}" for task, value in values.items()}
        alike = len(set(displayed.values())) == 1
        default = displayed["for text"] if alike else ", ".join(f"{value} {task}" for task, value in displayed.items())
        option, kind = f"--{name.replace('_', '-')}", type(values["for text"])
        group.add_argument(option, type=kind, metavar="N", help=f"{meaning} (default: {default})")
