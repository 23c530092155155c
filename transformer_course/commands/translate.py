"""``transformer-course translate``: translate arguments, a file or standard input line by line."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

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

MAX_BYTES_PER_READ = 2**16

DESCRIPTION = """Translate each line of input into a line of output, with greedy decoding or beam search. Lines that are
too long for the model are truncated, and bytes that are not UTF-8 are replaced with U+FFFD. The command reports the
line numbers of these lines."""

EXAMPLES = """examples:
  transformer-course translate "3 mars 2021" 2021年3月3日
  transformer-course translate -m german --file captions.de.gz > captions.en
  transformer-course translate -m german --beam 4 "Der Hund schläft."
  grep Hund captions.de | transformer-course translate -m german"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "translate",
        help="translate text with a model",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    lines = "lines to translate (default: read standard input)"
    parser.add_argument("lines", nargs="*", metavar="LINE", help=lines)
    parser.add_argument("-f", "--file", type=Path, help="translate the lines of this UTF-8 file, optionally gzipped")
    parser.add_argument("-m", "--model", default=DEFAULT_MODEL, help=f"the model: {MODEL}")
    add_beam(parser)
    add_machine(parser, threads="torch's default")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the translations, and return the exit code 0, or 1 if the reader closed the pipe.

    Raises:
        ValueError: Arguments contradict each other or are out of range, or the model cannot be loaded.
        OSError: A file cannot be read.
    """
    from transformer_lab.data.corpus import read_lines

    if args.lines and args.file:
        raise ValueError(f"pass either lines or --file, not both; got {len(args.lines)} lines and {args.file}")
    check_beam(args.beam)
    chunks: Iterable[Iterable[bytes]]
    if args.lines:
        where, chunks = "arguments", [[line.encode("utf-8", "surrogateescape") for line in args.lines]]
    elif args.file:
        where, chunks = args.file.name, [read_lines(args.file)]
    else:
        where, chunks = "standard input", _lines_as_they_arrive(sys.stdin.buffer.read1)  # type: ignore[union-attr]
    reader = LineReader(load_model(args), where)

    def translated_lines() -> Iterator[str]:
        for chunk in chunks:
            for text in reader.translator.translate(reader.texts(chunk), beam_size=args.beam):
                yield f"{text}\n"

    return print_stream(translated_lines())


def _lines_as_they_arrive(read: Callable[[int], bytes]) -> Iterator[list[bytes]]:
    """Yield complete lines as soon as they arrive, instead of waiting for a full batch."""
    unfinished = b""
    while piece := read(MAX_BYTES_PER_READ):
        *lines, unfinished = (unfinished + piece).split(b"\n")
        yield lines
    if unfinished:
        yield [unfinished]


class LineReader:
    """Decodes lines for a translator, and reports problems with their line numbers.

    Args:
        translator: The translator.
        where: Where the lines come from, for the reports.
    """

    def __init__(self, translator: "TextTranslator", where: str) -> None:
        self.translator, self.where = translator, where
        self.number = 0

    def texts(self, lines: Iterable[bytes]) -> Iterator[str]:
        """Yield the decoded lines, truncated to the model's maximum length."""
        for raw in lines:
            self.number += 1
            yield self._truncate(self._decode(raw))

    def _decode(self, raw: bytes) -> str:
        from transformer_lab.data.corpus import decode

        try:
            return decode(raw, self.number)
        except UnicodeDecodeError as error:
            self._report(f"not UTF-8 ({error.reason}); translated with �")
            return raw.decode(errors="replace")

    def _truncate(self, text: str) -> str:
        """Truncate a text that would take too long to tokenize, and report texts that are too long for the model."""
        from transformer_lab.data.tokenizers import MAX_CHARACTERS_PER_TOKEN

        longest = self.translator.longest
        if len(text) > longest * MAX_CHARACTERS_PER_TOKEN:
            text = text[: longest * MAX_CHARACTERS_PER_TOKEN]
            self._report(f"more than {len(text):,} characters; the model reads only the first {longest} tokens")
        elif (n_tokens := len(self.translator.source_tokens(text.strip()))) > longest:
            self._report(f"{n_tokens} tokens; the model reads only the first {longest}")
        return text

    def _report(self, message: str) -> None:
        print(f"{self.where}, line {self.number}: {message}", file=sys.stderr)
