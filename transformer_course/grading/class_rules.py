"""What an instructor sets for a class, kept in the folder of results: written there by a grading, and read again."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transformer_course.grading.late_policy import LatePolicy, read_late_policy
from transformer_course.grading.overrides import Override, make_overrides_file, read_overrides
from transformer_course.grading.own_exercises import OwnExercises
from transformer_course.grading.roster import Roster, read_roster
from transformer_course.grading.written_answers import WrittenAnswer, read_marks

ROSTER = "roster.csv"
LATE_POLICY = "late_policy.json"
PARTIAL_CREDIT = "partial_credit.txt"
"""If this file is in the folder of results, there is partial credit."""


@dataclass(frozen=True)
class ClassRules:
    """What the instructor has set for a class.

    Args:
        roster: Who is in the class; nobody where no list was given.
        late_policy: Due dates, and what being late costs.
        overrides: Points and comments given by hand.
        marks: The written answers that are in the sheet, with their marks.
        partial_credit: Whether an answer that is right in some cases has that part of the points.
    """

    roster: Roster = field(default_factory=lambda: Roster([]))
    late_policy: LatePolicy = field(default_factory=LatePolicy)
    overrides: Sequence[Override] = ()
    marks: Sequence[WrittenAnswer] = ()
    partial_credit: bool = False


def read_class_rules(out: Path) -> ClassRules:
    """Read what is kept in a folder of results.

    Raises:
        ValueError: A file holds something else.
        OSError: A file cannot be read.
    """
    people = read_roster(out / ROSTER) if (out / ROSTER).exists() else []
    return ClassRules(
        Roster(people),
        read_late_policy(out / LATE_POLICY),
        read_overrides(out),
        read_marks(out),
        partial_credit=(out / PARTIAL_CREDIT).exists(),
    )


def write_class_rules(
    out: Path,
    roster: Path | None,
    late_policy: LatePolicy | None,
    partial_credit: bool,
    own: Sequence[OwnExercises],
) -> None:
    """Keep what the instructor has set, so that a later grading of some students need not be told again."""
    if roster and roster.resolve() != (out / ROSTER).resolve():
        shutil.copyfile(roster, out / ROSTER)
    if late_policy:
        late_policy.write(out / LATE_POLICY)
    if partial_credit:
        (out / PARTIAL_CREDIT).write_text(
            "Answers that are right in some cases have that part of the points.\n", "utf-8"
        )
    for exercises in own:
        exercises.keep(out)
    make_overrides_file(out)
