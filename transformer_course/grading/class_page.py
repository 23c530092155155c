"""A page about a whole class, as HTML: what to explain again, who needs a word, how each exercise went."""

import html
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES
from transformer_course.checking.message_panel import as_html
from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises import every_exercise
from transformer_course.grading.class_results import ClassResults, ExerciseResult, StudentResult, plain_number
from transformer_course.grading.page_template import PAGE_TEMPLATE
from transformer_course.slips.catalogue import catalogue_of
from transformer_course.slips.slip import SlipMistake

N_TO_EXPLAIN = 8
"""Number of mistakes in the list of what to explain again."""
N_BINS = 10
"""Number of ranges of points in the distribution."""
COLUMNS = ("passed", "partly", "not right", "did not finish", "not started", "not handed in")


@dataclass(frozen=True)
class SharedMistake:
    """A mistake that several students may have made.

    Args:
        exercise: The exercise.
        name: The mistake's name.
        does: What it does, as a clause with the marks of ``Panel``.
        students: Who made it.
        n_answers: Number of students who have answered the exercise.
    """

    exercise: Exercise
    name: str
    does: str
    students: Sequence[str]
    n_answers: int


def class_page(results: ClassResults) -> str:
    """Return the page. It needs no script and nothing from elsewhere, and says nothing by colour alone."""
    handed_in = [student for student in results.students if student.status != "nothing handed in"]
    n_handed_in = f"{len(handed_in)} of {len(results.students)} students handed in."
    parts = [
        f"<h1>The class: {html.escape(', '.join(results.lessons)) or 'nothing graded'}</h1>",
        f"<p>{n_handed_in} {_points_in_short(handed_in, results)}</p>",
        *([_list(results.remarks)] if any(results.remarks) else []),
        *_to_explain(results),
        *_people(results),
        *_distribution(handed_in, results),
        *_to_review(results),
        *(part for lesson in results.lessons for part in _lesson(lesson, results)),
    ]
    return PAGE_TEMPLATE.format(title="The class", body="\n".join(["<main>", *parts, "</main>"]))


def has_nothing_right(student: StudentResult) -> bool:
    """Return whether a student whose work was graded has no points at all."""
    return student.status.startswith("graded") and not student.points and not student.bonus


def shared_mistakes(results: ClassResults) -> list[SharedMistake]:
    """Return the recognised mistakes of a class, those of the most students first."""
    made: dict[tuple[str, str], list[str]] = {}
    n_answers: Counter[str] = Counter()
    for student, one in _answers(results):
        assert one.graded is not None
        n_answers[one.exercise.name] += one.graded.verdict.status != "not_started"
        for mistake in one.graded.verdict.mistakes:
            made.setdefault((one.exercise.name, mistake), []).append(student.name)
    found = [
        SharedMistake(
            exercise := every_exercise()[name], mistake, describe_mistake(exercise, mistake), who, n_answers[name]
        )
        for (name, mistake), who in made.items()
    ]
    return sorted(found, key=lambda one: (-len(one.students), one.exercise.name, one.does))


def mistake_counts(results: ClassResults) -> list[dict[str, str | int]]:
    """Return how many students made each recognised mistake, and how many answered: no names, so it may be shared."""
    return [
        {"exercise": one.exercise.name, "mistake": one.name, "students": len(one.students), "answers": one.n_answers}
        for one in shared_mistakes(results)
    ]


def describe_mistake(exercise: Exercise, name: str) -> str:
    """Return what a recognised mistake does, as a clause."""
    if name in GENERAL_MISTAKES:
        return GENERAL_MISTAKES[name].does
    if name.startswith("stops_at_") and exercise.steps:
        step = name.removeprefix("stops_at_")
        done = exercise.steps.describe(step) if step in exercise.steps.steps else ""
        return f"the answer stops after *{done}*" if done else "the first step is still to come"
    known = next((mistake for mistake in exercise.mistakes if mistake.name == name), None) or _slip(exercise, name)
    return (known.does or known.says.partition(". ")[0]).rstrip(".") if known else name.replace("_", " ")


