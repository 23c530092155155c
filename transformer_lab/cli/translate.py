"""``transformer-lab translate``: translate lines, a file, or standard input."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_lab.cli.common import DEFAULT_MODEL, MODEL, add_beam, add_machine, load_model, print_stream

if TYPE_CHECKING:
    from transformer_lab.text.translator import TextTranslator

MAX_BYTES_PER_READ = 2**16
"""Largest number of bytes that are read at once."""

DESCRIPTION = """Translate, a line of output for each line of input: greedily, or by beam search. A line longer than
the model takes is cut, and reported by number."""

EXAMPLES = """examples:
  transformer-lab translate "3 mars 2021" 2021年3月3日
  transformer-lab translate -m german --file captions.de.gz > captions.en
  grep Hund captions.de | transformer-lab translate -m german"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "translate",
        help="translate with a model",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    lines = "each is a line to translate (default: what comes through the pipe, or is typed until it ends)"
    parser.add_argument("lines", nargs="*", metavar="LINE", help=lines)
    parser.add_argument("-f", "--file", type=Path, help="translate its lines; UTF-8, gzipped or not")
    parser.add_argument("-m", "--model", default=DEFAULT_MODEL, help=f"the model: {MODEL}")
    most = "tokens that a translation has at most (default: as many as the model can write)"
    parser.add_argument("--max-length", type=int, metavar="N", help=most)
    together = "lines that are translated together at most; fewer where no more are there (default: 64)"
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help=together)
    add_beam(parser)
    add_machine(parser, threads="as many as torch takes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Translate, and return the exit code: 0, or 1 if the reader closed the pipe.

    Raises:
        ValueError: Arguments contradict each other or are out of range, the model cannot be loaded, or the input is not
            UTF-8.
        OSError: A file cannot be read.
    """
    from transformer_lab.data.corpus import read_lines

    if args.lines and args.file:
        raise ValueError(f"translate lines or a file, not both; got {len(args.lines)} lines and {args.file}")
    if args.batch_size < 1:
        raise ValueError(f"--batch-size must be at least 1; got --batch-size {args.batch_size}")
    if args.beam < 1:
        raise ValueError(f"--beam must be at least 1; got --beam {args.beam}")
    chunks: Iterable[Iterable[bytes]]
    if args.lines:
        where, chunks = "arguments", [[line.encode("utf-8", "surrogateescape") for line in args.lines]]
    elif args.file:
        where, chunks = args.file.name, [read_lines(args.file)]
    else:
        where, chunks = "standard input", _arriving(sys.stdin.buffer.read1)  # type: ignore[union-attr]
    translator, numbers = load_model(args), count(1)
    batches = (_texts(chunk, numbers, where, translator) for chunk in chunks)
    return print_stream(
        f"{translation}\n"
        for texts in batches
        for translation in translator.translate(texts, args.max_length, args.batch_size, args.beam)
    )


def _arriving(read: Callable[[int], bytes]) -> Iterator[list[bytes]]:
    """Yield the lines that have arrived, as soon as there are any: slow input need not fill a batch."""
    begun = b""
    while piece := read(MAX_BYTES_PER_READ):
        *lines, begun = (begun + piece).split(b"\n")
        yield lines
    if begun:
        yield [begun]


def _texts(lines: Iterable[bytes], numbers: Iterator[int], where: str, translator: "TextTranslator") -> Iterator[str]:
    """Decode lines, and report those that the model will truncate."""
    from transformer_lab.data.corpus import decode

    for raw, number in zip(lines, numbers):  # noqa: B905 (the numbers go on with the next chunk)
        try:
            line = decode(raw, number)
        except UnicodeDecodeError as error:
            raise ValueError(f"{where}, line {number}: not UTF-8 ({error.reason})") from error
        n_tokens = len(translator.source_tokens(line.strip()))
        if n_tokens > translator.longest:
            said = f"{n_tokens} tokens, of which the model reads {translator.longest}"
            print(f"{where}, line {number}: {said}", file=sys.stderr)
        yield line
