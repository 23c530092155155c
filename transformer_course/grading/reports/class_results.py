"""Apply the instructor's rules to the grader's verdicts; all tables and pages show the results.

When the rules change, they can be applied again to the same verdicts without running any code.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from transformer_course.grading.incoming.name_lists import people_named
from transformer_course.grading.incoming.people import Match, Roster
from transformer_course.grading.incoming.platform_names import LASTING_NUMBERS, PersonHint
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.written_answers import Key, WrittenAnswer, marked
from transformer_course.grading.judging.answer_similarity import SimilarPair, similar_pairs
from transformer_course.grading.judging.graded_results import GradedSubmission
from transformer_course.grading.reports.counted_attempts import lesson_result, lessons_of
from transformer_course.grading.reports.student_results import (
    ClassResults,
    LessonResult,
    StudentResult,
)
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import EXTENSIONS_FILE
from transformer_course.grading.rules.overrides import OVERRIDES_FILE as OVERRIDES


class HasStudent(Protocol):
    """A row in one of the instructor's tables."""

    @property
    def student(self) -> str:
        """The student's name in the table."""


Row = TypeVar("Row", bound=HasStudent)


def class_results(graded: Mapping[str, Sequence[GradedSubmission]], rules: ClassRules | None = None) -> ClassResults:
    """Return the results of a class.

    Args:
        graded: The graded notebooks, keyed by the student's name in the submissions.
        rules: The instructor's rules, or None.
    """
    rules = rules or ClassRules()
    listed = rules.roster.people
    notebook_owners = _Owners(graded, rules.roster)
    all_people = list(dict.fromkeys([*listed, *notebook_owners.people]))
    names = _names(all_people)
    overrides, unknown_overrides = _by_person(OVERRIDES, rules.overrides, names)
    extensions, unknown_extensions = _by_person(EXTENSIONS_FILE, rules.extensions, names)
    lessons, left_out = lessons_of(graded, rules)
    rules = replace(rules, marks=_marks_by_name(rules.marks, names))
    by_person = notebook_owners.notebooks
    lesson_results = {
        person: {
            lesson: lesson_result(
                lesson,
                by_person[person],
                rules,
                {override.exercise: override for override in overrides[person]},
                {extension.lesson: extension.due for extension in extensions[person]},
            )
            for lesson in lessons
        }
        for person in all_people
    }
    owners: dict[int, list[str]] = defaultdict(list)
    for person in all_people:
        for notebook in by_person[person]:
            owners[id(notebook)].append(names[person])
    similar: list[SimilarPair] = []
    for lesson in lessons:
        counted = {names[person]: own[lesson].notebook for person, own in lesson_results.items()}
        fingerprints = {name: notebook.fingerprint for name, notebook in counted.items() if notebook}
        similar += [
            pair
            for pair in similar_pairs(lesson, fingerprints)
            if len({id(counted[name]) for name in pair.students}) > 1  # skip notebooks that a group submitted together
        ]
    students = [
        StudentResult(
            names[person],
            person,
            _notebooks_for_lessons(_counted_notebooks(by_person[person], lesson_results[person]), lessons),
            lesson_results[person],
            next((override.comment for override in reversed(overrides[person]) if not override.exercise), ""),
            not listed or person in listed,
            list(_written_answers(names[person], lesson_results[person].values(), rules)),
            {extension.lesson: extension.due for extension in extensions[person]},
            _similar_students(names[person], similar),
            [override for override in overrides[person] if override.is_open],
            [names[candidate] for candidate in notebook_owners.candidates.get(person, ())],
            _left_groups(by_person[person], lesson_results[person], owners, names[person]),
        )
        for person in sorted(all_people, key=names.__getitem__)
    ]
    unknown = [*unknown_overrides, *unknown_extensions]
    return ClassResults(students, lessons, unknown, bool(listed), similar, rules, left_out)


def _counted_notebooks(
    notebooks: Sequence[GradedSubmission], results: Mapping[str, LessonResult]
) -> Sequence[GradedSubmission]:
    """Return a student's notebooks from the attempts that count."""
    counted = {id(notebook) for result in results.values() for notebook in result.attempt}
    with_attempt = {lesson for lesson, result in results.items() if result.attempt}
    return [
        notebook
        for notebook in notebooks
        if id(notebook) in counted or not with_attempt & {notebook.attempt.lesson, notebook.submission.lesson}
    ]


def _left_groups(
    own: Sequence[GradedSubmission],
    results: Mapping[str, LessonResult],
    owners: Mapping[int, Sequence[str]],
    name: str,
) -> dict[str, list[str]]:
    """Return the other group members, for each lesson in which a student's own submission replaces the group's.

    Args:
        own: The student's submissions, alone or in a group.
        results: The student's results.
        owners: The names of the students who submitted a notebook, keyed by the notebook's Python ``id``.
        name: The student's name.
    """
    found = {}
    for lesson, result in results.items():
        group = dict.fromkeys(owner for book in own if book.lesson == lesson for owner in owners[id(book)])
        if result.notebook is not None and len(group) > 1 == len(owners[id(result.notebook)]):
            found[lesson] = [member for member in group if member != name]
    return found


