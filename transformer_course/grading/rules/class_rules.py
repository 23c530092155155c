"""The instructor's rules for a class, which each run saves in the results folder for later runs.

A rule applies until the instructor changes it.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from transformer_course.exercises import every_lesson
from transformer_course.grading.incoming.groups import with_groups
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import read_roster
from transformer_course.grading.incoming.written_answers import Criteria, Key, WrittenAnswer, read_marks, read_rubric
from transformer_course.grading.rules.late_policy import (
    Extension,
    LatePolicy,
    make_extensions_file,
    read_extensions,
)
from transformer_course.grading.rules.overrides import Override, make_overrides_file, read_overrides
from transformer_course.grading.rules.own_exercises import OwnExercises
from transformer_lab.atomic_write import atomic_write, atomic_write_text

ROSTER_FILE = "roster.csv"
GROUPS_FILE = "groups.csv"
RULES_FILE = "class_rules.json"
"""The file with the lessons, due dates, penalty, grace period and partial credit."""
ALL_LESSONS = "all"
"""Stands for every lesson that any student has submitted."""
LIBRARY_CALLS = ("full", "remark", "none")
"""Choices for grading a right answer that calls the library's or torch's version of the function to implement."""


@dataclass(frozen=True)
class ClassRules:
    """The instructor's rules for a class.

    Args:
        roster: The people in the class; empty without a roster.
        late_policy: Due dates and late penalties.
        overrides: Points and comments entered by hand.
        marks: The written answers with their marks.
        partial_credit: Whether an answer that passes some cases gets the corresponding fraction of the points.
        lessons: The lessons that count, or ``ALL_LESSONS``; empty for all lessons that enough students submit.
        extensions: Later due dates for individual students.
        rubric: The rubric for written answers, keyed by question.
        library_calls: One of ``LIBRARY_CALLS``.
        bonus: Whether points for stretch exercises are exported.
        roster_columns: The columns of the roster that the instructor chose, with the keys of ``column_titles.TITLES``.
    """

    roster: Roster = field(default_factory=lambda: Roster([]))
    late_policy: LatePolicy = field(default_factory=LatePolicy)
    overrides: Sequence[Override] = ()
    marks: Mapping[Key, WrittenAnswer] = field(default_factory=dict)
    partial_credit: bool = False
    lessons: Sequence[str] = ()
    extensions: Sequence[Extension] = ()
    rubric: Mapping[str, Criteria] = field(default_factory=dict)
    library_calls: str = "remark"
    bonus: bool = False
    roster_columns: Mapping[str, str] = field(default_factory=dict)

    def may_count(self, lesson: str) -> bool:
        """Return whether a lesson may count: it is selected, or no lessons are selected."""
        return not self.lessons or lesson in self.lessons or ALL_LESSONS in self.lessons

    def describe(self) -> Iterator[str]:
        """Yield a phrase for each rule that differs from its default."""
        if ALL_LESSONS in self.lessons:
            yield "all lessons"
        elif self.lessons:
            yield f"only {', '.join(self.lessons)}"
        yield from self.late_policy.describe()
        if self.extensions:
            yield f"{len(self.extensions)} extension{'s' if len(self.extensions) > 1 else ''}"
        if self.partial_credit:
            yield "partial credit"
        if self.library_calls != "remark":
            points = "no" if self.library_calls == "none" else self.library_calls
            yield f"{points} points for answers that call the function to implement"
        if self.roster.people:
            yield f"a roster of {len(self.roster.people)} student{'' if len(self.roster.people) == 1 else 's'}"


@dataclass(frozen=True)
class RuleChanges:
    """Rules that an instructor changes in one run; omitted rules do not change.

    Args:
        lessons: The lessons that count, or ``ALL_LESSONS``.
        roster: A table of all students.
        late_policy: Due dates and penalties.
        partial_credit: Whether, from now on, an answer that passes some cases gets the corresponding fraction of the
            points.
        library_calls: One of ``LIBRARY_CALLS``, or empty.
        own: The instructor's own exercises from ``read_own_exercises``, including earlier exercises.
        roster_columns: The columns of the roster from ``column_titles.parse_columns``.
        groups: A table that lists the members of each group.

    Raises:
        ValueError: A lesson is unknown, ``library_calls`` is not one of ``LIBRARY_CALLS``, or columns are chosen
            without a roster.
    """

    lessons: Sequence[str] = ()
    roster: Path | None = None
    late_policy: LatePolicy | None = None
    partial_credit: bool = False
    library_calls: str = ""
    own: Sequence[OwnExercises] = ()
    roster_columns: Mapping[str, str] = field(default_factory=dict)
    groups: Path | None = None

    def __post_init__(self) -> None:
        if unknown := set(self.lessons) - {*every_lesson(), ALL_LESSONS}:
            raise ValueError(f"there is no lesson {min(unknown)!r}; the lessons are {', '.join(every_lesson())}")
        if self.library_calls not in ("", *LIBRARY_CALLS):
            raise ValueError(f"library_calls must be one of {', '.join(LIBRARY_CALLS)}; got {self.library_calls!r}")
        if self.roster_columns and not self.roster:
            raise ValueError("--columns requires --roster CSV or --worksheet CSV")

    def apply(self, rules: ClassRules) -> ClassRules:
        """Return the rules with these changes.

        Raises:
            ValueError: The roster is not a table of students, or the groups have members outside the roster.
            OSError: The roster cannot be read.
        """
        roster = (
            rules.roster.with_people(read_roster(self.roster, self.roster_columns)) if self.roster else rules.roster
        )
        return replace(
            rules,
            lessons=[ALL_LESSONS] if ALL_LESSONS in self.lessons else self.lessons or rules.lessons,
            roster=with_groups(roster, self.groups) if self.groups else roster,
            roster_columns=self.roster_columns if self.roster else rules.roster_columns,
            late_policy=self.late_policy or rules.late_policy,
            partial_credit=self.partial_credit or rules.partial_credit,
            library_calls=self.library_calls or rules.library_calls,
        )


def read_class_rules(out: Path) -> ClassRules:
    """Read the rules from a results folder.

    Raises:
        ValueError: A file has the wrong format.
        OSError: A file cannot be read.
    """
    late_policy, partial_credit, lessons, library_calls, columns = _read_rules(out / RULES_FILE)
    people = read_roster(out / ROSTER_FILE, columns) if (out / ROSTER_FILE).exists() else []
    roster = with_groups(Roster(people), out / GROUPS_FILE) if (out / GROUPS_FILE).exists() else Roster(people)
    return ClassRules(
        roster,
        late_policy,
        read_overrides(out),
        read_marks(out),
        partial_credit,
        lessons,
        read_extensions(out, late_policy.zone),
        read_rubric(out),
        library_calls,
        roster_columns=columns,
    )


def read_late_policy(out: Path) -> LatePolicy:
    """Read the late policy from a results folder, or return an empty policy if there is none.

    Raises:
        ValueError: The file has the wrong format.
    """
    return _read_rules(out / RULES_FILE)[0]


def _read_rules(path: Path) -> tuple[LatePolicy, bool, list[str], str, dict[str, str]]:
    if not path.exists():
        return LatePolicy(), False, [], "remark", {}
    try:
        text: dict[str, Any] = json.loads(path.read_text("utf-8"))
        policy, partial_credit = LatePolicy.from_dict(text), text.get("partial_credit", False)
        lessons = [lesson for lesson in (*every_lesson(), ALL_LESSONS) if lesson in text.get("lessons", [])]
        library_calls = text.get("library_calls", "remark")
        if library_calls not in LIBRARY_CALLS:
            raise ValueError(f"library_calls must be one of {', '.join(LIBRARY_CALLS)}")
        if type(partial_credit) is not bool or len(lessons) != len(text.get("lessons", [])):
            raise ValueError("a lesson is unknown, or partial_credit is neither true nor false")
        columns = text.get("roster_columns", {})
        if type(columns) is not dict or not all(type(title) is str for title in columns.values()):
            raise ValueError("roster_columns must be an object whose values are column titles (strings)")
        return policy, partial_credit, lessons, library_calls, columns
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} does not contain valid class rules ({error}); fix or delete the file") from error


def write_class_rules(out: Path, rules: ClassRules, changes: RuleChanges) -> None:
    """Save the rules of a class for later runs.

    Args:
        out: The results folder.
        rules: The rules, with the changes applied.
        changes: The changes; the roster and the instructor's exercises are copied unchanged.
    """
    for given, kept in ((changes.roster, out / ROSTER_FILE), (changes.groups, out / GROUPS_FILE)):
        if given and given.resolve() != kept.resolve():
            with atomic_write(kept) as temporary:
                shutil.copyfile(given, temporary)
    stored: dict[str, Any] = {name: getattr(rules, name) for name in ("partial_credit", "library_calls")}
    stored |= {"lessons": list(rules.lessons), **rules.late_policy.as_dict()}
    stored |= {"roster_columns": dict(rules.roster_columns)} if rules.roster_columns else {}
    atomic_write_text(out / RULES_FILE, json.dumps(stored, indent=1) + "\n")
    for exercises in changes.own:
        exercises.keep(out)
    make_overrides_file(out)
    make_extensions_file(out)
