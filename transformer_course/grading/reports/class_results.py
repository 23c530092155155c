"""The results of a class as every table and page shows them: the grader's verdicts, under what the instructor has set.

The same verdicts can be shown again under other rules, and nothing runs twice.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol, TypeVar
from zoneinfo import ZoneInfo

from transformer_course.checking.formatting import join_words
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_lesson, exercises_of
from transformer_course.grading.incoming.people import Match, Roster
from transformer_course.grading.incoming.platform_names import LASTING_NUMBERS, PersonHint
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.written_answers import Key, WrittenAnswer, marked
from transformer_course.grading.judging.answer_similarity import SimilarPair, similar_pairs
from transformer_course.grading.judging.graded_results import Attempt, GradedExercise, GradedSubmission
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import EXTENSIONS_FILE, Lateness, in_words
from transformer_course.grading.rules.overrides import OVERRIDES_FILE as OVERRIDES
from transformer_course.grading.rules.overrides import Override

EARLIEST = datetime.min.replace(tzinfo=UTC)
MIN_SUBMITTED_FRACTION = 0.2
"""A lesson counts for the class if as many of those who handed in anything handed it in, or if it is asked for.

In a small class one student is as many, and may have mistaken the file: one alone counts only if no lesson has more.
"""


MAX_LISTED_NAMES = 5


class OfStudent(Protocol):
    """A row of a table of the instructor's."""

    @property
    def student(self) -> str:
        """Whose it is, as the table has it."""


Row = TypeVar("Row", bound=OfStudent)


@dataclass(frozen=True)
class ExerciseResult:
    """An exercise of a student, with the points that count.

    Args:
        exercise: The exercise.
        graded: The grader's verdict; None if there is none.
        override: What the instructor has decided instead, or has to say about it.
        partial_credit: Whether the cases that are right count if some are wrong.
    """

    exercise: Exercise
    graded: GradedExercise | None = None
    override: Override | None = None
    partial_credit: bool = False

    @property
    def points(self) -> float:
        """The points: those given by hand, if any are; else the grader's."""
        if self.override is not None and self.override.points is not None:
            return self.override.points
        return self.automatic_points

    @property
    def automatic_points(self) -> float:
        """The grader's points."""
        if self.graded is None:
            return 0
        if self.partial_credit and not self.graded.verdict.passed and self.graded.n_cases:
            return round(self.exercise.points * self.graded.n_right / self.graded.n_cases, 2)
        return self.graded.points


@dataclass(frozen=True)
class LessonResult:
    """A lesson of a student.

    Args:
        lesson: Its name.
        notebook: The notebook that counts; None if none was handed in.
        exercises: Its exercises, in the order of the lesson.
        lateness: How late the notebook was.
        points_after: The points of the core exercises less the penalty.
        attempt: Everything that was submitted with that notebook.
        held_back: What a later attempt would lower, which therefore does not count; empty if there is none.
    """

    lesson: str
    notebook: GradedSubmission | None
    exercises: Sequence[ExerciseResult]
    lateness: Lateness
    points_after: float
    attempt: Sequence[GradedSubmission] = ()
    held_back: str = ""

    @property
    def points(self) -> float:
        """The points of its core exercises."""
        return round(sum(one.points for one in self.exercises if not one.exercise.stretch), 2)

    def submitted(self, zone: ZoneInfo | None = None) -> tuple[str, str]:
        """Return when the notebook was submitted, on the clock of a zone, and where that time is from, or why not."""
        if self.notebook is None:
            return "", ""
        submission = self.notebook.submission
        if not submission.handed_in:
            return "unknown", submission.time_source
        return in_words(datetime.fromisoformat(submission.handed_in), zone), submission.time_source

    @property
    def bonus(self) -> float:
        """The points of its stretch exercises, which come on top."""
        return round(sum(one.points for one in self.exercises if one.exercise.stretch), 2)


