"""Tests for the page that summarizes a class's results."""

import itertools
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.reports.class_page import class_page, describe_mistake, mistake_counts, shared_mistakes
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.student_results import ClassResults
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.overrides import Override

FIRST, SECOND, *_ = exercises_of("01_lookup")
COMMON = next(mistake for mistake in SECOND.mistakes if mistake.name == "logarithm")
RARE = SECOND.mistakes[0]


def make_class(n: int = 5) -> ClassResults:
    """Return a class with a common mistake, a late student, a damaged file, and a student without a submission."""
    graded = {f"student {i}": [notebook(1, mistakes=(COMMON.name,))] for i in range(n - 2)}
    graded["other"] = [notebook(1, mistakes=(RARE.name,))]
    graded["late"] = [notebook(9, handed_in="2026-10-13T09:00:00+00:00", time_source="time of the file")]
    graded["<b>eve"] = [notebook(0, problem="It is <i>damaged.")]
    people = [Person(name) for name in graded if name != "late"] + [Person("idle")]
    due = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)})
    return class_results(graded, ClassRules(Roster(people), due, [Override("<b>eve", FIRST.name, FIRST.points / 2)]))


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.partition("</style>")[2]).split())


def test_most_common_mistake_comes_first():
    first, second = shared_mistakes(make_class())
    assert (first.exercise, first.summary) == (SECOND, "they return the logarithms of the weights")
    assert first.students == ["student 0", "student 1", "student 2"] and first.n_answers == 5
    assert second.students == ["other"]
    assert mistake_counts(make_class())[0] == {
        "exercise": SECOND.name,
        "mistake": COMMON.name,
        "students": 3,
        "answers": 5,
    }
    page = text_of(class_page(make_class()))
    common = page.partition("Common mistakes")[2].partition("Students who need attention")[0]
    assert f"3 of 5 : {SECOND.name} :" in common and "other" not in common


def test_lists_students_who_need_attention():
    page = text_of(class_page(make_class()))
    assert "Submitted nothing (1) idle" in page
    assert "Could not be graded (1) &lt;b&gt;eve: 01_lookup.ipynb: It is &lt;i&gt;damaged." in page
    assert "late: 01_lookup, 2 days late (time of the file)" in page and "Not in the roster (1) late" in page
    assert "6 of 7 students submitted something." in page


def test_lists_students_without_right_answers_or_attempts():
    started = notebook(0)
    unstarted = [replace(result, verdict=replace(result.verdict, status="not_started")) for result in started.exercises]
    graded = {"ada": [started], "ben": [replace(started, exercises=unstarted)], "cleo": [notebook(1)]}
    page = text_of(class_page(class_results(graded)))
    assert "Submitted without starting an exercise (1) ben" in page and "Started, but no points (1) ada" in page
    assert "cleo" not in page.partition("Students who need attention")[2].partition("Points")[0]


def test_counts_results_for_each_exercise():
    page = class_page(make_class())
    rows = dict(re.findall(r'<tr><th scope="row"><code>(\w+)</code>.*?</th>(.*?)</tr>', page))
    passed, partly, *others = map(int, re.findall(r"<td>(\d+)</td>", rows[FIRST.name]))
    assert (passed, partly, others) == (5, 1, [0, 0, 0, 1])
    assert [int(cell) for cell in re.findall(r"<td>(\d+)</td>", rows[SECOND.name])] == [1, 0, 4, 0, 0, 2]
    assert re.findall(r"<td>(\d+[.]\d\d)</td>", rows[SECOND.name]) == ["0.20", "0.20"]


def test_lists_remarks_without_changing_points():
    own = frozenset(range(100))
    graded = {
        name: [replace(notebook(1), fingerprint=own - {n}, notes=["softmax calls `torch.softmax` <b>."])]
        for n, name in enumerate(["ada", "ben"])
    }
    results = class_results({**graded, "cleo": [replace(notebook(1), fingerprint=frozenset(range(200, 300)))]})
    page = text_of(class_page(results))
    assert "softmax calls <code>torch.softmax</code> &lt;b&gt;." in class_page(results)
    assert [pair.students for pair in results.similar] == [("ada", "ben")]
    assert "ada; ben 01_lookup 98%" in page and "Nothing in this section changes points." in page
    costly = class_page(replace(results, rules=ClassRules(library_calls="none")))
    assert "Nothing in this section" not in costly and "You chose that an answer that calls" in costly
    assert len({student.points for student in results.students}) == 1
    assert "softmax calls `torch.softmax` <b>." in list(results.students[0].remarks)


