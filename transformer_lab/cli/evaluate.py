"""``transformer-lab evaluate``: how good a translator is on pairs that it was not trained on."""

import argparse
import sys
from pathlib import Path

from transformer_lab.cli.common import MODEL, add_beam, add_corpus, add_machine, is_dates, load

DESCRIPTION = """Translate a corpus and compare with its translations: exact match, and BLEU and chrF as sacrebleu
computes them (13a tokens, cased). For dates, strings are drawn that no training has seen."""

N_DATES = 1000


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("evaluate", help="evaluate a translator", description=DESCRIPTION, allow_abbrev=False)
    add_corpus(parser)
    parser.add_argument("-m", "--model", default="model-dates", help=MODEL)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws the dates (default: 0)")
    add_beam(parser)
    add_machine(parser, threads="as many as torch takes")
    parser.set_defaults(run=run)


def run(known: argparse.Namespace) -> int:
    """Evaluate, and print a line for each score."""
    from transformer_lab.data.corpus import Problems, read_pairs
    from transformer_lab.data.dates import date_pairs
    from transformer_lab.training.metrics import bleu, chrf, exact_match

    translator = load(known)
    problems = Problems(known.bad_lines)
    if is_dates(known.corpus):
        pairs = date_pairs(N_DATES, known.seed, "held out")
    else:
        paths = [Path(name) for name in known.corpus]
        pairs = [(pair.source, pair.target) for pair in read_pairs(paths, problems)]
    if problems.counts:
        print(problems, file=sys.stderr)
    if not pairs:
        raise ValueError(f"{' and '.join(known.corpus)}: no sentence pair to evaluate")
    translations = list(translator.translate((source for source, _ in pairs), beam_size=known.beam))
    references = [target for _, target in pairs]
    print(f"pairs        {len(pairs):,}")
    print(f"exact match  {exact_match(translations, references):.2f} %")
    print(f"BLEU         {bleu(translations, references):.2f}")
    print(f"chrF         {chrf(translations, references):.2f}")
    return 0