@dataclass(frozen=True)
class StudentResult:
    """A student, with all that the tables and pages show.

    Args:
        name: The name in all tables, which no other student has.
        person: The entry in the roster; with an id alone for those who have none.
        notebooks: Everything that was handed in.
        lessons: The lessons that are graded, by name.
        comment: What the instructor says about all of it.
        is_listed: Whether the student is in the roster, or there is none.
        written: The written answers, with their marks.
        extensions: When lessons are due for this student, where that is not when they are for all; "" for every lesson.
        like: Whose submissions are nearly the same, by lesson.
        requests: What the student has asked to be looked at again, and has no answer yet.
        candidates: Who in the roster the student may be, if that is not certain.
    """

    name: str
    person: Person
    notebooks: Sequence[GradedSubmission]
    lessons: Mapping[str, LessonResult]
    comment: str = ""
    is_listed: bool = True
    written: Sequence[WrittenAnswer] = ()
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    like: Mapping[str, Sequence[str]] = field(default_factory=dict)
    requests: Sequence[Override] = ()
    candidates: Sequence[str] = ()

    @property
    def points(self) -> float:
        """The points of all core exercises."""
        return round(sum(lesson.points for lesson in self.lessons.values()), 2)

    @property
    def bonus(self) -> float:
        """The points of all stretch exercises."""
        return round(sum(lesson.bonus for lesson in self.lessons.values()), 2)

    @property
    def points_after(self) -> float:
        """The points of the core exercises less the penalties for being late."""
        return round(sum(lesson.points_after for lesson in self.lessons.values()), 2)

    @property
    def status(self) -> str:
        """Whether something was handed in, and could be graded."""
        if any(notebook.exercises for notebook in self.notebooks):
            is_in_part = self.not_judged or any(notebook.submission.problem for notebook in self.notebooks)
            return "graded in part" if is_in_part else "graded"
        is_broken = any(notebook.submission.problem for notebook in self.notebooks)
        return "could not be graded" if is_broken else "nothing handed in"

    @property
    def not_judged(self) -> list[str]:
        """The answers that count and have no verdict, for a reason that may be no fault of theirs."""
        return [
            f"{lesson.lesson}: {one.exercise.name} could not be judged, it {one.graded.ended_by_others}."
            for lesson in self.lessons.values()
            for one in lesson.exercises
            if one.graded and one.graded.ended_by_others and not (one.override and one.override.points is not None)
        ]

    @property
    def has_begun(self) -> bool:
        """Whether an exercise that counts was begun."""
        exercises = [one for lesson in self.lessons.values() for one in lesson.exercises]
        return any(one.graded and one.graded.verdict.status != "not_started" for one in exercises)

    @property
    def isolation(self) -> str:
        """How far the code was kept from all else when these results were obtained; the weakest counts."""
        levels = {one.isolation for one in self.notebooks if one.isolation}
        return next((level for level in ("none", "shared user", "full") if level in levels), "")

    @property
    def remarks_on_name(self) -> list[str]:
        """What the instructor should know about whose notebooks these are."""
        if self.is_listed and self.person != Person(self.name):
            return []  # the roster tells those apart whose names look alike
        return list(dict.fromkeys(one.submission.remark for one in self.notebooks if one.submission.remark))

    def remarks_on_choice(self, lesson: LessonResult) -> Iterator[str]:
        """Yield which notebook of a lesson counts, if several were submitted together."""
        n = sum(one.submission.lesson == lesson.lesson for one in lesson.attempt)
        if n > 1 and lesson.notebook is not None:
            yield f"{n} notebooks of {lesson.lesson} were submitted; {lesson.notebook.submission.file} counts."

    @property
    def held_back(self) -> list[str]:
        """What a later attempt at each lesson would lower, and therefore does not count."""
        return [
            f"{lesson.lesson}: an earlier result counts, because the latest one would lower {lesson.held_back}. "
            "Give --replace to count the latest one."
            for lesson in self.lessons.values()
            if lesson.held_back
        ]

    @property
    def remarks(self) -> Iterator[str]:
        """What the instructor should know about this row."""
        yield from self.remarks_on_name
        if not self.is_listed:
            yield "Not in the roster."
            if self.candidates:
                yield f"It may be {' or '.join(self.candidates)}."
        yield from self.not_judged
        yield from (f"{nb.submission.file}: {nb.submission.problem}" for nb in self.notebooks if nb.submission.problem)
        yield from dict.fromkeys(nb.submission.beside for nb in self.notebooks if nb.submission.beside)
        yield from self.held_back
        for lesson in self.lessons.values():
            yield from self.remarks_on_choice(lesson)
            yield from lesson.notebook.notes if lesson.notebook else ()
            by_hand = [one for one in lesson.exercises if one.override and one.override.points is not None]
            if by_hand:
                yield f"Points given by hand: {', '.join(one.exercise.name for one in by_hand)}."
            for one in by_hand:
                if one.automatic_points > one.points:
                    given, now = plain_number(one.points), plain_number(one.automatic_points)
                    yield f"{one.exercise.name}: {given} by hand, but the grader now gives {now}."
        yield from (f"{lesson}: nearly the same as {'; '.join(names)}." for lesson, names in self.like.items())
        yield from (f"{lesson or 'All lessons'} until {in_words(due)}." for lesson, due in self.extensions.items())
        yield from (f"Asks about {one.exercise or 'the points'}: {one.request}" for one in self.requests)


