"""The roster: all people in the class, whether they submit or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_course.grading.incoming.column_titles import ADDRESS, find_columns, participant_number
from transformer_course.grading.incoming.tables import Table, lower_case_words, rows_of

KEYS = ("id", "name", "email", "login", "first name", "last name", "group")
"""The columns that a roster may have."""
TEST_STUDENT = ("student, test", "test student")
"""Canvas's names for its placeholder student."""


@dataclass(frozen=True)
class Person:
    """A person in the roster.

    Args:
        id: A number or name that is unique to this person.
        name: The full name.
        email: The email address.
        login: The user name in some system.
        group: The person's group; several groups are separated by commas.
    """

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    group: str = ""


def read_roster(path: Path, columns: Mapping[str, str] | None = None) -> list[Person]:
    """Read the roster of a class.

    Args:
        path: The table.
        columns: Titles of columns that the instructor has chosen, by key of ``column_titles.TITLES``.

    Raises:
        ValueError: No column identifies students, a row does not identify a student, or two rows have the same id.
        OSError: The file cannot be read.
    """
    table = Table(path)
    if any(map(ADDRESS.fullmatch, table.titles)):
        raise ValueError(
            f"the first row of {path} must have titles, such as name,email; it begins with {table.listed_titles}"
        )
    titles = {key: [table.titles[i] for i in find_columns(table, key, columns)] for key in KEYS}
    if not any(own for key, own in titles.items() if key != "group"):
        raise ValueError(
            f"{path} has no column for an id, a name, an email address or a login; its columns are "
            f"{table.listed_titles}. Choose some with --columns, such as --columns name=TITLE"
        )
    if titles["first name"] and not titles["last name"]:  # in German, "Name" is the last name if there is a "Vorname"
        titles["last name"], titles["name"] = titles["name"], []
    people: dict[str, Person] = {}
    for row in rows_of(table):
        if is_canvas_row(row.get("student", ""), row.get("id", "")) and {"student", "id", "section"} <= row.keys():
            continue
        person = _person(row, titles)
        if not person.id:
            raise ValueError(f"{path}, line {row['line']}: no id, name, email address or login identifies a student")
        if person.id in people:
            raise ValueError(f"{path}, line {row['line']}: the id {person.id!r} occurs in an earlier row")
        people[person.id] = person
    return list(people.values())


def _person(row: Mapping[str, str], titles: Mapping[str, Sequence[str]]) -> Person:
    cells = {key: [row[lower_case_words(title)] for title in own] for key, own in titles.items()}
    found = {key: next(filter(None, own), "") for key, own in cells.items()}
    name = found["name"] or f"{found['first name']} {found['last name']}".strip()
    number = participant_number(found["id"]) or participant_number(found["login"])
    login = (
        "" if participant_number(found["login"]) else found["login"]
    )  # Moodle's participant number, which has this title in French
    own_id = number or found["id"] or login or found["email"] or name
    return Person(own_id, name, found["email"], login, found["group"])


def is_canvas_row(student: str, number: str) -> bool:
    """Return whether a row of Canvas's gradebook is not a student: the maxima, remarks, or the test student."""
    return not number or student.casefold() in TEST_STUDENT
