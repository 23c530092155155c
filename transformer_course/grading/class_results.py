"""The results of a class as every table and page shows them: the grader's verdicts, under what the instructor has set.

The same verdicts can be shown again under other rules, and nothing runs twice.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from transformer_course.exercise import Exercise
from transformer_course.exercises import every_lesson, exercises_of
from transformer_course.grading.answer_similarity import SimilarPair, similar_pairs
from transformer_course.grading.assess import GradedExercise, GradedSubmission
from transformer_course.grading.class_rules import ClassRules
from transformer_course.grading.late_policy import Lateness
from transformer_course.grading.overrides import FILE as OVERRIDES
from transformer_course.grading.overrides import Override
from transformer_course.grading.roster import Person, Roster
from transformer_course.grading.tables import escape_formula
from transformer_course.grading.written_answers import WrittenAnswer


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
    """

    lesson: str
    notebook: GradedSubmission | None
    exercises: Sequence[ExerciseResult]
    lateness: Lateness
    points_after: float

    @property
    def points(self) -> float:
        """The points of its core exercises."""
        return sum(one.points for one in self.exercises if not one.exercise.stretch)

    @property
    def bonus(self) -> float:
        """The points of its stretch exercises, which come on top."""
        return sum(one.points for one in self.exercises if one.exercise.stretch)


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
    """

    name: str
    person: Person
    notebooks: Sequence[GradedSubmission]
    lessons: Mapping[str, LessonResult]
    comment: str = ""
    is_listed: bool = True
    written: Sequence[WrittenAnswer] = ()

    @property
    def points(self) -> float:
        """The points of all core exercises."""
        return sum(lesson.points for lesson in self.lessons.values())

    @property
    def bonus(self) -> float:
        """The points of all stretch exercises."""
        return sum(lesson.bonus for lesson in self.lessons.values())

    @property
    def points_after(self) -> float:
        """The points of the core exercises less the penalties for being late."""
        return round(sum(lesson.points_after for lesson in self.lessons.values()), 2)

    @property
    def status(self) -> str:
        """Whether something was handed in, and could be graded."""
        if any(notebook.exercises for notebook in self.notebooks):
            return "graded in part" if any(notebook.submission.problem for notebook in self.notebooks) else "graded"
        is_broken = any(notebook.submission.problem for notebook in self.notebooks)
        return "could not be graded" if is_broken else "nothing handed in"

    @property
    def isolation(self) -> str:
        """How far the code was kept from all else when these results were obtained; the weakest counts."""
        levels = {one.isolation for one in self.notebooks if one.isolation}
        return next((level for level in ("none", "shared user", "full") if level in levels), "")

    @property
    def remarks_on_name(self) -> list[str]:
        """What the instructor should know about whose notebooks these are."""
        return list(dict.fromkeys(one.submission.remark for one in self.notebooks if one.submission.remark))

    @property
    def remarks(self) -> Iterator[str]:
        """What the instructor should know about this row."""
        yield from self.remarks_on_name
        if not self.is_listed:
            yield "Not in the roster."
        yield from (f"{nb.submission.file}: {nb.submission.problem}" for nb in self.notebooks if nb.submission.problem)
        counts = Counter(nb.submission.lesson for nb in self.notebooks if nb.submission.lesson)
        yield from (f"{n} notebooks of {lesson}: the best one counts." for lesson, n in counts.items() if n > 1)
        for lesson in self.lessons.values():
            yield from lesson.notebook.notes if lesson.notebook else ()
            names = [one.exercise.name for one in lesson.exercises if one.override and one.override.points is not None]
            if names:
                yield f"Points given by hand: {', '.join(names)}."


@dataclass(frozen=True)
class ClassResults:
    """A class.

    Args:
        students: Everybody in the roster, and everybody else who handed something in, by name.
        lessons: The lessons that at least one of them handed in.
        unknown: What the instructor's tables name, and is not in the class.
        is_listed: Whether there is a roster.
        similar: Submissions that are nearly the same.
    """

    students: Sequence[StudentResult]
    lessons: Sequence[str]
    unknown: Sequence[str] = ()
    is_listed: bool = False
    similar: Sequence[SimilarPair] = ()

    @property
    def has_lateness(self) -> bool:
        """Whether there is something to say about times."""
        lessons = (lesson for student in self.students for lesson in student.lessons.values())
        return any(lesson.lateness.says for lesson in lessons)

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
    whose = {raw: rules.roster.find(*_lms_ids(own), raw) or Person(raw) for raw, own in graded.items()}
    everybody = list(dict.fromkeys([*listed, *whose.values()]))
    names = _names(everybody)
    overrides, unknown = _overrides_by_person(rules.overrides, names)
    lessons = lessons_of(graded)
    students = []
    for person in sorted(everybody, key=names.__getitem__):
        notebooks = [notebook for raw, own in graded.items() if whose[raw] == person for notebook in own]
        given = overrides.get(person, {})
        shown = {lesson: _lesson_result(lesson, notebooks, rules, given) for lesson in lessons}
        comment = given[""].comment if "" in given else ""
        is_listed = not listed or person in listed
        written = _written_answers(names[person], shown.values(), rules.marks)
        students.append(StudentResult(names[person], person, notebooks, shown, comment, is_listed, written))
    near = [pair for lesson in lessons for pair in similar_pairs(lesson, _fingerprints(students, lesson))]
    return ClassResults(students, lessons, unknown, is_listed=bool(listed), similar=near)


def _fingerprints(students: Sequence[StudentResult], lesson: str) -> dict[str, frozenset[int]]:
    counted = {student.name: student.lessons[lesson].notebook for student in students}
    return {name: notebook.fingerprint for name, notebook in counted.items() if notebook}


def _written_answers(
    student: str, lessons: Iterable[LessonResult], marks: Sequence[WrittenAnswer]
) -> list[WrittenAnswer]:
    """Return what a student has written in the notebooks that count, with the marks."""
    found = []
    for lesson in lessons:
        for question, answer in lesson.notebook.submission.written.items() if lesson.notebook else ():
            key = lesson.lesson, question, escape_formula(student)
            mark = next((one for one in marks if one.key == key), None)
            plain = WrittenAnswer(lesson.lesson, question, student, answer)
            found.append(replace(mark, student=student, answer=answer) if mark else plain)
    return found


def _lms_ids(notebooks: Sequence[GradedSubmission]) -> list[str]:
    return list(dict.fromkeys(one.submission.lms_id for one in notebooks if one.submission.lms_id))


def _names(people: Sequence[Person]) -> dict[Person, str]:
    """Return the name of each person in the tables; where two have the same, with what tells them apart."""
    counts = Counter(person.name or person.id for person in people)
    shown = {person: person.name or person.id for person in people}
    return {person: name if counts[name] == 1 else f"{name} ({person.id})" for person, name in shown.items()}


def _overrides_by_person(
    overrides: Sequence[Override], names: Mapping[Person, str]
) -> tuple[dict[Person, dict[str, Override]], list[str]]:
    """Return the overrides of each person by exercise, and a line on each that is of nobody."""
    known, by_name = Roster(list(names)), {name: person for person, name in names.items()}
    found: dict[Person, dict[str, Override]] = defaultdict(dict)
    unknown = []
    for override in overrides:
        person = by_name.get(override.student) or known.find(override.student)
        if person is None:
            unknown.append(f"{OVERRIDES}: there is no student {override.student!r}.")
        else:
            found[person][override.exercise] = override
    return found, unknown


def _lesson_result(
    lesson: str, notebooks: Sequence[GradedSubmission], rules: ClassRules, overrides: Mapping[str, Override]
) -> LessonResult:
    """Return a lesson with the notebook that is best for the student."""

    def result(notebook: GradedSubmission | None) -> LessonResult:
        graded = {one.exercise.name: one for one in notebook.exercises} if notebook else {}
        exercises = [
            ExerciseResult(e, graded.get(e.name), overrides.get(e.name), rules.partial_credit)
            for e in exercises_of(lesson)
        ]
        lateness = rules.late_policy.lateness(notebook.submission) if notebook else Lateness()
        shown = LessonResult(lesson, notebook, exercises, lateness, 0.0)
        after = rules.late_policy.points_after(shown.points, lateness)
        return LessonResult(lesson, notebook, exercises, lateness, after)

    def rank(shown: LessonResult) -> tuple[float, float, bool]:
        assert shown.notebook is not None
        return shown.points_after + shown.bonus, shown.points + shown.bonus, bool(shown.notebook.exercises)

    own = [result(notebook) for notebook in notebooks if notebook.submission.lesson == lesson]
    return max(own, key=rank) if own else result(None)


def lessons_of(students: Mapping[str, Sequence[GradedSubmission]]) -> list[str]:
    """List the lessons that at least one student handed in."""
    seen = {notebook.submission.lesson for notebooks in students.values() for notebook in notebooks}
    return [lesson for lesson in every_lesson() if lesson in seen]


def max_points(lessons: Sequence[str]) -> int:
    """Return the sum of the points of these lessons' core exercises."""
    return sum(e.points for lesson in lessons for e in exercises_of(lesson) if not e.stretch)


def plain_number(number: float) -> float:
    """Return a whole number as an int, so that it is written without a point."""
    return int(number) if number == int(number) else number
