"""A file of saved parts: plain Python with a section for each exercise that passed."""

import re
from collections.abc import Mapping
from pathlib import Path

from transformer_lab.atomic_write import atomic_write_text

HEAD = """\
# Your own parts of lesson {lesson}, as they passed. Later lessons work with them.
# Without this file they work with the library's.

"""
SECTION = re.compile(r"^# %% (\w+)$", re.MULTILINE)


def read_sections(path: Path) -> tuple[str, dict[str, str]]:
    """Return the text at the start of a file, and its sections by name. A missing file has the default start and no
    sections.

    Raises:
        OSError: The file cannot be read.
    """
    if not path.exists():
        return HEAD.format(lesson=path.stem), {}
    head, *sections = SECTION.split(path.read_text(encoding="utf-8", errors="surrogateescape"))
    return head, dict(zip(sections[::2], sections[1::2], strict=True))


def write_sections(path: Path, head: str, sections: Mapping[str, str]) -> None:
    """Overwrite a file.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, head + "".join(f"# %% {name}{code}" for name, code in sections.items()))
