"""The home page as HTML, which the panel in JupyterLab shows.

Every link says in ``data-path`` which file it opens, and in ``data-cell`` at which cell; the panel opens them in the
same JupyterLab.
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import quote

from transformer_course.home.calibration import calibration_plot, in_a_sentence
from transformer_course.home.learner_progress import Home, LessonState

MAP = Path(__file__).with_name("lesson_map.svg")
INTRODUCTION = """
<p>In this course you build the Transformer, from a dictionary lookup to the model of <i>Attention Is All You Need</i>
and on to the language models of today. You write each piece in a notebook, and a check runs it and, if it is wrong,
names the mistake. What passes is kept, and later lessons train models made of your own parts.</p>
"""
COLLECTED_PAGES = {
    "glossary": "Glossary: every term of the field, with its lesson",
    "page_to_keep": "The page to keep: the whole course on one sheet",
    "interview_questions": "Interview questions of all lessons, with answers",
}
EXPORTS = {"progress.csv": "CSV", "progress.json": "JSON"}


class Page:
    """Writes the page.

    Args:
        home: What to show.
        base_url: Where the server's addresses begin, such as ``/``.
        exports: Where the exports of progress are.
    """

    def __init__(self, home: Home, base_url: str, exports: str) -> None:
        self.home, self.base_url, self.exports = home, base_url, exports
        self.next = home.next_lesson

    def html(self) -> str:
        """Return the page, as a fragment to put into a panel."""
        parts = [
            f"<h1>Transformer Course</h1>{INTRODUCTION}",
            self.problems(),
            self.go_on(),
            f"<h2>Map</h2>{self.lesson_map()}{self.legend()}",
            self.own_model(),
            f"<h2>Lessons</h2>{self.table()}",
            f"<h2>Your parts</h2>{self.own_parts()}",
            self.predictions(),
            f"<h2>To look things up</h2>{self.to_look_up()}",
            f"<h2>Your progress</h2>{self.progress()}",
        ]
        return "\n".join(filter(None, parts))

    def link(self, key: str, path: str, content: str, cell: str = "", classes: str = "") -> str:
        """Return a link that opens a file of the learner's folder; the key makes its id."""
        return f"<a {self.target(key, path, cell)} class='{classes}'>{content}</a>"

    def target(self, key: str, path: str, cell: str = "") -> str:
        """Return the attributes of such a link."""
        address = escape(f"{self.base_url}lab/tree/{quote(path)}", quote=True)
        at_cell = f' data-cell="{escape(cell, quote=True)}"' if cell else ""
        return f'id="tl-{key}" href="{address}" data-path="{escape(path, quote=True)}"{at_cell}'

    def exercise(self, key: str, lesson: LessonState, name: str) -> str:
        """Return the name of an exercise, which leads to its cell."""
        said = f"<code>{name}</code>"
        return self.link(f"{key}-{name}", file_of(lesson), said, name) if lesson.has_copy else said

    def problems(self) -> str:
        """Return what could not be read; nothing if all could."""
        if not self.home.problems:
            return ""
        items = "".join(f"<li>{escape(problem)}</li>" for problem in self.home.problems)
        said = "Some of your folder cannot be read, and is not counted here. The lessons work without it."
        return f'<div class="tl-problems" role="note"><p>{said}</p><ul>{items}</ul></div>'

    def go_on(self) -> str:
        """Return where to begin, or to go on."""
        if self.next is None and any(lesson.is_begun for lesson in self.home.lessons):
            return '<p class="tl-go-on">You have finished every lesson. What is left are the stretch exercises (★).</p>'
        if self.next is None:
            primer, first = self.home.lessons[0], self.home.lessons[1]
            begin = self.link("go-on", file_of(first), f"Begin with lesson {first.outline.number}", "", "tl-button")
            new = self.link("go-to-primer", file_of(primer), "the primer")
            return f'<p class="tl-go-on">{begin} <span>or, if you are new to PyTorch, with {new}.</span></p>'
        lesson, outline = self.next, self.next.outline
        verb = "Go on" if lesson.is_begun else "Next"
        said = f"{verb}: {outline.number} {escape(outline.title)}"
        button = self.link("go-on", file_of(lesson), said, lesson.left_at, "tl-button")
        next_one, *others = [self.exercise("open", lesson, name) for name in lesson.open] or [""]
        to_do = (
            f"The next exercise is {next_one}" + (f", then {', '.join(others)}." if others else ".") if next_one else ""
        )
        return f'<p class="tl-go-on">{button} <span>{to_do}</span></p>'

    def lesson_map(self) -> str:
        """Return the map, with the state of each lesson."""
        states = {lesson.outline.name: lesson for lesson in self.home.lessons}

        def marked(found: re.Match[str]) -> str:
            lesson = states[found[1]]
            said = escape(f"{name_of(lesson)}: {self.word_for(lesson)}", quote=True)
            target = self.target(f"map-{found[1]}", file_of(lesson))
            classes = f"tl-lesson tl-{self.word_for(lesson).replace(' ', '-')}"
            return f'<a {target} class="{classes}" aria-label="{said}"><title>{said}</title>'

        drawing = re.sub(r'<a class="tl-lesson" data-lesson="(\w+)">', marked, stored_map())
        return f'<div class="tl-scroll">{drawing}</div>'

    def own_model(self) -> str:
        """Return a place for the map of the learner's own model, and where to bring it to life; nothing before."""
        lesson = self.home.lesson_with_map
        if lesson is None:
            return ""
        where = f"lesson {lesson.outline.number}"
        link = self.link("to-own-model", file_of(lesson), f"open {where}", lesson.map_cell)
        place = self.target("own-model", file_of(lesson), lesson.map_cell).replace(" href=", " data-href=")
        version = lesson.last_worked_on.isoformat()
        said = (
            f"The model that you trained in {where}. While that lesson is open and its kernel runs, you can type a "
            f"text here, too, and see it flow through your code: {link}. Without a kernel, the map is as it was saved."
        )
        return f'<h2>Your own model</h2><p>{said}</p><div {place} data-version="{version}"></div>'

    def word_for(self, lesson: LessonState) -> str:
        """Return the state of a lesson, in a word or two."""
        if lesson is self.next:
            return "you are here"
        return "finished" if lesson.is_finished else "begun" if lesson.is_begun else "to come"

    def legend(self) -> str:
        """Return what the looks of the map's boxes mean."""
        words = ("you are here", "finished", "begun", "to come")
        items = (f'<span class="tl-key tl-{word.replace(" ", "-")}"></span>{word}' for word in words)
        return f'<p class="tl-legend" aria-hidden="true">{" ".join(items)} <span>numbers are lessons</span></p>'

    def table(self) -> str:
        """Return all lessons, with the exercises that have passed and the minutes that are left."""
        columns = ("No.", "Lesson", "Exercises passed", "Stretch ★", "Predictions right", "Minutes left")
        head = f"<tr>{''.join(f'<th>{column}</th>' for column in columns)}</tr>"
        rows = "".join(map(self.row, self.home.lessons))
        return f'<table class="tl-lessons"><thead>{head}</thead><tbody>{rows}</tbody></table>'

    def row(self, lesson: LessonState) -> str:
        """Return the row of a lesson."""
        outline, here = lesson.outline, lesson is self.next
        title = escape(outline.title)
        name = self.link(f"lesson-{outline.name}", file_of(lesson), title) if lesson.has_copy else title
        gone = "" if lesson.has_copy else " <small>(deleted; the next start brings it back)</small>"
        left = "✓ finished" if lesson.is_finished else str(lesson.minutes_left)
        mark = ' class="tl-here"' if here else ""
        marker = ' <small class="tl-marker">you are here</small>' if here else ""
        cells = [
            name + gone + marker,
            self.counted(lesson, outline.core),
            self.counted(lesson, outline.stretch),
            predicted(lesson),
            left,
        ]
        units = ("", "exercises", "★", "predicted", "" if lesson.is_finished else "minutes left")  # without a head
        row = "".join(
            f'<td data-unit="{unit * bool(cell)}">{cell}</td>' for cell, unit in zip(cells, units, strict=True)
        )
        return f"<tr{mark}><td>{outline.number}</td>{row}</tr>"

    def counted(self, lesson: LessonState, exercises: Sequence[str]) -> str:
        """Return how many exercises have passed, with a dot for each that leads to it; nothing where there are none."""
        if not exercises:
            return ""
        n = sum(name in lesson.passed for name in exercises)
        dots = "".join(self.dot(lesson, name) for name in exercises)
        return f'<span class="tl-dots">{dots}</span>{n} of {len(exercises)}'

    def dot(self, lesson: LessonState, name: str) -> str:
        """Return the dot of an exercise."""
        passed = name in lesson.passed
        said = f"{name}: {'passed' if passed else 'open'}"
        dot = f'<i class="tl-dot{" tl-passed" * passed}"></i>'
        if not lesson.has_copy:
            return f'<span title="{said}">{dot}</span>'
        return f'<a {self.target(f"dot-{name}", file_of(lesson), name)} title="{said}" aria-label="{said}">{dot}</a>'

    def own_parts(self) -> str:
        """Return the learner's saved parts, by lesson."""
        items = []
        for lesson in self.home.lessons:
            if lesson.saved:
                name = f"{lesson.outline.name}.py"
                parts = ", ".join(self.exercise("saved", lesson, part) for part in lesson.saved)
                items.append(f"<li>{self.file_link(self.home.parts / name)}: {parts}</li>")
        unsaved = [(lesson, name) for lesson in self.home.lessons for name in lesson.passed if name not in lesson.saved]
        names = ", ".join(self.exercise("unsaved", lesson, name) for lesson, name in unsaved)
        lost = (
            f"<p>Passed, but not among your parts: {names}. There the lessons work with the library's; run the check "
            "again to save yours.</p>"
            if unsaved
            else ""
        )
        if not items:
            return lost or "<p>None yet. What passes its check is saved here, as plain Python.</p>"
        return f"<ul>{''.join(items)}</ul>{lost}"

    def predictions(self) -> str:
        """Return how well the learner predicts, and knows it; nothing before the first prediction."""
        made = self.home.predictions
        if not made:
            return ""
        if any(prediction.sure is not None for prediction in made):
            said = (
                "A point on the line: you were right as often as you thought (close counts half). Below it, you were "
                "too sure of yourself."
            )
            plot = f"<p>{said}</p>{calibration_plot(made)}"
        else:
            plot = (
                "<p>Say how sure you are as well, <code>prediction = 4, &quot;80 %&quot;</code>, and a plot here shows "
                "whether you are right as often as you think.</p>"
            )
        return f"<h2>Your predictions</h2><p>{in_a_sentence(made)}</p>{plot}"

    def file_link(self, path: Path) -> str:
        """Return a link to a file, or its path where it does not lie in the folder that JupyterLab shows."""
        if not path.is_relative_to(self.home.folder):
            return f"<code>{escape(str(path))}</code>"
        inside = path.relative_to(self.home.folder).as_posix()
        return self.link(f"part-{path.stem}", inside, escape(inside))

    def to_look_up(self) -> str:
        """Return links to what is collected from all lessons."""
        items = (f"<li>{self.link(name, f'{name}.ipynb', said)}</li>" for name, said in COLLECTED_PAGES.items())
        return f"<ul>{''.join(items)}</ul>"

    def progress(self) -> str:
        """Return how much has passed, and how to take it along."""
        links = " or ".join(
            f'<a id="tl-{name}" href="{escape(self.exports + name, quote=True)}" download="{name}">{kind}</a>'
            for name, kind in EXPORTS.items()
        )
        return (
            f'<p><span id="tl-total">{total(self.home.lessons)}</span> Export this as {links}. It stays on this '
            "machine, in your folder; nobody else reads it.</p>"
        )


@cache
def stored_map() -> str:
    """Return the map as it is stored, in which no lesson has a state."""
    return MAP.read_text(encoding="utf-8")


def file_of(lesson: LessonState) -> str:
    """Return the notebook of a lesson, as it is called in the learner's folder."""
    return f"{lesson.outline.name}.ipynb"


def name_of(lesson: LessonState) -> str:
    """Return number and title of a lesson."""
    outline = lesson.outline
    return f"Lesson {outline.number}, {outline.title}" if outline.number else outline.title


def total(lessons: Sequence[LessonState]) -> str:
    """Return in a sentence how many exercises have passed."""
    n = sum(len(lesson.outline.exercises) for lesson in lessons)
    return f"{sum(len(lesson.passed) for lesson in lessons)} of {n} exercises passed."


def predicted(lesson: LessonState) -> str:
    """Return how many predictions of a lesson were right; nothing where none was made."""
    made = lesson.predictions
    return f"{sum(prediction.answer == 'right' for prediction in made)} of {len(made)}" if made else ""
