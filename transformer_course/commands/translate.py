"""``transformer-course translate``: translate lines, a file, or standard input."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from transformer_course.commands.common import (
    DEFAULT_MODEL,
    MODEL,
    add_beam,
    add_machine,
    check_beam,
    load_model,
    print_stream,
)

if TYPE_CHECKING:
    from transformer_lab.text.translator import TextTranslator

BadLines = Literal["replace", "skip", "error"]

MAX_BYTES_PER_READ = 2**16
"""Largest number of bytes that are read at once."""

DESCRIPTION = """Translate, a line of output for each line of input: greedily, or by beam search. A line longer than
the model takes is cut, and reported by number, as a line is that cannot be read."""

EXAMPLES = """examples:
  transformer-course translate "3 mars 2021" 2021年3月3日
  transformer-course translate -m german --file captions.de.gz > captions.en
  transformer-course translate -m german --beam 4 "Der Hund schläft."
  grep Hund captions.de | transformer-course translate -m german"""


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
    bad = "what becomes of a line that is not UTF-8, which is reported by number: it is translated with a � for what"
    bad += " cannot be read (the default), its translation is empty, or it ends the command after the lines before it"
    parser.add_argument("--bad-lines", choices=["replace", "skip", "error"], default="replace", help=bad)
    together = "lines that are translated together at most; fewer where no more are there (default: 64)"
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help=together)
    add_beam(parser)
    add_machine(parser, threads="as many as torch takes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Translate, and return the exit code: 0, or 1 if the reader closed the pipe.

    Raises:
        ValueError: Arguments contradict each other or are out of range, the model cannot be loaded, or a line is not
            UTF-8 and ``--bad-lines`` is error.
        OSError: A file cannot be read.
    """
    from transformer_lab.data.corpus import read_lines

    if args.lines and args.file:
        raise ValueError(f"translate lines or a file, not both; got {len(args.lines)} lines and {args.file}")
    if args.batch_size < 1:
        raise ValueError(f"--batch-size must be at least 1; got --batch-size {args.batch_size}")
    check_beam(args.beam)
    chunks: Iterable[Iterable[bytes]]
    if args.lines:
        where, chunks = "arguments", [[line.encode("utf-8", "surrogateescape") for line in args.lines]]
    elif args.file:
        where, chunks = args.file.name, [read_lines(args.file)]
    else:
        where, chunks = "standard input", _arriving(sys.stdin.buffer.read1)  # type: ignore[union-attr]
    reader = LineReader(load_model(args), where, args.bad_lines)

    def printed() -> Iterator[str]:
        for chunk in chunks:
            texts = reader.texts(chunk)
            for text in reader.translator.translate(texts, args.max_length, args.batch_size, args.beam):
                yield f"{text}\n"
            reader.raise_error()

    return print_stream(printed())


def _arriving(read: Callable[[int], bytes]) -> Iterator[list[bytes]]:
    """Yield the lines that have arrived, as soon as there are any: slow input need not fill a batch."""
    begun = b""
    while piece := read(MAX_BYTES_PER_READ):
        *lines, begun = (begun + piece).split(b"\n")
        yield lines
    if begun:
        yield [begun]


class LineReader:
    """Turns lines into texts for a translator, and reports by number what is wrong with them.

    Args:
        translator: The translator.
        where: Where the lines come from, for the reports.
        bad_lines: What becomes of lines that are not UTF-8.
    """

    def __init__(self, translator: "TextTranslator", where: str, bad_lines: BadLines) -> None:
        self.translator, self.where, self.bad_lines = translator, where, bad_lines
        self.number = 0
        self.error: ValueError | None = None

    def texts(self, lines: Iterable[bytes]) -> Iterator[str]:
        """Yield the texts of lines; at a bad one that is an error, stop, so that those before are translated."""
        for raw in lines:
            self.number += 1
            text = self._decode(raw)
            if text is None:
                return
            yield self._cut(text)

    def raise_error(self) -> None:
        """Raise the error that ``texts`` has stopped at, if there is one.

        Raises:
            ValueError: A line is not UTF-8.
        """
        if self.error:
            raise self.error

    def _decode(self, raw: bytes) -> str | None:
        from transformer_lab.data.corpus import decode

        try:
            return decode(raw, self.number)
        except UnicodeDecodeError as error:
            said = f"not UTF-8 ({error.reason})"
        if self.bad_lines == "error":
            self.error = ValueError(f"{self.where}, line {self.number}: {said}")
            return None
        self._report(f"{said}; {'its translation is empty' if self.bad_lines == 'skip' else 'translated with �'}")
        return "" if self.bad_lines == "skip" else raw.decode(errors="replace")

    def _cut(self, text: str) -> str:
        """Report a text of which the model will read the beginning only."""
        from transformer_lab.data.tokenizers import CHARACTERS_PER_TOKEN

        longest = self.translator.longest
        if len(text) > longest * CHARACTERS_PER_TOKEN:
            text = text[: longest * CHARACTERS_PER_TOKEN]
            self._report(f"more than {len(text):,} characters, of which the model reads {longest} tokens")
        elif (n_tokens := len(self.translator.source_tokens(text.strip()))) > longest:
            self._report(f"{n_tokens} tokens, of which the model reads {longest}")
        return text

    def _report(self, said: str) -> None:
        print(f"{self.where}, line {self.number}: {said}", file=sys.stderr)
