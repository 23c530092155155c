"""``transformer-lab evaluate``: score a translator on pairs that it was not trained on."""

import argparse
import sys
from pathlib import Path

from transformer_lab.cli.common import MODEL, add_beam, add_corpus, add_machine, is_dates, line_errors, load_model

DESCRIPTION = """Translate a corpus and compare with its translations: exact match, and BLEU and chrF as sacrebleu
computes them (13a tokens, cased). For dates, strings are drawn that no training has seen."""

N_TEST_DATES = 1000


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("evaluate", help="evaluate a translator", description=DESCRIPTION, allow_abbrev=False)
    add_corpus(parser)
    parser.add_argument("-m", "--model", default="model-dates", help=MODEL)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws the dates (default: 0)")
    add_beam(parser)
    add_machine(parser, threads="as many as torch takes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Evaluate, print a line for each score, and return the exit code 0.

    Raises:
        ValueError: The corpus has no pairs or a bad line, or the model cannot be loaded.
        OSError: A file cannot be read.
    """
    from transformer_lab.data.corpus import read_pairs
    from transformer_lab.data.dates import date_pairs
    from transformer_lab.training.metrics import bleu, chrf, exact_match

    translator = load_model(args)
    errors = line_errors(args)
    if is_dates(args.corpus):
        pairs = date_pairs(N_TEST_DATES, args.seed, "held out")
    else:
        paths = [Path(name) for name in args.corpus]
        pairs = [(pair.source, pair.target) for pair in read_pairs(paths, errors)]
    if errors.counts:
        print(errors, file=sys.stderr)
    if not pairs:
        raise ValueError(f"{' and '.join(args.corpus)}: no sentence pair to evaluate")
    translations = list(translator.translate((source for source, _ in pairs), beam_size=args.beam))
    references = [target for _, target in pairs]
    print(f"pairs        {len(pairs):,}")
    print(f"exact match  {exact_match(translations, references):.2f} %")
    print(f"BLEU         {bleu(translations, references):.2f}")
    print(f"chrF         {chrf(translations, references):.2f}")
    return 0
