"""Files of the learner's."""

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all. What was no text when it was read, as surrogates, is written as it was."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8", errors="surrogateescape")
    unfinished.replace(path)
