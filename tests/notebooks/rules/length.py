"""A lesson can be read: one idea per cell, and an end within reach."""

import re
from collections.abc import Iterator

from tests.notebooks.lesson import Lesson

WORDS_PER_CELL = 130
LINES_PER_CELL = 25
MINUTES = 40
WORDS_PER_MINUTE = 120
"""Text with formulas is read at half the speed of a novel."""
CODE_LINES_PER_MINUTE = 15


def prose_comes_in_small_pieces(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        if (n := words(cell.source)) > WORDS_PER_CELL:
            yield f"{cell.id} has {n} words; at most {WORDS_PER_CELL} are read"


def code_comes_in_small_pieces(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if (n := len(cell.source.splitlines())) > LINES_PER_CELL:
            yield f"{cell.id} has {n} lines of code; what is longer than {LINES_PER_CELL} belongs in the library"


def the_lesson_is_read_in_time(lesson: Lesson) -> Iterator[str]:
    promised = re.search(r"Reading: (\d+) minutes", lesson.cells[0].source)
    minutes = minutes_to_read(lesson)
    said = int(promised[1]) if promised else round(minutes)
    if max(minutes, said) > MINUTES:
        yield f"reading takes {max(minutes, said):.1f} minutes; at most {MINUTES} are planned for"
    if said < round(minutes):
        yield f"reading takes {minutes:.0f} minutes; the title promises {said}"


def figures_show_themselves(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if "plt.show" in cell.source:
            yield f"{cell.id} calls plt.show, which a notebook does not need"


def words(text: str) -> int:
    """Count the words that have to be read: not folded answers, new words to look up, tables, formulas, addresses."""
    text = re.sub(r"^## New words$.*?(?=^#|\Z)", " ", text, flags=re.DOTALL | re.MULTILINE)
    for left_out in (r"<details>.*?</details>", r"\$\$.*?\$\$", r"^\|.*$", r"\]\(.*?\)"):
        text = re.sub(left_out, " ", text, flags=re.DOTALL if left_out[0] != "^" else re.MULTILINE)
    text = re.sub(r"\$.*?\$", "formula", text, flags=re.DOTALL)
    return len(re.findall(r"\w[\w'’.-]*", text))


def minutes_to_read(lesson: Lesson) -> float:
    """Estimate how long a lesson is read, exercises left out."""
    lines = sum(len(cell.source.splitlines()) for cell in lesson.code if cell.id not in lesson.exercises)
    return sum(words(cell.source) for cell in lesson.prose) / WORDS_PER_MINUTE + lines / CODE_LINES_PER_MINUTE


RULES = [
    prose_comes_in_small_pieces,
    code_comes_in_small_pieces,
    the_lesson_is_read_in_time,
    figures_show_themselves,
]
