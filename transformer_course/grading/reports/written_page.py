"""An HTML page for marking written answers, with each question, its rubric and all answers."""

from collections.abc import Sequence
from itertools import groupby

from transformer_course.checking.message_panel import Panel
from transformer_course.grading.incoming.written_answers import ANSWERS_FILE, WrittenAnswer
from transformer_course.templates import render


def written_answers_page(answers: Sequence[WrittenAnswer]) -> str:
    """Return the page."""
    in_order = sorted(answers, key=lambda one: one.key)
    groups = groupby(in_order, lambda one: (one.lesson, one.question))
    questions = [(question, list(group)) for question, group in groups]
    return render(__package__, "written_answers.html", questions=questions, sheet=ANSWERS_FILE, mark=mark, Panel=Panel)


def mark(one: WrittenAnswer) -> str:
    """Return a phrase with the points of an answer."""
    of = "" if one.of is None else f" of {one.of:g}"
    return f"not marked yet{f', {one.of:g} at most' if of else ''}" if one.points is None else f"{one.points:g}{of}"
