"""Tests that text from people never becomes an element or an attribute in a rendered page."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import transformer_course
from tests.transformer_course.grading.sample_results import notebook
from transformer_course.checking.message_panel import Panel
from transformer_course.checking.verdict import Status, Verdict
from transformer_course.exercises import exercises_of
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.written_answers import WrittenAnswer
from transformer_course.grading.judging.answer_similarity import SimilarPair
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.reports.class_page import class_page
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.exports import short_feedback
from transformer_course.grading.reports.feedback import feedback_page
from transformer_course.grading.reports.feedback_zips import canvas_feedback
from transformer_course.grading.reports.student_results import ClassResults
from transformer_course.grading.reports.written_page import written_answers_page
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.overrides import Override
from transformer_course.home import home_page
from transformer_course.home.learner_progress import Home, LessonState
from transformer_course.home.lesson_outline import Outline
from transformer_course.lesson.final_page import FinalPage
from transformer_course.templates import environment, render
from transformer_course.workspace.progress import Prediction

COURSE = Path(transformer_course.__file__).parent
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    '" autofocus onfocus="alert(1)',
    "</pre></main></title></style><svg onload=alert(1)>",
    "<!-- <b> --> <![CDATA[ <i> ]]> <?php <u> ?>",
    "& &lt;b&gt; &#60;i&#62; &amp;amp;",
    "{{ 7 * 7 }}{% block main %}{# <b> #}{{ student }}",
    "\u202e<b>\u202c \u2066<i>\u2069",
    "\0<b>\0000\0 \x01\x08\x0b\x1b[31m<i>\x7f\x9b",
    '`<b>` *a<i>* `01_lookup.ipynb` `01_lookup.ipynb"<u>`',
    "javascript:alert(1)",
    "<b\n<i\r<u\u2028<s",
]
HARMLESS = str.maketrans("<>&\"'", "xxxxx")
"""A translation table from hostile texts to texts of the same length without HTML syntax."""


class Skeleton(HTMLParser):
    """A page's elements with their attribute names, its text, and its links."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, ...]] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "data-href")]

    def handle_endtag(self, tag: str) -> None:
        self.elements.append((f"/{tag}",))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.elements.append(("a comment", data))

    def handle_decl(self, decl: str) -> None:
        self.elements.append(("a declaration", decl))

    def handle_pi(self, data: str) -> None:
        self.elements.append(("a processing instruction", data))

    def unknown_decl(self, data: str) -> None:
        self.elements.append(("a declaration", data))


def hostile_class(text: str) -> ClassResults:
    """Return class results in which every text from a student or instructor is the given text."""
    exercises = exercises_of("01_lookup")
    core = [exercise for exercise in exercises if not exercise.stretch]
    stretch = [exercise for exercise in exercises if exercise.stretch]
    code = f"def {core[0].name}(x):\n    return {text}\n    return x"
    lines = code.splitlines()
    error = Verdict(core[0].name, "crashed", f"{text}\nOn your line 2:\n    {lines[1].strip()}", hints=(text, text))
    statuses: list[Status] = ["wrong", "mistake", "half_finished", "not_started", "passed"]
    verdicts = [
        error,
        *(Verdict(one.name, s, text, (text,), (text,)) for one, s in zip(core[1:], statuses, strict=False)),
    ]
    graded = [GradedExercise(one, verdict, 0.1) for one, verdict in zip(core, verdicts, strict=True)]
    graded += [GradedExercise(one, Verdict(one.name, "wrong", text), 0.1) for one in stretch]
    one_line = " ".join(text.split())
    submission = Submission(
        text,
        Path("folder", f"ada_123_456_{one_line.replace('/', '')}.ipynb"),
        "01_lookup",
        remark=text,
        beside=text,
        handed_in="2026-10-13T09:00:00+00:00",
        time_source=text,
        written={text: text},
    )
    best = GradedSubmission(submission, graded, "full", notes=[text], answers={one.name: code for one in core})
    names = {"first": f"A{text}", "second": f"B{text}", "broken": f"C{text}", "idle": f"D{text}"}
    people = [Person(key, name) for key, name in names.items()]
    by_hand = [
        Override("first", core[0].name, 1.0, text, text),
        Override("first", core[1].name, None, "", text),
        Override("first", "", None, text, ""),
        Override("idle", core[0].name, 1.0, text, text),
        Override(text, core[0].name, 1.0),  # an override for a student who is not in the class
    ]
    rules = ClassRules(Roster(people), LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=10), by_hand)
    results = class_results(
        {
            "first": [best, replace(best, exercises=graded[1:])],
            "second": [replace(best, answers={})],
            "broken": [notebook(0, file=submission.path.name, problem=text, remark=text)],
            f"E{text}": [notebook(1)],
        },
        rules,
    )
    first, second = results.students[0].name, results.students[1].name
    written = [
        WrittenAnswer("01_lookup", text, first, text, 1.0, 2.0, text, text, text),
        WrittenAnswer("01_lookup", f"{text}2", first, text, None, None, text, text, text),
    ]
    students = [replace(one, written=written) if one.name == first else one for one in results.students]
    pairs = [SimilarPair("01_lookup", (first, second), 0.9)]
    return replace(results, students=students, similar=pairs, changes=[text], unknown=[text])


