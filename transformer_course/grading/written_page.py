"""A page to mark written answers by, as HTML: each question with its rubric, and all answers to it."""

import html
from collections.abc import Sequence
from itertools import groupby

from transformer_course.checking.message_panel import Panel
from transformer_course.grading.page_template import PAGE_TEMPLATE, preformatted
from transformer_course.grading.written_answers import SHEET, WrittenAnswer


def written_answers_page(answers: Sequence[WrittenAnswer]) -> str:
    """Return the page."""
    told = (
        f"Points and comments belong in <code>{SHEET}</code>; <code>transformer-course feedback</code> then reads them."
    )
    parts = [f"<h1>Written answers</h1><p>{told}</p>"]
    in_order = sorted(answers, key=lambda one: one.key)
    for (lesson, question), group in groupby(in_order, lambda one: (one.lesson, one.question)):
        own = list(group)
        n_left = sum(one.points is None for one in own)
        left = f"{n_left} of {len(own)} are not marked yet." if n_left else "All are marked."
        parts.append(f"<h2>{html.escape(lesson)}: {html.escape(question)}</h2><p>{left}</p>")
        if own[0].rubric:
            parts.append(Panel("What to look for", own[0].rubric, "help")._repr_html_())
        for one in own:
            parts.append(f"<h3>{html.escape(one.student)} ({mark(one)})</h3>{preformatted(one.answer)}")
            parts += [f"<p>{html.escape(text)}</p>" for text in (one.comment, one.note) if text]
    return PAGE_TEMPLATE.format(title="Written answers", body="\n".join(["<main>", *parts, "</main>"]))


def mark(one: WrittenAnswer) -> str:
    """Return the points of an answer in words."""
    of = "" if one.of is None else f" of {one.of:g}"
    return f"not marked yet{f', {one.of:g} at most' if of else ''}" if one.points is None else f"{one.points:g}{of}"
