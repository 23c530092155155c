"""``transformer-lab train``: train a translator on dates or on a parallel corpus."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_lab.cli.common import add_corpus, add_machine, is_dates, line_errors, set_threads
from transformer_lab.training import presets
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

TRAINING = {
    "steps": "steps",
    "seed": "of the parameters, the order of the batches, and dropout",
    "batch_tokens": "tokens that the longer side of a batch has at most",
    "accumulate": "batches that make a step",
    "peak_rate": "highest learning rate, or a factor on that of noam",
    "warmup": "steps that the rate rises",
    "smoothing": "label smoothing",
    "weight_decay": "of matrices; biases and norms have none",
    "average": "fraction of the parameters' running mean kept at a step; 0 has no mean",
    "clip": "largest norm of the gradient",
    "validate_every": "steps between two validations; 0 is only at the end",
    "patience": "validations without a better one that end training; 0 is never",
    "save_every": "steps between two checkpoints",
    "log_every": "steps between two rows of the log",
}
"""Numbers of ``TrainingConfig`` that can be set, with their meaning."""

SHAPE = {
    "d_model": "width of the vectors between the layers",
    "n_heads": "attention heads of a layer",
    "n_layers": "layers of the encoder, and as many of the decoder",
    "d_ff": "width in the middle of the feed-forward networks",
    "dropout": "fraction of what each sublayer adds that training drops",
    "max_length": "tokens that a sentence may have",
    "vocab_size": "tokens to learn",
}
"""Numbers of ``TransformerConfig`` that can be set, with their meaning."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
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
    _add_numbers(training, TRAINING, vars(presets.DATES), vars(presets.CORPUS))
    noam = "how the rate falls: to 0 along a cosine, or with the root of the step as in the paper (default: cosine)"
    training.add_argument("--schedule", choices=["cosine", "noam"], help=noam)
    bfloat16 = "compute in bfloat16: faster on GPUs, and on CPUs with instructions for it; slower on others"
    training.add_argument("--autocast", action="store_true", default=None, help=bfloat16)
    compiled = "let torch.compile translate the model: pays on long runs with a GPU"
    training.add_argument("--compile", action="store_true", default=None, help=compiled)
    add_machine(training, threads="1 for dates, which more threads would slow down; else as many as torch takes")
    shape = parser.add_argument_group("size of the model")
    _add_numbers(shape, SHAPE, presets.DATES_SHAPE, presets.CORPUS_SHAPE)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train, and return the exit code: 0, or 130 if training was stopped."""
    from transformer_lab.training.distributed import distributed_world

    set_threads(args.threads, otherwise=1 if is_dates(args.corpus) else None)
    folder = args.out or _default_folder(args.corpus)
    with distributed_world() as world:
        trainer = _make_trainer(args, folder, world)
        finished = trainer.run()
    progress = trainer.progress
    if world.is_main:
        best = "" if progress.best is None else f"; best validation score {progress.best:.2f}"
        print(f"{progress.step} steps in {progress.seconds:.0f} s{best}; the model is in {folder}")
        if not finished:
            print("stopped before the end: the same command goes on")
    return 0 if finished else 130


def _make_trainer(args: argparse.Namespace, folder: Path, world: "World") -> "Trainer":
    """Make the trainer that the arguments describe."""
    from transformer_lab.device import pick_device
    from transformer_lab.training import recipes

    device = pick_device(args.device)
    typed = {name: value for name, value in vars(args).items() if value is not None}
    training = {field.name: typed[field.name] for field in fields(TrainingConfig) if field.name in typed}
    sizes = {name: typed[name] for name in SHAPE if name in typed}
    if is_dates(args.corpus):
        if args.validation or args.vocab_size:
            raise ValueError("dates bring their own validation and vocabulary: no --validation, no --vocab-size")
        config, shape = replace(presets.DATES, **training), replace(recipes.DATES_MODEL, **sizes)
        return recipes.train_dates(folder, config, shape, device, world)
    config, shape = replace(presets.CORPUS, **training), replace(recipes.CORPUS_MODEL, **sizes)
    errors = line_errors(args)
    paths = [Path(name) for name in args.corpus]
    trainer = recipes.train_corpus(paths, folder, args.validation, config, shape, errors, device, world)
    if world.is_main and errors.counts:
        print(errors, file=sys.stderr)
    return trainer


def _default_folder(corpus: list[str]) -> Path:
    return Path(f"model-{Path(corpus[0]).name.split('.')[0]}")


def _add_numbers(
    group: argparse._ArgumentGroup, meanings: Mapping[str, str], dates: Mapping[str, Any], corpus: Mapping[str, Any]
) -> None:
    """Add an option for each number, and show its defaults for dates and for a corpus in its help."""
    for name, meaning in meanings.items():
        for_dates = f"{dates[name]:g}" if name in dates else "as many as characters"
        for_a_corpus = f"{corpus[name]:g}"
        default = for_a_corpus if for_dates == for_a_corpus else f"{for_dates} for dates, {for_a_corpus} for a corpus"
        option, kind = f"--{name.replace('_', '-')}", type(corpus[name])
        group.add_argument(option, type=kind, metavar="N", help=f"{meaning} (default: {default})")
