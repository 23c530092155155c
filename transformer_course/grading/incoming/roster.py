"""Read the roster, the table of all people in the class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_course.grading.incoming.column_titles import ADDRESS, find_columns, participant_number
from transformer_course.grading.incoming.tables import Table, lower_case_words, rows_of

KEYS = ("id", "name", "email", "login", "first name", "last name", "group")
"""The kinds of columns in a roster."""
TEST_STUDENT = ("student, test", "test student")
"""Names of Canvas's placeholder student."""


@dataclass(frozen=True)
class Person:
    """A person in the roster.

    Args:
        id: A number or name that is unique to this person.
        name: The full name.
        email: The email address.
        login: The user name on a platform or in the university's systems.
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
        columns: Titles of columns that the instructor chose, with the keys of ``column_titles.TITLES``.

    Raises:
        ValueError: No column identifies students, a row does not identify a student, or two rows have the same id.
        OSError: The file cannot be read.
    """
    table = Table(path)
    if any(map(ADDRESS.fullmatch, table.titles)):
        raise ValueError(
            f"the first row of {path} must contain column titles, such as name,email; it contains {table.listed_titles}"
        )
    titles = {key: [table.titles[i] for i in find_columns(table, key, columns)] for key in KEYS}
    if not any(own for key, own in titles.items() if key != "group"):
        raise ValueError(
            f"{path} has no column for an id, a name, an email address or a login; its columns are "
            f"{table.listed_titles}. Choose a column, for example with --columns name=TITLE"
        )
    if titles["first name"] and not titles["last name"]:  # in German, "Name" is the last name if there is a "Vorname"
        titles["last name"], titles["name"] = titles["name"], []
    people: dict[str, Person] = {}
    for row in rows_of(table):
        if is_canvas_row(row.get("student", ""), row.get("id", "")) and {"student", "id", "section"} <= row.keys():
            continue
        person = _person(row, titles)
        if not person.id:
            raise ValueError(f"{path}, line {row['line']}: the row has no id, name, email address or login")
        if person.id in people:
            raise ValueError(f"{path}, line {row['line']}: the id {person.id!r} occurs in an earlier row")
        people[person.id] = person
    return list(people.values())


def _person(row: Mapping[str, str], titles: Mapping[str, Sequence[str]]) -> Person:
    cells = {key: [row[lower_case_words(title)] for title in own] for key, own in titles.items()}
    found = {key: next(filter(None, own), "") for key, own in cells.items()}
    name = found["name"] or f"{found['first name']} {found['last name']}".strip()
    number = participant_number(found["id"]) or participant_number(found["login"])
    # In French, Moodle's column of participant numbers has the same title as a column of logins.
    login = "" if participant_number(found["login"]) else found["login"]
    own_id = number or found["id"] or login or found["email"] or name
    return Person(own_id, name, found["email"], login, found["group"])


def is_canvas_row(student: str, number: str) -> bool:
    """Return whether a row of a Canvas gradebook contains maxima, remarks or the test student."""
    return not number or student.casefold() in TEST_STUDENT