@dataclass(frozen=True)
class ClassResults:
    """A class.

    Args:
        students: Everybody in the roster, and everybody else who handed something in, by name.
        lessons: The lessons that count.
        unknown: What the instructor's tables name, and is not in the class.
        is_listed: Whether there is a roster.
        similar: Submissions that are nearly the same.
        rules: What the instructor has set.
        left_out: How many students handed in a lesson that so few did that it counts for nobody, and of how many.
        changes: A line about each student whose points are others than those that were written last.
    """

    students: Sequence[StudentResult]
    lessons: Sequence[str]
    unknown: Sequence[str] = ()
    is_listed: bool = False
    similar: Sequence[SimilarPair] = ()
    rules: ClassRules = field(default_factory=ClassRules)
    left_out: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    changes: Sequence[str] = ()

    @property
    def held_back(self) -> list[str]:
        """A line about each student and lesson for which an earlier result counts, because it is better."""
        return [f"{student.name}: {line}" for student in self.students for line in student.held_back]

    @property
    def remarks(self) -> Iterator[str]:
        """What the instructor should know about the class."""
        for lesson, (n, of) in self.left_out.items():
            yield f"{lesson} was handed in by {n} of {of} students, so it does not count unless --lesson asks for it."
        yield from self._unknown_times
        yield from self.unknown
        yield from self.unfinished

    @property
    def _unknown_times(self) -> Iterator[str]:
        """Yield a line for each reason why the submission time of a notebook that is due is not known."""
        names: dict[str, list[str]] = defaultdict(list)
        for student in self.students:
            for lesson in student.lessons.values():
                if lesson.lateness.is_unknown and student.name not in names[lesson.submitted()[1]]:
                    names[lesson.submitted()[1]].append(student.name)
        for reason, who in names.items():
            n_more = len(who) - MAX_LISTED_NAMES
            listed = join_words([*who[:MAX_LISTED_NAMES], *([f"{n_more} more"] if n_more > 0 else [])])
            because = f" ({reason})" if reason else ""
            yield f"Submission time unknown, so without a deduction for lateness: {listed}{because}."

    @property
    def unfinished(self) -> Iterator[str]:
        """What is left to do for the instructor before the points are whole."""
        n_unmarked = sum(answer.points is None for student in self.students for answer in student.written)
        n_requests = sum(len(student.requests) for student in self.students)
        not_judged = [student.name for student in self.students for _ in student.not_judged]
        if not_judged:
            whose = join_words(list(dict.fromkeys(not_judged))[:MAX_LISTED_NAMES])
            more = ", …" if len({*not_judged}) > MAX_LISTED_NAMES else ""
            count = f"{len(not_judged)} answer{'' if len(not_judged) == 1 else 's'} of {whose}{more}"
            yield f"Could not be judged, and without points: {count}. Grade again, or give the points in {OVERRIDES}."
        if n_unmarked:
            yield f"Not marked yet, and without points: {n_unmarked} of the written answers (written_answers.csv)."
        if n_requests:
            yield f"Without an answer: {n_requests} of the requests for another look ({OVERRIDES})."

    @property
    def copies(self) -> Iterator[tuple[str, list[str], float]]:
        """Yield each group of students whose submissions are nearly the same, with the lesson and the
        least similarity.
        """
        for lesson in self.lessons:
            pairs = [pair for pair in self.similar if pair.lesson == lesson]
            groups: list[set[str]] = []
            for pair in pairs:
                met = [group for group in groups if group & {*pair.students}]
                groups = [group for group in groups if group not in met] + [set(pair.students).union(*met)]
            for group in groups:
                yield lesson, sorted(group), min(one.similarity for one in pairs if one.students[0] in group)

    @property
    def has_lateness(self) -> bool:
        """Whether there is something to say about times."""
        lessons = (lesson for student in self.students for lesson in student.lessons.values())
        return any(lesson.lateness.message for lesson in lessons)

    @property
    def has_written_answers(self) -> bool:
        """Whether somebody has answered in words."""
        return any(student.written for student in self.students)

    @cached_property
    def max_points(self) -> int:
        """The sum of the points of these lessons' core exercises."""
        return max_points(self.lessons)


