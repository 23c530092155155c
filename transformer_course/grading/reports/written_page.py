"""Write an HTML page for marking written answers, with each question, its rubric and all answers."""

from collections.abc import Sequence
from itertools import groupby

from transformer_course.checking.message_panel import Panel
from transformer_course.grading.incoming.written_answers import ANSWERS_FILE, WrittenAnswer
from transformer_course.templates import render


def written_answers_page(answers: Sequence[WrittenAnswer]) -> str:
    """Return the page as HTML."""
    in_order = sorted(answers, key=lambda answer: answer.key)
    groups = groupby(in_order, lambda answer: (answer.lesson, answer.question))
    questions = [(question, list(group)) for question, group in groups]
    return render(__package__, "written_answers.html", questions=questions, sheet=ANSWERS_FILE, mark=mark, Panel=Panel)


def mark(answer: WrittenAnswer) -> str:
    """Return a phrase with the points and the maximum points of an answer."""
    if answer.points is None:
        return "not marked yet" if answer.of is None else f"not marked yet, maximum {answer.of:g}"
    return f"{answer.points:g}" if answer.of is None else f"{answer.points:g} of {answer.of:g}"