def test_describes_failures_without_known_mistake():
    softmax = every_exercise()["softmax"]
    assert describe_mistake(softmax, "changes_argument") == "they change an argument"
    assert describe_mistake(softmax, "stops_at_total") == "their code stops after *sum the exponentials of each row*"
    assert describe_mistake(softmax, "stops_at_scores") == "they have not begun with the first step"
    assert describe_mistake(softmax, "of_another_edition") == "of another edition"
    described = describe_mistake(softmax, "operator_shares")  # this generated mistake has no summary
    assert described.startswith("they multiply the exponentials")


class Outline(HTMLParser):
    """The headings and tables of a page, to check whether the page is accessible."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[int] = []
        self.tables: list[dict[str, int]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script" and not {"src", "href"} & dict(attrs).keys()
        if tag != "meta":
            self.open.append(tag)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag == "table":
            self.tables.append({"caption": 0, "col": 0, "row": 0})
        if tag == "caption":
            self.tables[-1]["caption"] += 1
        if tag == "th":
            self.tables[-1][dict(attrs)["scope"] or ""] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_works_offline_and_is_accessible():
    for results in (make_class(), class_results({}), class_results({"ada": []})):
        page = class_page(results)
        outline = Outline(page)
        assert outline.open == [] and 'lang="en"' in page and "color-scheme: light dark" in page
        assert outline.headings[0] == 1
        assert all(below - above <= 1 for above, below in itertools.pairwise(outline.headings))
        assert all(table["caption"] == 1 and table["col"] and table["row"] for table in outline.tables)
        assert "<b>eve" not in page
    assert len(Outline(class_page(make_class())).tables) == 3


def test_shows_submission_time_and_source_for_every_notebook():
    zone = ZoneInfo("Europe/Berlin")
    policy = LatePolicy({"": datetime(2026, 10, 12, 18, tzinfo=zone)}, penalty=10, zone=zone)
    times = {
        "ada": {"handed_in": "2026-10-12T15:00:00+00:00", "time_source": "timestamp.txt"},
        "ben": {"handed_in": "2026-10-12T17:00:00+00:00", "time_source": "time of the file"},
        "eve": {"time_source": "timestamp.txt is empty"},
    }
    graded = {name: [notebook(1, **fields)] for name, fields in times.items()}
    results = class_results(graded, ClassRules(late_policy=policy))
    text = re.sub(r"<[^>]+>", "|", class_page(results))
    assert "|ada||01_lookup||2026-10-12 17:00||timestamp.txt|||" in text
    assert "|ben||01_lookup||2026-10-12 19:00||time of the file||1 day late (time of the file)|" in text
    assert "|eve||01_lookup||unknown||timestamp.txt is empty|||" in text
    assert list(results.remarks) == [
        "No late penalty, because the submission time is unknown: eve (timestamp.txt is empty)."
    ]


def test_reports_unknown_submission_times_once_per_class():
    policy = LatePolicy({"": datetime(2026, 10, 12, 18, tzinfo=UTC)}, penalty=10)
    graded = {f"student {n}": [notebook(1, time_source="all files have the time of the download")] for n in range(30)}
    page = text_of(class_page(class_results(graded, ClassRules(late_policy=policy))))
    before_times, _, _ = page.partition("Submission times")
    assert "because the submission time is unknown: all 30 students (all files have" in before_times
    assert before_times.count("the download") == 1 and "Late" not in before_times


def test_lists_students_without_submission_for_a_lesson():
    week_2 = [notebook(1, "02_scaling.ipynb", "02_scaling")]
    graded = {"ada": [notebook(1), *week_2], "ben": [notebook(1)], "cleo": week_2, "dan": []}
    roster = Roster([Person(name) for name in graded])
    page = text_of(class_page(class_results(graded, ClassRules(roster))))
    assert "Submitted nothing (1) dan Submitted nothing for 01_lookup (1) cleo" in page
    assert "Submitted nothing for 02_scaling (1) ben" in page