def class_results(graded: Mapping[str, Sequence[GradedSubmission]], rules: ClassRules | None = None) -> ClassResults:
    """Return the results of a class.

    Args:
        graded: The graded notebooks by the name that each student's have.
        rules: What the instructor has set; None for nothing.
    """
    rules = rules or ClassRules()
    listed = rules.roster.people
    whose = _Owners(graded, rules.roster)
    everybody = list(dict.fromkeys([*listed, *whose.people]))
    names = _names(everybody)
    overrides, unknown_overrides = _by_person(OVERRIDES, rules.overrides, names)
    extensions, unknown_extensions = _by_person(EXTENSIONS_FILE, rules.extensions, names)
    lessons, left_out = lessons_of(graded, rules)
    rules = replace(rules, marks=_marks_by_name(rules.marks, names))
    by_person = whose.notebooks
    lesson_results = {
        person: {
            lesson: _lesson_result(
                lesson,
                by_person[person],
                rules,
                {one.exercise: one for one in overrides[person]},
                {one.lesson: one.due for one in extensions[person]},
            )
            for lesson in lessons
        }
        for person in everybody
    }
    near: list[SimilarPair] = []
    for lesson in lessons:
        counted = {names[person]: own[lesson].notebook for person, own in lesson_results.items()}
        prints = {name: notebook.fingerprint for name, notebook in counted.items() if notebook}
        near += [
            pair
            for pair in similar_pairs(lesson, prints)
            if len({id(counted[name]) for name in pair.students}) > 1  # not what a group submitted together
        ]
    students = [
        StudentResult(
            names[person],
            person,
            _of_these_lessons(_that_count(by_person[person], lesson_results[person]), lessons),
            lesson_results[person],
            next((one.comment for one in reversed(overrides[person]) if not one.exercise), ""),
            not listed or person in listed,
            list(_written_answers(names[person], lesson_results[person].values(), rules)),
            {one.lesson: one.due for one in extensions[person]},
            _like(names[person], near),
            [one for one in overrides[person] if one.is_open],
            [names[one] for one in whose.candidates.get(person, ())],
        )
        for person in sorted(everybody, key=names.__getitem__)
    ]
    unknown = [*unknown_overrides, *unknown_extensions]
    return ClassResults(students, lessons, unknown, bool(listed), near, rules, left_out)


