"""A lesson can be read: one idea per cell, and an end within reach."""

from collections.abc import Iterator

from tests.notebooks.lesson import Lesson
from transformer_course.home.reading_time import minutes_to_read, promised_minutes, words

WORDS_PER_CELL = 130
LINES_PER_CELL = 25
MINUTES = 40


def prose_comes_in_small_pieces(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        if (n := words(cell.source)) > WORDS_PER_CELL:
            yield f"{cell.id} has {n} words; at most {WORDS_PER_CELL} are read"


def code_comes_in_small_pieces(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if (n := len(cell.source.splitlines())) > LINES_PER_CELL:
            yield f"{cell.id} has {n} lines of code; what is longer than {LINES_PER_CELL} belongs in the library"


def the_lesson_is_read_in_time(lesson: Lesson) -> Iterator[str]:
    promised = promised_minutes(lesson.book, "Reading")
    minutes = minutes_to_read(lesson.cells, lesson.exercises)
    said = round(minutes) if promised is None else promised
    if max(minutes, said) > MINUTES:
        yield f"reading takes {max(minutes, said):.1f} minutes; at most {MINUTES} are planned for"
    if said < round(minutes):
        yield f"reading takes {minutes:.0f} minutes; the title promises {said}"


def figures_show_themselves(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if "plt.show" in cell.source:
            yield f"{cell.id} calls plt.show, which a notebook does not need"


RULES = [
    prose_comes_in_small_pieces,
    code_comes_in_small_pieces,
    the_lesson_is_read_in_time,
    figures_show_themselves,
]