def _slip(exercise: Exercise, name: str) -> Mistake | None:
    """Return the likeliest slip of a name; None if there is none."""
    slips = (slip for slip in catalogue_of(exercise).slips if slip.name == name)
    return next((SlipMistake(slip, exercise.steps, exercise.told) for slip in slips if exercise.steps), None)


def _answers(results: ClassResults) -> Iterator[tuple[StudentResult, ExerciseResult]]:
    for student in results.students:
        for lesson in student.lessons.values():
            yield from ((student, one) for one in lesson.exercises if one.graded)


def _points_in_short(handed_in: Sequence[StudentResult], results: ClassResults) -> str:
    points = [student.points for student in handed_in]
    if not points:
        return ""
    median, most = statistics.median(points), results.max_points
    ends = f"from {plain_number(min(points))} to {plain_number(max(points))}"
    return f"Half of them have at least {plain_number(median)} of {most} points; they range {ends}."


def _to_explain(results: ClassResults) -> Iterator[str]:
    common = [one for one in shared_mistakes(results) if len(one.students) > 1][:N_TO_EXPLAIN]
    yield "<h2>What to explain again</h2>"
    if not common:
        yield "<p>No mistake was recognised in the answers of more than one student.</p>"
        return
    yield "<ol>"
    for one in common:
        yield f"<li>{_mistake(one, f'<code>{one.exercise.name}</code>: ')}</li>"
    yield "</ol>"


def _mistake(one: SharedMistake, where: str = "") -> str:
    """Return a line about a mistake, which opens to show who made it."""
    told = f"<strong>{len(one.students)} of {one.n_answers}</strong>: {where}{as_html(one.does)}."
    return f"<details><summary>{told}</summary>{_list(one.students)}</details>"


def _people(results: ClassResults) -> Iterator[str]:
    without = [student for student in results.students if has_nothing_right(student)]
    groups = {
        "Handed in nothing": [s.name for s in results.students if s.status == "nothing handed in"],
        "Handed in, but never began": [s.name for s in without if not s.has_begun],
        "Began, and has no points": [s.name for s in without if s.has_begun],
        **{
            status.capitalize(): [f"{s.name}: {' '.join(s.remarks)}" for s in results.students if s.status == status]
            for status in ("could not be graded", "graded in part")
        },
        "Asks for another look": [
            f"{s.name}, {one.exercise or 'everything'}: {one.request}" for s in results.students for one in s.requests
        ],
        "Changed since last time": results.changes,
        "Handed in something else as well": [
            f"{s.name}: {nb.submission.beside}" for s in results.students for nb in s.notebooks if nb.submission.beside
        ],
        "Called nearly the same as somebody else": [
            f"{student.name}: {remark}" for student in results.students for remark in student.remarks_on_name
        ],
        "Late, or handed in at a time that is not known": [
            f"{student.name}: {lesson.lesson}, {lesson.lateness.says}"
            for student in results.students
            for lesson in student.lessons.values()
            if lesson.lateness.says
        ],
        "Not in the roster": [student.name for student in results.students if not student.is_listed],
    }
    shown = {title: lines for title, lines in groups.items() if lines}
    if shown:
        yield "<h2>Who needs a word</h2>"
    for title, lines in shown.items():
        yield f"<h3>{title} ({len(lines)})</h3>{_list(lines)}"


