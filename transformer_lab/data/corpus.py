"""Parallel corpora: one tab-separated file, or two files with a sentence on each line, optionally gzipped.

Lines are read on demand; a corpus is never held in memory.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ENCODING_SAMPLE_BYTES = 2**13

MAX_LISTED_ERRORS = 20
"""Maximum number of bad lines to list; further bad lines are only counted."""


class Pair(NamedTuple):
    """A sentence, its translation, and their line number."""

    line: int
    source: str
    target: str


@dataclass
class LineErrors:
    """The bad lines of a corpus, which are skipped.

    Args:
        counts: Number of bad lines of each kind.
        examples: The first bad lines, each with file, line number and kind.
    """

    counts: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def record(self, where: str, line: int, reason: str) -> None:
        """Record one bad line."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        if len(self.examples) < MAX_LISTED_ERRORS:
            self.examples.append(f"{where}, line {line}: {reason}")

    @property
    def summary(self) -> str:
        """The number of bad lines of each kind, on one line."""
        kinds = ", ".join(f"{count:,} × {reason}" for reason, count in sorted(self.counts.items()))
        return f"skipped {kinds}" if kinds else "no bad lines"

    def __str__(self) -> str:
        more = sum(self.counts.values()) - len(self.examples)
        rest = [f"… and {more:,} more"] if more else []
        return "\n  ".join([self.summary, *self.examples, *rest])


def read_pairs(paths: Sequence[Path], errors: LineErrors) -> Iterator[Pair]:
    """Yield the sentence pairs of a corpus.

    Args:
        paths: A tab-separated file (source, tab, target; other columns are ignored), or two files, where line n of the
            second file translates line n of the first.
        errors: Records lines that are empty, undecodable or unpaired.

    Raises:
        ValueError: The number of files is not 1 or 2, a file is corrupted, or the files have different lengths.
        OSError: A file cannot be read.
    """
    if len(paths) == 1:
        yield from _read_table(paths[0], errors)
    elif len(paths) == 2:
        yield from _read_two(paths[0], paths[1], errors)
    else:
        raise ValueError(f"a corpus must be one tab-separated file or two files; got {len(paths)} files")


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, decompressing gzipped content regardless of the file's name.

    Raises:
        ValueError: The compressed file is corrupted, or the text is UTF-16 or uses bare CR line endings.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        compressed = file.peek(2).startswith(b"\x1f\x8b")
    with gzip.open(path) if compressed else path.open("rb") as lines:
        try:
            check_encoding(lines.peek(ENCODING_SAMPLE_BYTES)[:ENCODING_SAMPLE_BYTES], path)
            yield from lines
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is corrupted: {error}") from error


def check_encoding(start: bytes, path: Path) -> None:
    """Raise ValueError if the start of a file shows an unsupported encoding or line ending.

    Args:
        start: The first bytes of the file.
        path: The file, for the message.

    Raises:
        ValueError: The file begins with a UTF-16 byte order mark, or its lines end with a bare CR.
    """
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{path} is UTF-16 but must be UTF-8; convert the file with iconv -f UTF-16 -t UTF-8")
    if b"\r" in start and b"\n" not in start:
        raise ValueError(f"the lines of {path} end with CR but must end with LF; convert the file with tr '\\r' '\\n'")


def decode(raw: bytes, number: int) -> str:
    """Return the text of a line, without a byte order mark in the first line.

    Args:
        raw: The bytes of the line.
        number: The line number, counting from 1.

    Raises:
        UnicodeDecodeError: The bytes are not UTF-8.
    """
    return raw.decode("utf-8-sig" if number == 1 else "utf-8")


def decode_line(raw: bytes, path: Path, number: int, errors: LineErrors) -> str | None:
    """Return the text of a line, or record an error and return None if it is not UTF-8."""
    try:
        return decode(raw, number)
    except UnicodeDecodeError as error:
        errors.record(path.name, number, f"not UTF-8 ({error.reason})")
        return None


def _read_table(path: Path, errors: LineErrors) -> Iterator[Pair]:
    for number, raw in enumerate(read_lines(path), start=1):
        line = decode_line(raw, path, number, errors)
        if line is None:
            continue
        source, tab, rest = line.partition("\t")
        if tab:
            yield from _pair(source, rest.partition("\t")[0], path.name, number, errors)
        else:
            errors.record(path.name, number, "no tab, so no translation" if line.strip() else "an empty line")


def _read_two(source_path: Path, target_path: Path, errors: LineErrors) -> Iterator[Pair]:
    where = f"{source_path.name} and {target_path.name}"
    both = zip_longest(read_lines(source_path), read_lines(target_path))
    for number, (raw_source, raw_target) in enumerate(both, start=1):
        # Raise an error, because if a line is missing in the middle, all later lines are misaligned.
        if raw_source is None or raw_target is None:
            longer, shorter = (source_path, target_path) if raw_target is None else (target_path, source_path)
            raise ValueError(
                f"{longer.name} has {number + sum(1 for _ in both):,} lines but {shorter.name} has {number - 1:,}; "
                "line n of one file must translate line n of the other file"
            )
        source = decode_line(raw_source, source_path, number, errors)
        target = decode_line(raw_target, target_path, number, errors)
        if source is not None and target is not None:
            yield from _pair(source, target, where, number, errors)


def _pair(source: str, target: str, where: str, number: int, errors: LineErrors) -> Iterator[Pair]:
    source, target = source.strip(), target.strip()
    if source and target:
        yield Pair(number, source, target)
    else:
        errors.record(where, number, "an empty side")
