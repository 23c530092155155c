"""Functions that several commands share: adding arguments, loading models and printing output."""

import argparse
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer_lab.text.translator import TextTranslator

DEFAULT_MODEL = "model-dates"
MODEL = f"a model folder, or a published model such as Helsinki-NLP/opus-mt-en-de (default: {DEFAULT_MODEL})"
LANGUAGE_MODEL = """a model folder with config.json, safetensors, and tokenizer.json (or vocab.json and merges.txt),
in the layout of GPT-2, Llama, Mistral, Qwen 2 or 3, or Gemma 3, such as the output of transformer-course train
--text; or the name of a published model, such as openai-community/gpt2"""
MAX_BEAM_SIZE = 1000
DATES = "dates"

CORPUS = """dates (the built-in task, which needs no download: convert dates in 32 languages to ISO 8601); or a file
of sentence pairs, with a tab between source and target; or two files, where line n of the second translates line n of
the first; or, with --text, text files. Files must be UTF-8 and may be gzipped. Lines that are empty, too long, not
UTF-8 or without a translation are skipped and reported with their line numbers."""


def add_corpus(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the arguments that specify a corpus.

    Args:
        parser: The parser to which the arguments are added.
        text: Help text for ``--text``.
    """
    parser.add_argument("corpus", nargs="+", metavar="CORPUS", help=CORPUS)
    documents = "each file contains one document, or several documents separated by lines with <|endoftext|>"
    parser.add_argument("--text", action="store_true", help=f"{text}; {documents}")


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--folder`` for the learner's folder."""
    folder = "your copy of the lessons (default: the folder that transformer-course lab opens)"
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help=folder)


def add_beam(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--beam``."""
    parser.add_argument("--beam", type=int, default=1, metavar="N", help="beam size; 1 is greedy decoding (default: 1)")


def check_beam(size: int) -> None:
    """Raise an error if a beam size is not positive or is too large for the memory.

    Raises:
        ValueError: The size is not between 1 and ``MAX_BEAM_SIZE``.
    """
    if not 1 <= size <= MAX_BEAM_SIZE:
        raise ValueError(f"--beam must be between 1 and {MAX_BEAM_SIZE}; got --beam {size}")


def add_machine(parser: argparse._ArgumentGroup | argparse.ArgumentParser, threads: str) -> None:
    """Add the arguments ``--device`` and ``--threads``.

    Args:
        parser: The parser or group to which the arguments are added.
        threads: Description of the default thread count, for the help text.
    """
    device = "the device to compute on, such as cpu, cuda or cuda:1 (default: a GPU if available)"
    parser.add_argument("--device", metavar="NAME", help=device)
    parser.add_argument("--threads", type=int, metavar="N", help=f"number of CPU threads (default: {threads})")


def is_dates(args: argparse.Namespace) -> bool:
    """Return whether the corpus is the built-in dates task. To use a file called dates, pass ``./dates``."""
    return args.corpus == [DATES] and not args.text


def set_threads(requested: int | None, default: int | None = None) -> None:
    """Set the number of CPU threads that torch uses.

    Args:
        requested: The number from the command line. None means ``default``.
        default: The default number. None means torch's default.

    Raises:
        ValueError: ``requested`` is not between 1 and 1024; torch crashes if the system cannot create a thread.
    """
    import torch

    if requested is not None and not 1 <= requested <= 1024:
        raise ValueError(f"--threads must be between 1 and 1024; got --threads {requested}")
    if threads := requested or default:
        torch.set_num_threads(threads)


def print_stream(pieces: Iterable[str]) -> int:
    """Print each piece of a text as soon as it arrives.

    Returns:
        The exit code: 0, or 1 if the reader closed the pipe.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # the locale may set a different encoding
    try:
        for piece in pieces:
            print(piece, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python's final flush does not fail
        return 1
    return 0


def load_model(args: argparse.Namespace, threads: int | None = None) -> "TextTranslator":
    """Load the translator that ``--model`` specifies. ``threads`` is the default for ``--threads``."""
    from transformer_lab.device import pick_device
    from transformer_lab.text.marian_translator import load_translator

    if args.model == DEFAULT_MODEL and not os.path.isdir(DEFAULT_MODEL):
        raise ValueError(
            f"folder {DEFAULT_MODEL} does not exist; run `transformer-course train dates` first, or pass --model"
        )
    set_threads(args.threads, default=threads)
    return load_translator(args.model, pick_device(args.device))
