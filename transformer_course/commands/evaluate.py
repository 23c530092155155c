"""``transformer-course evaluate``: score a model on held-out sentence pairs or texts."""

import argparse
import sys
from pathlib import Path

from transformer_course.commands.common import (
    DEFAULT_MODEL,
    LANGUAGE_MODEL,
    MODEL,
    add_beam,
    add_corpus,
    add_machine,
    check_beam,
    is_dates,
    load_model,
    set_threads,
)

DESCRIPTION = """Translate a corpus, compare the translations with the references, and print exact match, BLEU and chrF
(sacrebleu with 13a tokens, cased). The corpus dates contains dates that were held out from training. With --text,
measure how well a language model predicts text, and print perplexity and bits per byte. You can compare bits per byte
across tokenizers."""

N_TEST_DATES = 1000
BATCH_TOKENS = 2048
"""Maximum number of tokens in a batch, to limit the memory for the logits."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate", help="evaluate a translator or a language model", description=DESCRIPTION, allow_abbrev=False
    )
    add_corpus(parser, text="evaluate a language model on text files")
    parser.add_argument("-m", "--model", help=f"{MODEL}; with --text, {LANGUAGE_MODEL}")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed for drawing dates (default: 0)")
    add_beam(parser)
    add_machine(parser, threads="1 for dates, because more threads are slower; otherwise torch's default")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Evaluate the model, print a line for each score, and return the exit code 0.

    Raises:
        ValueError: The corpus has no pairs, or the model cannot be loaded.
        OSError: A file cannot be read.
    """
    return _evaluate_text(args) if args.text else _evaluate_translations(args)


def _evaluate_text(args: argparse.Namespace) -> int:
    """Print the perplexity and the bits per byte of a language model."""
    from transformer_lab.data.corpus import LineErrors
    from transformer_lab.data.documents import read_documents
    from transformer_lab.device import pick_device
    from transformer_lab.text.text_generator import TextGenerator
    from transformer_lab.training.metrics import perplexity
    from transformer_lab.training.validation import TextValidation

    if args.model is None:
        raise ValueError("evaluate --text requires --model FOLDER")
    set_threads(args.threads)
    model = TextGenerator.load(args.model, pick_device(args.device))
    if model.bos_id is None:
        raise ValueError(f"{args.model} has no beginning-of-text token, so it cannot predict the first token")
    errors = LineErrors()
    texts = list(read_documents([Path(name) for name in args.corpus], errors))
    if errors.counts:
        print(errors, file=sys.stderr)
    if not texts:
        raise ValueError(f"{' and '.join(args.corpus)}: no text to evaluate")
    validation = TextValidation(model.model, model.tokenizer, texts, model.bos_id, BATCH_TOKENS)
    loss, score = validation()
    print(f"documents       {len(texts):,}")
    print(f"bytes           {validation.n_bytes:,}")
    print(f"tokens          {validation.n_tokens:,}, in windows of {validation.window:,}")
    print(f"nats per token  {loss:.3f}")
    print(f"perplexity      {perplexity(loss):.2f}")
    print(f"bits per byte   {-score:.3f}")
    return 0


def _evaluate_translations(args: argparse.Namespace) -> int:
    """Print the exact match, BLEU and chrF scores of a translator."""
    from transformer_lab.data.corpus import LineErrors, read_pairs
    from transformer_lab.data.dates import date_pairs
    from transformer_lab.training.metrics import bleu, chrf, exact_match

    check_beam(args.beam)
    args.model = args.model or DEFAULT_MODEL
    translator = load_model(args, threads=1 if is_dates(args) else None)
    errors = LineErrors()
    if is_dates(args):
        pairs = date_pairs(N_TEST_DATES, args.seed, "held out")
    else:
        paths = [Path(name) for name in args.corpus]
        pairs = [(pair.source, pair.target) for pair in read_pairs(paths, errors)]
    if errors.counts:
        print(errors, file=sys.stderr)
    if not pairs:
        raise ValueError(f"{' and '.join(args.corpus)}: no sentence pairs to evaluate")
    translations = list(translator.translate((source for source, _ in pairs), beam_size=args.beam))
    references = [target for _, target in pairs]
    print(f"pairs        {len(pairs):,}")
    print(f"exact match  {exact_match(translations, references):.2f} %")
    print(f"BLEU         {bleu(translations, references):.2f}")
    print(f"chrF         {chrf(translations, references):.2f}")
    return 0
