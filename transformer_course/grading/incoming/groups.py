"""Read the table of groups of students who submit together."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from transformer_course.grading.incoming.column_titles import find_columns
from transformer_course.grading.incoming.name_lists import EXAMPLE, people_named
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.tables import Table, lower_case_words, rows_of

MEMBERS = re.compile(r"(members?|students?|mitglied(er)?|membres?|miembros?|membri|membros?|leden|lid)( ?\d+)?")
"""Titles of columns that contain one or more members."""
IDENTITY = ("id", "email", "login", "name")
"""Columns that together identify one member, most reliable first."""


def with_groups(roster: Roster, path: Path) -> Roster:
    """Return a roster with the groups from a table.

    Each row contains the group's name and either one member, in the same columns as in a roster, or several members, in
    one cell or in several columns.

    Raises:
        ValueError: The table has no column for groups, or a member is not in the roster.
        OSError: The table cannot be read.
    """
    table = Table(path)
    columns = find_columns(table, "group")
    if not columns:
        raise ValueError(
            f"{path} has no column for groups; its columns are {table.listed_titles}. "
            'Give the column with the group names the title "group".'
        )
    group = lower_case_words(table.titles[columns[0]])
    identity = [lower_case_words(table.titles[i]) for key in IDENTITY for i in find_columns(table, key)]
    groups: dict[str, list[Person]] = defaultdict(list)
    for row in rows_of(table):
        cells = {title: cell for title, cell in row.items() if cell and title not in (group, "line")}
        try:
            groups[row[group]] += [
                member for member in _members(cells, identity, roster) if member not in groups[row[group]]
            ]
        except ValueError as error:
            raise ValueError(f"{path}, line {row['line']}: {error}") from None
    return Roster(roster.people, groups)


def _members(cells: Mapping[str, str], identity: list[str], roster: Roster) -> list[Person]:
    """Return the members listed in a row.

    Args:
        cells: The nonempty cells by title.
        identity: The titles of columns that together identify one member.
        roster: The people in the class.

    Raises:
        ValueError: A name is not in the roster or is ambiguous.
    """
    lists = {title: cell for title, cell in cells.items() if MEMBERS.fullmatch(title)}
    if len(lists) > 1 or (lists and not cells.keys() & set(identity) - lists.keys()):
        return [person for cell in lists.values() for person in _named(cell, roster)]
    full_name = " ".join(cells[title] for title in ("first name", "last name") if title in cells)
    names = [*(cells[title] for title in identity if title in cells), full_name, *cells.values()]
    for name in filter(None, names):
        if people := people_named(name, roster):
            return people
    return _named(next(filter(None, names), ""), roster)


def _named(text: str, roster: Roster) -> list[Person]:
    if people := people_named(text, roster):
        return people
    if not roster.people:
        raise ValueError(
            f"{text!r} cannot be matched with a student, because there is no roster; pass a table of all students with "
            "--roster"
        )
    may_be = [f"{person.name} ({person.id})" for person in roster.all_called(text)]
    candidates = f" It may be {' or '.join(may_be)}." if may_be else ""
    raise ValueError(
        f"{text!r} does not clearly identify people in the roster.{candidates} Write one row for each member, or put "
        f"semicolons between the members, as in {EXAMPLE}"
    )
