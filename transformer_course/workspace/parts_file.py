"""Read and write a file of saved parts, which is plain Python with a section for each exercise that passed."""

import re
from collections.abc import Mapping
from pathlib import Path

from transformer_lab.atomic_write import atomic_write_text

HEAD = """\
# Your own parts of lesson {lesson}, which passed their checks. Later lessons use them.
# Without this file, later lessons use the library's versions.

"""
SECTION = re.compile(r"^# %% (\w+)$", re.MULTILINE)


def read_sections(path: Path) -> tuple[str, dict[str, str]]:
    """Return the text at the start of a file, and its sections, keyed by name.

    For a missing file, the text is the default header, and there are no sections.

    Raises:
        OSError: The file cannot be read.
    """
    if not path.exists():
        return HEAD.format(lesson=path.stem), {}
    head, *sections = SECTION.split(path.read_text(encoding="utf-8", errors="surrogateescape"))
    return head, dict(zip(sections[::2], sections[1::2], strict=True))


def write_sections(path: Path, head: str, sections: Mapping[str, str]) -> None:
    """Write a file, replacing an existing file.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, head + "".join(f"# %% {name}{code}" for name, code in sections.items()))