def _that_count(
    notebooks: Sequence[GradedSubmission], results: Mapping[str, LessonResult]
) -> Sequence[GradedSubmission]:
    """Return a student's notebooks without those of attempts that do not count."""
    counted = {id(one) for result in results.values() for one in result.attempt}
    kept_apart = {lesson for lesson, result in results.items() if result.attempt}
    return [
        one for one in notebooks if id(one) in counted or not kept_apart & {one.attempt.lesson, one.submission.lesson}
    ]


def _of_these_lessons(notebooks: Sequence[GradedSubmission], lessons: Sequence[str]) -> list[GradedSubmission]:
    """Return a student's notebooks; those of other lessons only if there is nothing else, and with that as problem."""
    counted = [one for one in notebooks if one.submission.lesson in (*lessons, "")]
    others = [one for one in notebooks if one not in counted]
    return counted or [
        GradedSubmission(replace(one.submission, lesson="", problem=of_another_lesson(one.submission.lesson)), [])
        for one in others
    ]


def of_another_lesson(lesson: str) -> str:
    """Return what is said of a notebook of a lesson that does not count."""
    return f"This is a notebook of {lesson}, which is not graded here."


def _like(student: str, pairs: Sequence[SimilarPair]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        if student in pair.students:
            found[pair.lesson] += [other for other in pair.students if other != student]
    return found


def _written_answers(student: str, lessons: Iterable[LessonResult], rules: ClassRules) -> Iterator[WrittenAnswer]:
    """Yield what a student has written in the notebooks that count, with the marks."""
    for lesson in lessons:
        for question, answer in lesson.notebook.submission.written.items() if lesson.notebook else ():
            yield marked(WrittenAnswer(lesson.lesson, question, student, answer), rules.marks, rules.rubric)


class _Owners:
    """Whose the graded notebooks are, by the roster, or else by their names.

    Args:
        graded: The graded notebooks by the name that each student's have.
        roster: Who is in the class.

    Attributes:
        notebooks: The notebooks of each person.
        candidates: Whom in the roster a person may be who was not found there.
    """

    def __init__(self, graded: Mapping[str, Sequence[GradedSubmission]], roster: Roster) -> None:
        hints = {raw: [self._hint(raw, one) for one in own] or [PersonHint(raw)] for raw, own in graded.items()}
        matches = roster.match([hint for own in hints.values() for hint in own])
        self.notebooks: dict[Person, list[GradedSubmission]] = defaultdict(list)
        self.candidates: dict[Person, Sequence[Person]] = {}
        self._strangers: dict[tuple[str, str], Person] = {}
        for raw, own in graded.items():
            for i, hint in enumerate(hints[raw]):
                for person in self._people(raw, hint, matches[hint]):
                    self.notebooks[person] += own[i : i + 1]

    @property
    def people(self) -> Sequence[Person]:
        """Everybody who submitted something."""
        return list(self.notebooks)

    def _people(self, raw: str, hint: PersonHint, match: Match) -> Sequence[Person]:
        if match.people:
            return match.people
        stranger = self._stranger(raw, hint)
        self.candidates[stranger] = match.candidates
        return [stranger]

    def _stranger(self, raw: str, hint: PersonHint) -> Person:
        """Return somebody who is not in the roster: the same person in all batches if the name, or a number, is."""
        key = (hint.platform, hint.lms_id) if hint.platform in LASTING_NUMBERS else ("", _in_one_case(raw))
        taken = {person.id for person in self._strangers.values()}
        return self._strangers.setdefault(key, Person(raw if raw not in taken else f"{raw} ({hint.lms_id})"))

    @staticmethod
    def _hint(raw: str, notebook: GradedSubmission) -> PersonHint:
        hint = notebook.submission.hint
        return hint if hint.name else replace(hint, name=raw)


def _in_one_case(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _marks_by_name(marks: Mapping[Key, WrittenAnswer], names: Mapping[Person, str]) -> dict[Key, WrittenAnswer]:
    """Return the marks under the students' names in the tables, however a spreadsheet has saved them."""
    known, own_names = Roster(list(names)), set(names.values())
    found: dict[Key, WrittenAnswer] = {}
    for mark in marks.values():
        person = None if mark.student in own_names else known.find(mark.student)
        named = replace(mark, student=names[person]) if person else mark
        if named.key not in found or named.points is not None:
            found[named.key] = named
    return found


def _names(people: Sequence[Person]) -> dict[Person, str]:
    """Return the name of each person in the tables; where two have the same, with what tells them apart."""
    counts = Counter(person.name or person.id for person in people)
    displayed = {person: person.name or person.id for person in people}
    return {person: name if counts[name] == 1 else f"{name} ({person.id})" for person, name in displayed.items()}


def _by_person(
    file: str, rows: Sequence[Row], names: Mapping[Person, str]
) -> tuple[Mapping[Person, list[Row]], list[str]]:
    """Return the rows of a table of the instructor's by person, and a line on each that is of nobody."""
    known, by_name = Roster(list(names)), {name: person for person, name in names.items()}
    found: dict[Person, list[Row]] = defaultdict(list)
    unknown = []
    for row in rows:
        person = by_name.get(row.student) or known.find(row.student)
        if person is None and (several := [names[one] for one in known.all_called(row.student)]):
            unknown.append(f"{file}: {row.student!r} may be {' or '.join(several)}. Write which one.")
        elif person is None:
            unknown.append(f"{file}: there is no student {row.student!r}.")
        else:
            found[person].append(row)
    return found, unknown


def _lesson_result(
    lesson: str,
    notebooks: Sequence[GradedSubmission],
    rules: ClassRules,
    overrides: Mapping[str, Override],
    extensions: Mapping[str, datetime],
) -> LessonResult:
    """Return a lesson with the attempt that counts: the latest that lowers nothing that an earlier one had.

    Of several notebooks in an attempt, verdicts do not decide which one counts: with fifty notebooks, a student could
    otherwise guess fifty times.
    """

    def result(notebook: GradedSubmission | None, attempt: Sequence[GradedSubmission]) -> LessonResult:
        graded = {one.exercise.name: one for one in notebook.exercises} if notebook else {}
        exercises = [
            ExerciseResult(e, graded.get(e.name), overrides.get(e.name), rules.partial_credit)
            for e in exercises_of(lesson)
        ]
        lateness = rules.late_policy.lateness(notebook.submission, extensions) if notebook else Lateness()
        lesson_result = LessonResult(lesson, notebook, exercises, lateness, 0.0, attempt)
        return replace(lesson_result, points_after=rules.late_policy.points_after(lesson_result.points, lateness))

    def rank(displayed: LessonResult) -> tuple[float, float, datetime, bool, str]:
        """Return the points that the answered exercises could get, all that is answered, how new it is, and the name.

        What is exported comes first, as in the gradebook of the LMS.
        """
        assert displayed.notebook is not None
        submission = displayed.notebook.submission
        answered = _answered(displayed.notebook)
        core = sum(e.points for e in exercises_of(lesson) if not e.stretch and e.name in answered)
        bonus = sum(e.points for e in exercises_of(lesson) if e.stretch and e.name in answered)
        after = rules.late_policy.points_after(core, displayed.lateness)
        return (
            after + (bonus if rules.bonus else 0),
            after + bonus,
            datetime.fromisoformat(submission.handed_in) if submission.handed_in else EARLIEST,
            submission.path.name == f"{lesson}.ipynb",
            submission.path.name,
        )

    counted = result(None, ())
    for attempt in _attempts(lesson, notebooks):
        own = [result(notebook, attempt) for notebook in attempt if notebook.submission.lesson == lesson]
        latest = max(own, key=rank) if own else result(None, attempt)
        lowered = _lowered(counted, latest)
        counted = replace(counted, held_back=lowered) if lowered else latest
    return counted


def _attempts(lesson: str, notebooks: Sequence[GradedSubmission]) -> list[list[GradedSubmission]]:
    """Return a student's attempts at a lesson, in the order of submission, or of grading where a time is unknown."""
    found: dict[Attempt, list[GradedSubmission]] = defaultdict(list)
    for one in notebooks:
        found[one.attempt].append(one)
    relevant = [
        own
        for attempt, own in found.items()
        if attempt.lesson == lesson or any(one.submission.lesson == lesson for one in own)
    ]
    names: dict[str, set[str]] = defaultdict(set)
    for own in relevant:
        names[own[0].submission.batch].add(own[0].attempt.student)
    by_key: dict[Attempt | str, list[GradedSubmission]] = defaultdict(list)
    for own in relevant:
        batch = own[0].submission.batch
        # Under several names, such as "ada" and "ada (1)", a student submitted several notebooks at once.
        by_key[batch if batch and len(names[batch]) > 1 else own[0].attempt] += own
    attempts = list(by_key.values())
    times = [[one.submission.handed_in for one in own] for own in attempts]
    if all(time for own in times for time in own):
        return sorted(attempts, key=lambda own: max(datetime.fromisoformat(one.submission.handed_in) for one in own))
    return attempts


def _lowered(before: LessonResult, after: LessonResult) -> str:
    """Return which points are lower in a later result of a lesson, in words; "" if none are."""
    totals = [
        ("the points after lateness", before.points_after, after.points_after),
        ("the points", before.points, after.points),
    ]
    exercises = [
        (one.exercise.name, one.points, other.points)
        for one, other in zip(before.exercises, after.exercises, strict=True)
    ]
    fallen = [
        f"{name} {plain_number(had)} → {plain_number(has)}" for name, had, has in [*exercises, *totals] if has < had
    ]
    return join_words(fallen)


def _answered(notebook: GradedSubmission) -> set[str]:
    """Return the names of the exercises whose answer is more than the stub, by the text alone."""
    return {name for name, text in notebook.answers.items() if "NotImplementedError" not in text}


def lessons_of(
    students: Mapping[str, Sequence[GradedSubmission]], rules: ClassRules | None = None
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """List the lessons that count: those that were asked for, or that enough students submitted.

    Those are enough students of the class, or of those whose submissions came together: a lesson that has just begun,
    or that the class did weeks ago, counts as well.

    Returns:
        The lessons, and of each that too few handed in how many did, and of how many.
    """
    rules = rules or ClassRules()
    by_student = [{notebook.submission.lesson for notebook in own} - {""} for own in students.values()]
    counts = Counter(lesson for lessons in by_student for lesson in lessons)
    n = sum(map(bool, by_student))
    observed = [lesson for lesson in every_lesson() if counts[lesson]]
    if rules.lessons:
        return [lesson for lesson in observed if rules.may_count(lesson)], {}
    least = max(MIN_SUBMITTED_FRACTION * n, min(2, max(counts.values(), default=0)))
    few = {
        lesson: (counts[lesson], n)
        for lesson in observed
        if counts[lesson] < least
        and lesson not in rules.late_policy.due
        and not _counts_in_a_batch(lesson, list(students.values()))
    }
    return [lesson for lesson in observed if lesson not in few], few


def _counts_in_a_batch(lesson: str, students: Sequence[Sequence[GradedSubmission]]) -> bool:
    """Return whether several, and enough, of the students who submitted together submitted a lesson."""
    batches: dict[str, list[bool]] = defaultdict(list)
    for own in students:
        for batch in {one.submission.batch for one in own if one.submission.lesson} - {""}:
            batches[batch].append(any(one.submission.lesson == lesson and one.submission.batch == batch for one in own))
    return any(sum(who) > 1 and sum(who) >= MIN_SUBMITTED_FRACTION * len(who) for who in batches.values())


def max_points(lessons: Sequence[str]) -> int:
    """Return the sum of the points of these lessons' core exercises."""
    return sum(e.points for lesson in lessons for e in exercises_of(lesson) if not e.stretch)


def plain_number(number: float) -> float:
    """Return a whole number as an int, so that it is written without a point."""
    return int(number) if number == int(number) else number
