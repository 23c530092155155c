"""A lesson is readable: one idea per cell, and a limited length."""

import re
from collections.abc import Iterator

from tests.notebooks.lesson import Lesson
from transformer_course.home.reading_time import minutes_to_read, promised_minutes, words

WORDS_PER_CELL = 130
LINES_PER_CELL = 25
MINUTES = 40
WORDS_TO_AN_EXERCISE = 700


def prose_comes_in_small_pieces(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        if (n := words(cell.source)) > WORDS_PER_CELL:
            yield f"{cell.id} has {n} words; at most {WORDS_PER_CELL} are read"


def code_comes_in_small_pieces(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if cell.id != "imports" and (n := len(cell.source.splitlines())) > LINES_PER_CELL:
            yield f"{cell.id} has {n} lines of code; what is longer than {LINES_PER_CELL} belongs in the library"


def the_lesson_is_read_in_time(lesson: Lesson) -> Iterator[str]:
    promised = promised_minutes(lesson.book, "Reading")
    minutes = minutes_to_read(lesson.cells, lesson.exercises)
    said = round(minutes) if promised is None else promised
    if max(minutes, said) > MINUTES:
        yield f"reading takes {max(minutes, said):.1f} minutes; at most {MINUTES} are planned for"
    if said < round(minutes):
        yield f"reading takes {minutes:.0f} minutes; the title promises {said}"


def no_exercise_is_far_away(lesson: Lesson) -> Iterator[str]:
    if not lesson.exercises:
        return
    n_words = 0
    for cell in lesson.cells:
        if cell.cell_type == "markdown":
            if re.search("^## In short", cell.source, re.MULTILINE):
                return
            n_words += words(cell.source)
        elif {"exercise", "bug-hunt"} & {*cell.metadata.get("tags", [])}:
            if n_words > WORDS_TO_AN_EXERCISE:
                yield f"{n_words} words are read before {cell.id}; at most {WORDS_TO_AN_EXERCISE} without an exercise"
            n_words = 0


def figures_show_themselves(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        if "plt.show" in cell.source:
            yield f"{cell.id} calls plt.show, which a notebook does not need"


RULES = [
    prose_comes_in_small_pieces,
    code_comes_in_small_pieces,
    the_lesson_is_read_in_time,
    no_exercise_is_far_away,
    figures_show_themselves,
]
