"""The class page in HTML: what to explain again, which students need attention, results of each exercise."""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES
from transformer_course.checking.message_panel import as_html
from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import catalog_of
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.grading.reports.student_results import (
    NOTHING_SUBMITTED,
    ClassResults,
    ExerciseResult,
    StudentResult,
    plain_number,
)
from transformer_course.grading.reports.third_person import in_third_person
from transformer_course.templates import render

N_TO_EXPLAIN = 8
"""Maximum number of mistakes in the list of what to explain again."""
N_BINS = 10
"""Number of ranges of points in the distribution."""
COLUMNS = ["passed", "partly", "not right", "did not finish", "not started", "not graded"]


@dataclass(frozen=True)
class SharedMistake:
    """A mistake that several students may have made.

    Args:
        exercise: The exercise.
        name: The mistake's name.
        summary: A clause about what they do, in the markup of ``Panel``.
        students: The students who made it.
        n_answers: Number of students who have answered the exercise.
    """

    exercise: Exercise
    name: str
    summary: str
    students: Sequence[str]
    n_answers: int


@dataclass(frozen=True)
class ExerciseRow:
    """An exercise in the table of its lesson.

    Args:
        exercise: The exercise.
        counts: The number of students in each of ``COLUMNS``.
        median: The median time of the answers in seconds, or empty if none ran.
        longest: The longest time.
        mistakes: The recognized mistakes.
    """

    exercise: Exercise
    counts: Counter[str]
    median: str
    longest: str
    mistakes: Sequence[SharedMistake]


def class_page(results: ClassResults) -> str:
    """Return the page, which has no scripts, loads nothing, and conveys nothing by color alone."""
    submitted = [student for student in results.students if student.status != NOTHING_SUBMITTED]
    mistakes = shared_mistakes(results)
    return render(
        __package__,
        "class.html",
        results=results,
        remarks=list(results.remarks),
        submitted=submitted,
        points_in_short=_points_in_short(submitted, results),
        to_explain=[one for one in mistakes if len(one.students) > 1][:N_TO_EXPLAIN],
        people=_people(results),
        distribution=list(_distribution(submitted, results)),
        copies=list(results.copies),
        notes=list(_notes(results)),
        lessons={lesson: _exercise_rows(lesson, results, mistakes) for lesson in results.lessons},
        columns=COLUMNS,
        times=list(_times(results)),
        message=as_html,
    )


def has_nothing_right(student: StudentResult) -> bool:
    """Return whether a student with graded work has no points."""
    return student.status.startswith("graded") and not student.points and not student.bonus


def shared_mistakes(results: ClassResults) -> list[SharedMistake]:
    """Return the recognized mistakes of a class, most common first."""
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
    return sorted(found, key=lambda one: (-len(one.students), one.exercise.name, one.summary))


def mistake_counts(results: ClassResults) -> list[dict[str, str | int]]:
    """Return the number of students for each recognized mistake, without names so that it can be shared."""
    return [
        {"exercise": one.exercise.name, "mistake": one.name, "students": len(one.students), "answers": one.n_answers}
        for one in shared_mistakes(results)
    ]


def describe_mistake(exercise: Exercise, name: str) -> str:
    """Return a clause about students with a recognized mistake, such as "they divide by √n_key"."""
    return in_third_person(_summary(exercise, name))


def _summary(exercise: Exercise, name: str) -> str:
    if name in GENERAL_MISTAKES:
        return GENERAL_MISTAKES[name].summary
    if name.startswith("stops_at_") and exercise.steps:
        step = name.removeprefix("stops_at_")
        done = exercise.steps.describe(step) if step in exercise.steps.steps else ""
        return f"your code stops after *{done}*" if done else "you have not begun with the first step"
    known = next((mistake for mistake in exercise.mistakes if mistake.name == name), None) or _generated_mistake(
        exercise, name
    )
    if known is None:
        return name.replace("_", " ")
    clause = (known.summary or known.message.partition(". ")[0]).rstrip(".")
    return clause[0].lower() + clause[1:] if clause.startswith("You") else clause


def _generated_mistake(exercise: Exercise, name: str) -> Mistake | None:
    """Return the likeliest generated mistake with a name, or None."""
    edits = (edit for edit in catalog_of(exercise).edits if edit.name == name)
    return next((GeneratedMistake(edit, exercise.steps, exercise.messages) for edit in edits if exercise.steps), None)


