"""``transformer-lab train``: train a translator on dates or on a parallel corpus."""

import argparse
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_lab.cli.common import add_corpus, add_machine, is_dates, line_errors, set_threads
from transformer_lab.training.config import TrainingConfig

if TYPE_CHECKING:
    from transformer_lab.training.distributed import World
    from transformer_lab.training.trainer import Trainer

DESCRIPTION = """Train a Transformer that translates. Its folder gets everything that is needed to use it: parameters,
configuration, tokenizer, a log that pandas reads, and a checkpoint. Ctrl-C ends training after a step and keeps the
model; the same command goes on where a run was stopped or killed."""

EXAMPLES = """examples:
  transformer-lab train dates
  transformer-lab train train.de.gz train.en.gz --validation val.de.gz val.en.gz -o german
  torchrun --nproc-per-node=2 -m transformer_lab.cli train dates"""

SIZES: dict[str, tuple[type, str, Any, Any]] = {
    "d_model": (int, "width of the vectors between the layers", 64, 256),
    "n_heads": (int, "attention heads of a layer", 4, 8),
    "n_layers": (int, "layers of the encoder, and as many of the decoder", 2, 3),
    "d_ff": (int, "width in the middle of the feed-forward networks", 256, 1024),
    "dropout": (float, "share of what each sublayer adds that training drops", 0.0, 0.1),
    "max_length": (int, "tokens that a sentence may have", 64, 128),
    "vocab_size": (int, "tokens to learn", "as many as characters", 4000),
}
TRAINING: dict[str, tuple[type, str, Any, Any]] = {
    "steps": (int, "steps", 2200, 4000),
    "seed": (int, "of the parameters, the order of the batches, and dropout", 0, 0),
    "batch_tokens": (int, "tokens that the longer side of a batch has at most", 900, 1200),
    "accumulate": (int, "batches that make a step", 1, 1),
    "peak_rate": (float, "highest learning rate, or a factor on that of noam", 4e-3, 1.6e-3),
    "warmup": (int, "steps that the rate rises", 100, 400),
    "smoothing": (float, "label smoothing", 0.1, 0.1),
    "weight_decay": (float, "of matrices; biases and norms have none", 0.01, 0.01),
    "average": (
        float,
        "share of the parameters' running mean kept at a step; 0 has no mean",
        0,
        0.998,
    ),
    "clip": (float, "largest norm of the gradient", 1.0, 1.0),
    "validate_every": (int, "steps between two validations; 0 is only at the end", 0, 500),
    "patience": (int, "validations without a better one that end training; 0 is never", 0, 0),
    "save_every": (int, "steps between two checkpoints", 500, 500),
    "log_every": (int, "steps between two rows of the log", 50, 50),
}
"""Type, meaning, and what the recipes for dates and for corpora have."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "train",
        help="train a translator",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_corpus(parser)
    out = "the model's folder (default: model-dates, or model- and the first file's name up to its first dot)"
    parser.add_argument("-o", "--out", type=Path, metavar="FOLDER", help=out)
    validation = "pairs to judge by, as files like CORPUS: the parameters with the highest BLEU are kept"
    parser.add_argument("--validation", nargs="+", type=Path, default=[], metavar="FILE", help=validation)
    training = parser.add_argument_group("how to train")
    _add_numbers(training, TRAINING)
    noam = "how the rate falls: to 0 along a cosine, or with the root of the step as in the paper (default: cosine)"
    training.add_argument("--schedule", choices=["cosine", "noam"], help=noam)
    bfloat16 = "compute in bfloat16: faster on GPUs, and on CPUs with instructions for it; slower on others"
    training.add_argument("--autocast", action="store_true", default=None, help=bfloat16)
    compiled = "let torch.compile translate the model: pays on long runs with a GPU"
    training.add_argument("--compile", action="store_true", default=None, help=compiled)
    add_machine(training, threads="1 for dates, which more threads would slow down; else as many as torch takes")
    _add_numbers(parser.add_argument_group("size of the model"), SIZES)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train; give the exit code: 0, or 130 if training was stopped."""
    from transformer_lab.training.distributed import distributed_world

    set_threads(args.threads, otherwise=1 if is_dates(args.corpus) else None)
    folder = args.out or _folder(args.corpus)
    with distributed_world() as world:
        trainer = _trainer(args, folder, world)
        finished = trainer.run()
    progress = trainer.progress
    if world.is_main:
        best = "" if progress.best is None else f"; best validation score {progress.best:.2f}"
        print(f"{progress.step} steps in {progress.seconds:.0f} s{best}; the model is in {folder}")
        if not finished:
            print("stopped before the end: the same command goes on")
    return 0 if finished else 130


def _trainer(args: argparse.Namespace, folder: Path, world: "World") -> "Trainer":
    from transformer_lab.device import pick_device
    from transformer_lab.training import recipes

    device = pick_device(args.device)
    typed = {name: value for name, value in vars(args).items() if value is not None}
    training = {field.name: typed[field.name] for field in fields(TrainingConfig) if field.name in typed}
    sizes = {name: typed[name] for name in SIZES if name in typed}
    if is_dates(args.corpus):
        if args.validation or args.vocab_size:
            raise ValueError("dates bring their own validation and vocabulary: no --validation, no --vocab-size")
        config, shape = replace(recipes.DATES, **training), replace(recipes.DATES_MODEL, **sizes)
        return recipes.train_dates(folder, config, shape, device, world)
    config, shape = replace(recipes.CORPUS, **training), replace(recipes.CORPUS_MODEL, **sizes)
    errors = line_errors(args)
    paths = [Path(name) for name in args.corpus]
    trainer = recipes.train_corpus(paths, folder, args.validation, config, shape, errors, device, world)
    if world.is_main and errors.counts:
        print(errors, file=sys.stderr)
    return trainer


def _folder(corpus: list[str]) -> Path:
    return Path(f"model-{Path(corpus[0]).name.split('.')[0]}")


def _add_numbers(group: argparse._ArgumentGroup, options: dict[str, tuple[type, str, Any, Any]]) -> None:
    for name, (kind, meaning, dates, corpus) in options.items():
        default = f"{dates:g}" if dates == corpus else f"{dates} for dates, {corpus} for a corpus"
        flag = f"--{name.replace('_', '-')}"
        group.add_argument(flag, type=kind, metavar="N", help=f"{meaning} (default: {default})")
