"""Convert text files into tokens on disk: one pass learns the tokenizer, and a second pass applies it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.data.batches import split_into_windows
from transformer_lab.data.corpus import LineErrors, Pair, read_pairs
from transformer_lab.data.documents import n_held_out, read_documents, write_documents
from transformer_lab.data.token_store import TokenStore, TokenWriter
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, MAX_CHARACTERS_PER_TOKEN, bpe_tokenizer, load_tokenizer

TOKENIZER, SOURCE, TARGET, ORIGIN = "tokenizer.json", "source.tokens", "target.tokens", "origin.json"
WINDOWS, HELD_OUT = "windows.tokens", "held_out.txt"

PAIRS_PER_CHUNK = 1000


def prepare(
    paths: Sequence[Path], folder: Path, vocab_size: int, max_length: int, errors: LineErrors
) -> tuple[Tokenizer, TokenStore, TokenStore]:
    """Learn a tokenizer from a corpus and write the corpus's tokens to a folder, unless the files already exist.

    Args:
        paths: The files of the corpus, as for ``read_pairs``.
        folder: Folder for the tokenizer and the tokens.
        vocab_size: Maximum vocabulary size.
        max_length: Maximum number of tokens on each side of a pair; longer pairs count as bad lines.
        errors: Records bad lines.

    Returns:
        The tokenizer, the sources and the targets.

    Raises:
        ValueError: No valid pair is left, or the folder contains a different corpus.
        OSError: A file cannot be read or written.
    """

    def write() -> None:
        tokenizer = learn_tokenizer(paths, vocab_size, max_length)
        tokenize(paths, tokenizer, max_length, folder, errors)
        atomic_write_text(folder / TOKENIZER, tokenizer.to_str(pretty=True))

    _write_once(folder, {"files": _describe(paths), "vocab_size": vocab_size, "max_length": max_length}, write)
    return load_tokenizer(folder / TOKENIZER), TokenStore(folder / SOURCE), TokenStore(folder / TARGET)


def prepare_text(
    paths: Sequence[Path],
    folder: Path,
    vocab_size: int,
    max_length: int,
    hold_out: bool,
    errors: LineErrors,
) -> tuple[Tokenizer, TokenStore]:
    """Learn a tokenizer from text files and write their tokens to a folder, unless these files already exist.

    The documents are joined, with the end-of-sequence token before, between and after them, and split into windows.
    Only one document at a time is in memory.

    Args:
        paths: The text files, as for ``read_documents``.
        folder: Folder for the tokenizer and the tokens.
        vocab_size: Maximum vocabulary size.
        max_length: Number of tokens in a window, not counting the last label.
        hold_out: Whether to hold out the last ``n_held_out`` documents and write them to ``held_out.txt``.
        errors: Records bad lines.

    Returns:
        The tokenizer and the windows.

    Raises:
        ValueError: There is no document, or the folder contains different texts.
        OSError: A file cannot be read or written.
    """

    def write() -> None:
        sizes = [len(document.encode()) for document in read_documents(paths, errors)]
        if not sizes:
            raise ValueError(f"{' and '.join(path.name for path in paths)}: found no usable text; {errors.summary}")
        n_training = len(sizes) - (n_held_out(sizes) if hold_out else 0)

        def documents() -> Iterator[str]:
            return read_documents(paths, LineErrors())  # the first pass has already recorded the bad lines

        tokenizer = bpe_tokenizer(islice(documents(), n_training), vocab_size)
        encoded = ([*tokenizer.encode(document).ids, EOS_ID] for document in islice(documents(), n_training))
        with TokenWriter(folder / WINDOWS) as windows:
            for window in split_into_windows(chain([EOS_ID], chain.from_iterable(encoded)), max_length):
                windows.add(window)
        write_documents(folder / HELD_OUT, list(islice(documents(), n_training, None)))
        atomic_write_text(folder / TOKENIZER, tokenizer.to_str(pretty=True))

    origin = {"files": _describe(paths), "vocab_size": vocab_size, "max_length": max_length, "hold_out": hold_out}
    _write_once(folder, origin, write)
    return load_tokenizer(folder / TOKENIZER), TokenStore(folder / WINDOWS)


def _describe(paths: Sequence[Path]) -> list[dict[str, Any]]:
    return [{"name": path.name, "sha256": sha256_of(path)} for path in paths]


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 hash of a file's content.

    Raises:
        ValueError: The path is a folder, or a pipe, which can be read only once.
        OSError: The file cannot be read.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a regular file; a corpus is read several times, so it cannot be a pipe")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_once(folder: Path, origin: dict[str, Any], write: Callable[[], None]) -> None:
    """Write a folder's files and record their origin, unless they were already written from the same origin.

    Raises:
        ValueError: The folder was written from a different origin.
    """
    if not (folder / ORIGIN).exists():
        folder.mkdir(parents=True, exist_ok=True)
        write()
        # Write the origin last: if it exists, all other files are complete.
        atomic_write_text(folder / ORIGIN, json.dumps(origin))
        return
    try:
        before = json.loads((folder / ORIGIN).read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{folder / ORIGIN} is corrupted: {error}; delete {folder} to prepare it again") from error
    if before != origin:
        raise ValueError(f"{folder} was prepared from {_in_words(before)}, not {_in_words(origin)}; use a new folder")


def _in_words(origin: Any) -> str:
    """Return a short description of a folder's origin, with each file's name and the start of its hash."""
    try:
        files = [f"{file['name']} (SHA-256 {file['sha256'][:8]}…)" for file in origin["files"]]
        words = ", ".join([" and ".join(files), *(f"{name}={origin[name]}" for name in origin if name != "files")])
        return " ".join(words.split())  # on one line, even if a corrupted file contains newlines
    except (KeyError, TypeError):  # this library did not write the origin
        return str(origin)


def learn_tokenizer(paths: Sequence[Path], vocab_size: int, max_length: int) -> Tokenizer:
    """Learn one byte-level BPE tokenizer for both sides of a corpus, ignoring overlong pairs."""
    pairs = _without_overlong(paths, max_length, LineErrors())
    return bpe_tokenizer((side for pair in pairs for side in (pair.source, pair.target)), vocab_size)


def _without_overlong(paths: Sequence[Path], max_length: int, errors: LineErrors) -> Iterator[Pair]:
    """Skip pairs that cannot fit the model, because tokenizing millions of characters is slow."""
    where, longest = " and ".join(path.name for path in paths), max_length * MAX_CHARACTERS_PER_TOKEN
    for pair in read_pairs(paths, errors):
        if max(len(pair.source), len(pair.target)) > longest:
            errors.record(where, pair.line, f"more than {longest:,} characters")
        else:
            yield pair


def tokenize(paths: Sequence[Path], tokenizer: Tokenizer, max_length: int, folder: Path, errors: LineErrors) -> None:
    """Write a corpus's tokens to a folder; record pairs that are too long for the model as bad lines.

    Each source ends with the end-of-sequence token; each target also begins with the beginning-of-sequence token.

    Raises:
        ValueError: No valid pair is left.
        OSError: A file cannot be read or written.
    """
    where = " and ".join(path.name for path in paths)
    n_pairs = 0
    with TokenWriter(folder / SOURCE) as sources, TokenWriter(folder / TARGET) as targets:
        for line, source, target in _encode(_without_overlong(paths, max_length, errors), tokenizer):
            # The input omits a target's last token, and the labels omit its first token, so a target may be one token
            # longer than a source.
            if max(len(source), len(target)) >= max_length:
                errors.record(where, line, f"more than {max_length - 1} tokens")
                continue
            sources.add([*source, EOS_ID])
            targets.add([BOS_ID, *target, EOS_ID])
            n_pairs += 1
    if not n_pairs:
        raise ValueError(f"{where}: found no usable sentence pairs; {errors.summary}")


def _encode(pairs: Iterator[Pair], tokenizer: Tokenizer) -> Iterator[tuple[int, list[int], list[int]]]:
    while chunk := list(islice(pairs, PAIRS_PER_CHUNK)):
        sources = tokenizer.encode_batch([pair.source for pair in chunk])
        targets = tokenizer.encode_batch([pair.target for pair in chunk])
        for pair, source, target in zip(chunk, sources, targets, strict=True):
            yield pair.line, source.ids, target.ids