def _notebooks_for_lessons(notebooks: Sequence[GradedSubmission], lessons: Sequence[str]) -> list[GradedSubmission]:
    """Return a student's notebooks for these lessons, or else the student's other notebooks, each with a problem."""
    counted = [notebook for notebook in notebooks if notebook.submission.lesson in (*lessons, "")]
    others = [notebook for notebook in notebooks if notebook not in counted]
    return counted or [
        GradedSubmission(
            replace(notebook.submission, lesson="", problem=other_lesson_problem(notebook.submission.lesson)), []
        )
        for notebook in others
    ]


def other_lesson_problem(lesson: str) -> str:
    """Return the message about a notebook for a lesson that does not count."""
    return f"This is a notebook for {lesson}, which is not graded here."


def _similar_students(student: str, pairs: Sequence[SimilarPair]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        if student in pair.students:
            found[pair.lesson] += [other for other in pair.students if other != student]
    return found


def _written_answers(student: str, lessons: Iterable[LessonResult], rules: ClassRules) -> Iterator[WrittenAnswer]:
    """Yield the written answers in a student's counted notebooks, with their marks."""
    for lesson in lessons:
        for question, answer in lesson.notebook.submission.written.items() if lesson.notebook else ():
            yield marked(WrittenAnswer(lesson.lesson, question, student, answer), rules.marks, rules.rubric)


class _Owners:
    """The owners of the graded notebooks: people in the roster, or else people who are known only by a name.

    Args:
        graded: The graded notebooks, keyed by the student's name in the submissions.
        roster: The people in the class.

    Attributes:
        notebooks: The notebooks of each person.
        candidates: For each person who is not in the roster, the people in the roster to whom the name may refer.
    """

    def __init__(self, graded: Mapping[str, Sequence[GradedSubmission]], roster: Roster) -> None:
        hints = {
            raw: [self._hint(raw, notebook) for notebook in own] or [PersonHint(raw)] for raw, own in graded.items()
        }
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
        """All people who submitted something."""
        return list(self.notebooks)

    def _people(self, raw: str, hint: PersonHint, match: Match) -> Sequence[Person]:
        if match.people:
            return match.people
        stranger = self._stranger(raw, hint)
        self.candidates[stranger] = match.candidates
        return [stranger]

    def _stranger(self, raw: str, hint: PersonHint) -> Person:
        """Return a person who is not in the roster. The same name or number means the same person in all batches."""
        key = (hint.platform, hint.lms_id) if hint.platform in LASTING_NUMBERS else ("", _normalized_case(raw))
        used_ids = {person.id for person in self._strangers.values()}
        return self._strangers.setdefault(key, Person(raw if raw not in used_ids else f"{raw} ({hint.lms_id})"))

    @staticmethod
    def _hint(raw: str, notebook: GradedSubmission) -> PersonHint:
        hint = notebook.submission.hint
        return hint if hint.name else replace(hint, name=raw)


def _normalized_case(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _marks_by_name(marks: Mapping[Key, WrittenAnswer], names: Mapping[Person, str]) -> dict[Key, WrittenAnswer]:
    """Return the marks with the students' current names, even if a spreadsheet has changed the names."""
    known, current_names = Roster(list(names)), set(names.values())
    found: dict[Key, WrittenAnswer] = {}
    for mark in marks.values():
        person = None if mark.student in current_names else known.find(mark.student)
        named = replace(mark, student=names[person]) if person else mark
        if named.key not in found or named.points is not None:
            found[named.key] = named
    return found


def _names(people: Sequence[Person]) -> dict[Person, str]:
    """Return the name of each person for the tables; people with the same name are distinguished by their ids."""
    counts = Counter(person.name or person.id for person in people)
    displayed = {person: person.name or person.id for person in people}
    return {person: name if counts[name] == 1 else f"{name} ({person.id})" for person, name in displayed.items()}


def _by_person(
    file: str, rows: Sequence[Row], names: Mapping[Person, str]
) -> tuple[Mapping[Person, list[Row]], list[str]]:
    """Return the rows in one of the instructor's tables, keyed by person, and a line about each row without a match."""
    known, by_name = Roster(list(names)), {name: person for person, name in names.items()}
    found: dict[Person, list[Row]] = defaultdict(list)
    unknown = []
    for row in rows:
        people = [by_name[row.student]] if row.student in by_name else people_named(row.student, known)
        for person in people:
            found[person].append(row)
        candidates = [] if people else [names[person] for person in known.all_called(row.student)]
        if candidates:
            unknown.append(f"{file}: {row.student!r} may be {' or '.join(candidates)}. Write the full name or the id.")
        elif not people:
            unknown.append(f"{file}: there is no student {row.student!r}.")
    return found, unknown