def _answers(results: ClassResults) -> Iterator[tuple[StudentResult, ExerciseResult]]:
    for student in results.students:
        for lesson in student.lessons.values():
            yield from ((student, one) for one in lesson.exercises if one.graded)


def _points_in_short(submitted: Sequence[StudentResult], results: ClassResults) -> str:
    points = [student.points for student in submitted]
    if not points:
        return ""
    median, most = statistics.median(points), results.max_points
    ends = f"from {plain_number(min(points))} to {plain_number(max(points))}"
    return f"Half of them have at least {plain_number(median)} of {most} points; they range {ends}."


def _people(results: ClassResults) -> dict[str, list[str]]:
    """Return the students who need attention, by reason."""
    without = [student for student in results.students if has_nothing_right(student)]
    groups: dict[str, Sequence[str]] = {
        "Submitted nothing": [s.name for s in results.students if s.status == NOTHING_SUBMITTED],
        **{f"Submitted nothing for {lesson}": names for lesson, names in results.without_submission.items() if lesson},
        "Submitted, but not started": [s.name for s in without if not s.has_begun],
        "Started, but no points": [s.name for s in without if s.has_begun],
        **{
            status.capitalize(): [f"{s.name}: {' '.join(s.remarks)}" for s in results.students if s.status == status]
            for status in ("could not be graded", "graded in part")
        },
        "Asked for another look": [
            f"{s.name}, {one.exercise or 'everything'}: {one.request}" for s in results.students for one in s.requests
        ],
        "Changed since last time": results.changes,
        "Submitted other files as well": [
            f"{s.name}: {nb.submission.beside}" for s in results.students for nb in s.notebooks if nb.submission.beside
        ],
        "Name similar to another student's": [
            f"{student.name}: {remark}" for student in results.students for remark in student.remarks_on_name
        ],
        "Late": [
            f"{student.name}: {lesson.lesson}, {lesson.lateness.message}"
            for student in results.students
            for lesson in student.lessons.values()
            if lesson.lateness.concerns_student  # unknown times are in the remarks
        ],
        "Not in the roster": [student.name for student in results.students if not student.is_listed],
    }
    return {reason: lines for reason, lines in groups.items() if lines}


def _times(results: ClassResults) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield student, lesson, submission time, its source, and the lateness."""
    for student in results.students:
        for lesson in student.lessons.values():
            if lesson.notebook:
                yield (
                    student.name,
                    lesson.lesson,
                    *lesson.submitted(results.rules.late_policy.zone),
                    lesson.lateness.message if lesson.lateness.concerns_student else "",
                )


def _notes(results: ClassResults) -> Iterator[str]:
    for student in results.students:
        for lesson in student.lessons.values():
            for note in lesson.notebook.notes if lesson.notebook else ():
                yield f"{student.name}: {lesson.lesson}: {note}"


def _distribution(submitted: Sequence[StudentResult], results: ClassResults) -> Iterator[tuple[str, int]]:
    """Yield ranges of points with their numbers of students, highest first."""
    most = results.max_points
    if not submitted or not most:
        return
    counts = Counter(min(int(N_BINS * student.points / most), N_BINS - 1) for student in submitted)
    for number in reversed(range(N_BINS)):
        first, end = -(-most * number // N_BINS), -(-most * (number + 1) // N_BINS)  # rounded up
        last = most if number == N_BINS - 1 else max(first, end - 1)
        if number == N_BINS - 1 or end > first:
            yield str(first) if first == last else f"{first} to {last}", counts[number]


def _exercise_rows(lesson: str, results: ClassResults, mistakes: Sequence[SharedMistake]) -> list[ExerciseRow]:
    rows = []
    for exercises in zip(*(student.lessons[lesson].exercises for student in results.students), strict=True):
        exercise = exercises[0].exercise
        seconds = [one.graded.seconds for one in exercises if one.graded]
        rows.append(
            ExerciseRow(
                exercise,
                Counter(_column(one) for one in exercises),
                median=f"{statistics.median(seconds):.2f}" if seconds else "",
                longest=f"{max(seconds):.2f}" if seconds else "",
                mistakes=[one for one in mistakes if one.exercise is exercise],
            )
        )
    return rows


def _column(one: ExerciseResult) -> str:
    if one.graded is None and one.override is None:
        return "not graded"
    if 0 < one.points < one.exercise.points:
        return "partly"
    status = one.graded.verdict.status if one.graded else "wrong"
    if one.points == one.exercise.points or status == "passed":
        return "passed"
    return {"half_finished": "partly", "crashed": "did not finish", "not_started": "not started"}.get(
        status, "not right"
    )