def _to_review(results: ClassResults) -> Iterator[str]:
    notes = [
        f"{student.name}: {lesson.lesson}: {note}"
        for student in results.students
        for lesson in student.lessons.values()
        for note in (lesson.notebook.notes if lesson.notebook else ())
    ]
    copies = [(*one,) for one in results.copies]
    if copies or notes:
        costs = (
            "An answer that calls what was to be written has no points, as you have set; nothing else here changes any."
        )
        is_costly = notes and results.rules.library_calls == "none"
        yield f"<h2>Worth a look</h2><p>{costs if is_costly else 'None of this has changed a score.'}</p>"
    if copies:
        yield f"<h3>Nearly the same ({len(copies)})</h3><p>The text of the answers, apart from names, comments, "
        yield "layout and what the course's own solutions have too. That is a reason to read them, and no proof.</p>"
        rows = [[html.escape("; ".join(who)), lesson, f"{least:.0%}"] for lesson, who, least in copies]
        yield _table("Submissions that are nearly the same", ["students", "lesson", "alike at least"], rows)
    if notes:
        yield f"<h3>Calls, or is, what was to be written ({len(notes)})</h3>"
        yield f"<ul>{''.join(f'<li>{as_html(note)}</li>' for note in notes)}</ul>"


def _distribution(handed_in: Sequence[StudentResult], results: ClassResults) -> Iterator[str]:
    most = results.max_points
    if not handed_in or not most:
        return
    counts = Counter(min(int(N_BINS * student.points / most), N_BINS - 1) for student in handed_in)
    rows = []
    for number in reversed(range(N_BINS)):
        first, end = -(-most * number // N_BINS), -(-most * (number + 1) // N_BINS)  # rounded up
        last = most if number == N_BINS - 1 else max(first, end - 1)
        if number == N_BINS - 1 or end > first:
            title = str(first) if first == last else f"{first} to {last}"
            rows.append([title, *_bar(counts[number], len(handed_in))])
    yield "<h2>Points</h2>"
    yield _table(f"Students by their points, of {most}", ["points", "students", ""], rows)


def _lesson(lesson: str, results: ClassResults) -> Iterator[str]:
    shown = [student.lessons[lesson] for student in results.students]
    yield f"<h2>{html.escape(lesson)}</h2>"
    rows = []
    mistakes = shared_mistakes(results)
    told = []
    for exercises in zip(*(one.exercises for one in shown), strict=True):
        exercise = exercises[0].exercise
        counts = Counter(_column(one) for one in exercises)
        seconds = [one.graded.seconds for one in exercises if one.graded]
        times = [f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}"] if seconds else ["", ""]
        bonus = " (bonus)" if exercise.stretch else ""
        name = f"<code>{exercise.name}</code>{bonus}"
        passed = _bar(counts["passed"], len(exercises))
        rows.append([name, *passed, *(str(counts[column]) for column in COLUMNS[1:]), *times])
        own = [one for one in mistakes if one.exercise is exercise]
        if own:
            lines = [f"<li>{_mistake(one)}</li>" for one in own]
            told.append(f"<h4><code>{exercise.name}</code></h4><ul>{''.join(lines)}</ul>")
    titles = ["exercise", COLUMNS[0], "", *COLUMNS[1:], "median, s", "longest, s"]
    yield _table("How many students, and how long their answers ran", titles, rows)
    if told:
        yield "<h3>Mistakes that were recognised</h3>"
        yield from told


def _column(one: ExerciseResult) -> str:
    if one.graded is None and one.override is None:
        return "not handed in"
    if 0 < one.points < one.exercise.points:
        return "partly"
    status = one.graded.verdict.status if one.graded else "wrong"
    if one.points == one.exercise.points or status == "passed":
        return "passed"
    return {"half_finished": "partly", "crashed": "did not finish", "not_started": "not started"}.get(
        status, "not right"
    )


def _bar(n: int, of: int) -> list[str]:
    """Return a number, and a bar that shows it to those who see."""
    return [str(n), f'<div class="bar" aria-hidden="true" style="width: {5 * n / max(of, 1):.1f}em"></div>']


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, of which the first cell in each row is its title; cells are HTML."""
    head = "".join(f'<th scope="col">{title}</th>' if title else "<td></td>" for title in titles)
    cells = [(first, "".join(f"<td>{cell}</td>" for cell in others)) for first, *others in rows]
    body = "".join(f'<tr><th scope="row">{first}</th>{others}</tr>' for first, others in cells)
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">{table}</div>'


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"
