"""Text documents for training language models: one per file, or several documents with separators between them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_lab.atomic_write import naming
from transformer_lab.data.corpus import LineErrors, decode_line, read_lines

SEPARATOR = "<|endoftext|>"
"""A line with only this text separates two documents in a file."""
HELD_OUT_FRACTION = 0.01
"""Minimum fraction of the bytes that is held out for validation."""


def read_documents(paths: Sequence[Path], errors: LineErrors) -> Iterator[str]:
    """Yield the documents of text files one at a time, skipping empty documents.

    A document is the text between two separators, with ``\\n`` between its lines but not after the last line.

    Args:
        paths: The files, in UTF-8 and optionally gzipped.
        errors: Records lines that are not UTF-8.

    Raises:
        ValueError: A compressed file is corrupted.
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
    """Write documents to a file in the format that ``read_documents`` reads."""
    with naming(path):
        path.write_text(f"\n{SEPARATOR}\n".join(documents) + "\n", encoding="utf-8", newline="\n")


def n_held_out(sizes: Sequence[int]) -> int:
    """Return the number of final documents to hold out to reach ``HELD_OUT_FRACTION`` of the bytes.

    Only whole documents are held out, and at least one is left for training. A single document is never held out.

    Args:
        sizes: Size of each document in bytes.

    >>> n_held_out([700, 290, 4, 6]), n_held_out([5000])
    (2, 0)
    """
    required, held_out = HELD_OUT_FRACTION * sum(sizes), 0
    for n, size in enumerate(reversed(sizes)):
        if held_out >= required:
            return n
        held_out += size
    return max(len(sizes) - 1, 0)


def _document(lines: Sequence[str]) -> Iterator[str]:
    text = "".join(lines).removesuffix("\n")
    if text.strip():
        yield text