def feedback_pages(text: str) -> str:
    return "".join(map(feedback_page, hostile_class(text).students))


def written_page(text: str) -> str:
    return written_answers_page([one for student in hostile_class(text).students for one in student.written])


def hostile_home_page(text: str) -> str:
    """Return home pages in which every title, cell, path and problem is the given text."""
    outlines = [
        Outline("00_first", text, ("one", text), ("three",), 30, 20.0, {"a": 3.0, "one": 2.0, text: 1.0, "three": 0.5}),
        Outline("01_second", text, ("four", text), (), 10, 25.0, {"four": 5.0, text: 1.0}),
        Outline(f"02_{text}", text, ("five",), (), 10, 25.0, {"five": 5.0}),
    ]
    last_time = datetime(2026, 10, 12, tzinfo=UTC)
    predictions = [Prediction(text, "right", 0.9, text, text)]
    first = LessonState(outlines[0], ("one",), ("one",), frozenset({"a"}), last_time, True, tuple(predictions), text)
    lessons = [first, LessonState(outlines[1], has_copy=False), LessonState(outlines[2], ("five",))]
    folder = Path("/", text.replace("/", ""))
    displayed = [
        Home(lessons, [text], folder, parts, predictions) for parts in (folder / "parts", folder.parent / text)
    ]
    finished = [replace(first, passed=("one", text, "three"))]
    displayed += [Home(finished, [], folder, folder), Home([LessonState(one) for one in outlines], [], folder, folder)]
    return "".join(home_page.home_page(home, f"/{text}/", f"/{text}/") for home in displayed)


PAGES: dict[str, Callable[[str], str]] = {
    "class": lambda text: class_page(hostile_class(text)),
    "feedback": feedback_pages,
    "written_answers": written_page,
    "home": hostile_home_page,
    "final_page": lambda text: (
        FinalPage(text, {text: {text: "yours"}}, {text: text}, {text: text}, text, [(text, text)]).html
    ),
}
"""Functions that render each template, except the layout, with a given text in all places."""
FRAGMENTS: dict[str, Callable[[str], str]] = {
    "comment for Moodle": lambda text: "".join(map(short_feedback, hostile_class(text).students)),
    "message": lambda text: Panel(text, f"{text}\n    {text}\n{text}", "bad")._repr_html_(),
}


@pytest.fixture(autouse=True)
def small_map(monkeypatch):
    monkeypatch.setattr(home_page, "stored_map", lambda: '<svg><a class="tl-lesson" data-lesson="00_first"></a></svg>')


def test_tests_cover_every_template():
    templates = {path.stem for path in COURSE.rglob("templates/*.html")}
    assert templates == {*PAGES, "page"}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("page", [*PAGES, *FRAGMENTS])
def test_hostile_text_creates_no_element_or_attribute(page: str, text: str):
    render_page = {**PAGES, **FRAGMENTS}[page]
    hostile, harmless = Skeleton(render_page(text)), Skeleton(render_page(text.translate(HARMLESS)))
    assert hostile.elements == harmless.elements and len(hostile.elements) > 5
    assert hostile.text.translate(HARMLESS) == harmless.text.translate(HARMLESS)
    assert all(link.startswith("/") or link == "01_lookup.ipynb" for link in hostile.links)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
@pytest.mark.parametrize("page", PAGES)
def test_displays_hostile_text_unchanged(page: str, text: str):
    assert Skeleton(PAGES[page](text)).text.count(text) >= 4


def test_canvas_notebook_escapes_hostile_feedback():
    text = "</main><script>alert(1)</script><main>"
    content, n = canvas_feedback(hostile_class(text).students)
    [name, *_] = zipfile.ZipFile(BytesIO(content)).namelist()
    [cell] = json.loads(zipfile.ZipFile(BytesIO(content)).read(name))["cells"]
    displayed = Skeleton("".join(cell["outputs"][0]["data"]["text/html"]))
    assert n and not {"script", "main"} & {tag for tag, *_ in displayed.elements}
    assert "verdict is wrong" in displayed.text and text in displayed.text


def test_inserts_only_markup_as_html(tmp_path: Path):
    template = environment("transformer_course.grading.reports").from_string("{{ a }}{{ b }}{{ c }}")
    panel = Panel("A", "", "good")
    assert template.render(a="<b>", b=Markup("<b>"), c=panel) == f"&lt;b&gt;<b>{panel._repr_html_()}"


def test_missing_variable_raises_an_error():
    with pytest.raises(UndefinedError, match="student"):
        render("transformer_course.grading.reports", "feedback.html")


def test_feedback_page_uses_no_external_files_or_scripts():
    page = PAGES["feedback"]("Ada").partition("</html>")[0]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page and '<html lang="en">' in page
    assert not any(tag == "script" or {"src", "href"} & {*names} for tag, *names in Skeleton(page).elements)
