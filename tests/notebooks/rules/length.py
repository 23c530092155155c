"""Rules about length: cells must be short, and reading time is limited."""

import re
from collections.abc import Iterator

from tests.notebooks.lesson import Lesson
from transformer_course.home.reading_time import minutes_to_read, promised_minutes, words

MAX_WORDS_PER_CELL = 130
MAX_LINES_PER_CELL = 25
MAX_MINUTES = 40
MAX_WORDS_BETWEEN_EXERCISES = 700


def text_cells_are_short(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        if (n := words(cell.source)) > MAX_WORDS_PER_CELL:
            yield f"{cell.id} has {n} words; it should have at most {MAX_WORDS_PER_CELL}"


def code_cells_are_short(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if cell.id != "imports" and (n := len(cell.source.splitlines())) > MAX_LINES_PER_CELL:
            yield f"{cell.id} has {n} lines of code; move code longer than {MAX_LINES_PER_CELL} lines to the library"


def lesson_can_be_read_in_time(lesson: Lesson) -> Iterator[str]:
    promised = promised_minutes(lesson.book, "Reading")
    minutes = minutes_to_read(lesson.cells, lesson.exercises)
    stated = round(minutes) if promised is None else promised
    if max(minutes, stated) > MAX_MINUTES:
        yield f"reading takes {max(minutes, stated):.1f} minutes; it should take at most {MAX_MINUTES}"
    if stated < round(minutes):
        yield f"reading takes {minutes:.0f} minutes, but the title promises {stated}"


def exercises_are_close_together(lesson: Lesson) -> Iterator[str]:
    if not lesson.is_full_lesson:
        return
    n_words = 0
    for cell in lesson.cells:
        if cell.cell_type == "markdown":
            if re.search("^## In short", cell.source, re.MULTILINE):
                return
            n_words += words(cell.source)
        elif {"exercise", "bug-hunt"} & {*cell.metadata.get("tags", [])}:
            if n_words > MAX_WORDS_BETWEEN_EXERCISES:
                yield f"{n_words} words come before {cell.id}; the limit is {MAX_WORDS_BETWEEN_EXERCISES}"
            n_words = 0


def cells_do_not_call_plt_show(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if "plt.show" in cell.source:
            yield f"{cell.id} calls plt.show, which a notebook does not need"


RULES = [
    text_cells_are_short,
    code_cells_are_short,
    lesson_can_be_read_in_time,
    exercises_are_close_together,
    cells_do_not_call_plt_show,
]
