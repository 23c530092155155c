"""The HTML page for the instructor: common mistakes, students who need attention, and the results of each exercise."""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES
from transformer_course.checking.judge import STOPS_AT
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

MAX_COMMON_MISTAKES = 8
N_BINS = 10
"""Number of bars in the distribution of points."""
COLUMNS = ["passed", "partly right", "not right", "did not finish", "not started", "not graded"]


@dataclass(frozen=True)
class SharedMistake:
    """A recognized mistake with the students who made it.

    Args:
        exercise: The exercise.
        name: The mistake's name.
        summary: A clause that describes the mistake, in ``Panel`` markup.
        students: The students who made the mistake.
        n_answers: Number of students who answered the exercise.
    """

    exercise: Exercise
    name: str
    summary: str
    students: Sequence[str]
    n_answers: int


@dataclass(frozen=True)
class ExerciseRow:
    """A row in the table of a lesson's exercises.

    Args:
        exercise: The exercise.
        counts: The number of students in each of ``COLUMNS``.
        median: The median run time of the answers in seconds, or empty if no answer ran.
        longest: The longest run time in seconds, or empty.
        mistakes: The recognized mistakes.
    """

    exercise: Exercise
    counts: Counter[str]
    median: str
    longest: str
    mistakes: Sequence[SharedMistake]


def class_page(results: ClassResults) -> str:
    """Return the page, which has no scripts, loads no other files, and never uses color alone to convey meaning."""
    submitted = [student for student in results.students if student.status != NOTHING_SUBMITTED]
    mistakes = shared_mistakes(results)
    return render(
        __package__,
        "class.html",
        results=results,
        remarks=list(results.remarks),
        submitted=submitted,
        points_summary=_points_summary(submitted, results),
        common_mistakes=[mistake for mistake in mistakes if len(mistake.students) > 1][:MAX_COMMON_MISTAKES],
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
    """Return the mistakes recognized in a class, most common first."""
    students_by_mistake: dict[tuple[str, str], list[str]] = {}
    n_answers: Counter[str] = Counter()
    for student, result in _answers(results):
        assert result.graded is not None
        n_answers[result.exercise.name] += result.graded.verdict.status != "not_started"
        for mistake in result.graded.verdict.mistakes:
            students_by_mistake.setdefault((result.exercise.name, mistake), []).append(student.name)
    found = []
    for (name, mistake), students in students_by_mistake.items():
        exercise = every_exercise()[name]
        summary = describe_mistake(exercise, mistake)
        found.append(SharedMistake(exercise, mistake, summary, students, n_answers[name]))
    return sorted(found, key=lambda mistake: (-len(mistake.students), mistake.exercise.name, mistake.summary))


def mistake_counts(results: ClassResults) -> list[dict[str, str | int]]:
    """Return the number of students for each recognized mistake, without names, so that the table can be shared."""
    return [
        {
            "exercise": mistake.exercise.name,
            "mistake": mistake.name,
            "students": len(mistake.students),
            "answers": mistake.n_answers,
        }
        for mistake in shared_mistakes(results)
    ]


def describe_mistake(exercise: Exercise, name: str) -> str:
    """Return a clause that describes a mistake, such as "they divide by √n_key"."""
    return in_third_person(_summary(exercise, name))


def _summary(exercise: Exercise, name: str) -> str:
    if name in GENERAL_MISTAKES:
        return GENERAL_MISTAKES[name].summary
    if name.startswith(STOPS_AT) and exercise.steps:
        step = name.removeprefix(STOPS_AT)
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
    """Return the most likely generated mistake with this name, or None."""
    edits = (edit for edit in catalog_of(exercise).edits if edit.name == name)
    return next((GeneratedMistake(edit, exercise.steps, exercise.messages) for edit in edits if exercise.steps), None)


def _answers(results: ClassResults) -> Iterator[tuple[StudentResult, ExerciseResult]]:
    for student in results.students:
        for lesson in student.lessons.values():
            yield from ((student, result) for result in lesson.exercises if result.graded)


def _points_summary(submitted: Sequence[StudentResult], results: ClassResults) -> str:
    points = [student.points for student in submitted]
    if not points:
        return ""
    median, maximum = plain_number(statistics.median(points)), results.max_points
    lowest, highest = plain_number(min(points)), plain_number(max(points))
    return f"The median is {median} of {maximum} points, and the points range from {lowest} to {highest}."


def _people(results: ClassResults) -> dict[str, list[str]]:
    """Return the students who need attention, keyed by reason."""
    without = [student for student in results.students if has_nothing_right(student)]
    groups: dict[str, Sequence[str]] = {
        "Submitted nothing": [s.name for s in results.students if s.status == NOTHING_SUBMITTED],
        **{f"Submitted nothing for {lesson}": names for lesson, names in results.without_submission.items() if lesson},
        "Submitted without starting an exercise": [s.name for s in without if not s.has_started],
        "Started, but no points": [s.name for s in without if s.has_started],
        **{
            status.capitalize(): [f"{s.name}: {' '.join(s.remarks)}" for s in results.students if s.status == status]
            for status in ("could not be graded", "graded in part")
        },
        "Requested a regrade": [
            f"{s.name}, {override.exercise or 'everything'}: {override.request}"
            for s in results.students
            for override in s.requests
        ],
        "Points changed since last time": results.changes,
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
            if lesson.lateness.concerns_student  # the remarks list unknown times
        ],
        "Not in the roster": [student.name for student in results.students if not student.is_listed],
    }
    return {reason: lines for reason, lines in groups.items() if lines}


def _times(results: ClassResults) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield rows with the student, the lesson, the submission time, the source of the time, and the lateness."""
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
    """Yield ranges of points with the number of students in each, highest range first."""
    maximum = results.max_points
    if not submitted or not maximum:
        return
    counts = Counter(min(int(N_BINS * student.points / maximum), N_BINS - 1) for student in submitted)
    for number in reversed(range(N_BINS)):
        first, end = -(-maximum * number // N_BINS), -(-maximum * (number + 1) // N_BINS)  # rounded up
        last = maximum if number == N_BINS - 1 else max(first, end - 1)
        if number == N_BINS - 1 or end > first:
            yield str(first) if first == last else f"{first} to {last}", counts[number]


def _exercise_rows(lesson: str, results: ClassResults, mistakes: Sequence[SharedMistake]) -> list[ExerciseRow]:
    rows = []
    for exercises in zip(*(student.lessons[lesson].exercises for student in results.students), strict=True):
        exercise = exercises[0].exercise
        seconds = [result.graded.seconds for result in exercises if result.graded]
        rows.append(
            ExerciseRow(
                exercise,
                Counter(_column(result) for result in exercises),
                median=f"{statistics.median(seconds):.2f}" if seconds else "",
                longest=f"{max(seconds):.2f}" if seconds else "",
                mistakes=[mistake for mistake in mistakes if mistake.exercise is exercise],
            )
        )
    return rows


def _column(result: ExerciseResult) -> str:
    if result.graded is None and result.override is None:
        return "not graded"
    if 0 < result.points < result.exercise.points:
        return "partly right"
    status = result.graded.verdict.status if result.graded else "wrong"
    if result.points == result.exercise.points or status == "passed":
        return "passed"
    columns = {"half_finished": "partly right", "crashed": "did not finish", "not_started": "not started"}
    return columns.get(status, "not right")
