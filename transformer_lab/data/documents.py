"""Documents in text files, to train language models on: one to a file, or several with a separator between them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_lab.atomic_write import naming
from transformer_lab.data.corpus import LineErrors, decode_line, read_lines

SEPARATOR = "<|endoftext|>"
"""A line that holds nothing else separates two documents of a file."""
HELD_OUT_FRACTION = 0.01
"""Fraction of the bytes that the documents held out for validation have at least."""


def read_documents(paths: Sequence[Path], errors: LineErrors) -> Iterator[str]:
    """Yield the documents of text files, one at a time; empty ones are left out.

    A document is what stands between two separators, with ``\\n`` between its lines and none after the last.

    Args:
        paths: The files: UTF-8, gzipped or not.
        errors: Records lines that are not UTF-8.

    Raises:
        ValueError: A compressed file is damaged.
        OSError: A file cannot be read.
    """
    for path in paths:
        lines: list[str] = []
        for number, raw in enumerate(read_lines(path), start=1):
            line = decode_line(raw, path, number, errors)
            if line is not None and line.strip() == SEPARATOR:
                yield from _document(lines)
                lines = []
            elif line is not None:
                lines.append(line.replace("\r\n", "\n"))
        yield from _document(lines)


def write_documents(path: Path, documents: Sequence[str]) -> None:
    """Write documents to a file, as ``read_documents`` reads them."""
    with naming(path):
        path.write_text(f"\n{SEPARATOR}\n".join(documents) + "\n", encoding="utf-8", newline="\n")


def n_held_out(sizes: Sequence[int]) -> int:
    """Return how many of the last documents to hold out: the fewest that have ``HELD_OUT_FRACTION`` of the bytes.

    Documents are held out whole, and one is always left to train on: of a single document, nothing is held out.

    Args:
        sizes: Number of bytes of each document.

    >>> n_held_out([700, 290, 4, 6]), n_held_out([5000])
    (2, 0)
    """
    enough, held_out = HELD_OUT_FRACTION * sum(sizes), 0
    for n, size in enumerate(reversed(sizes)):
        if held_out >= enough:
            return n
        held_out += size
    return max(len(sizes) - 1, 0)


def _document(lines: Sequence[str]) -> Iterator[str]:
    text = "".join(lines).removesuffix("\n")
    if text.strip():
        yield text
