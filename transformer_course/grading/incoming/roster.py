"""The roster: who is in the class, whether they submit or not."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_course.grading.incoming.tables import read_table

COLUMNS = {
    "id": ("id", "student id", "id number", "sis user id", "user id", "student number", "identifier"),
    "name": ("name", "full name", "student", "student name"),
    "email": ("email", "email address", "e mail", "mail", "sis email"),
    "login": ("login", "login id", "sis login id", "username", "user name", "user", "github", "github username"),
    "first name": ("first name", "firstname", "given name", "forename"),
    "last name": ("last name", "lastname", "surname", "family name"),
}
"""What the columns of a roster may be called."""
PARTICIPANT = "Participant "
"""What Moodle writes before its numbers."""
TEST_STUDENT = ("student, test", "test student")
"""What Canvas calls the student that is nobody."""


@dataclass(frozen=True)
class Person:
    """Somebody in the roster.

    Args:
        id: The number or name that tells this person from all others.
        name: The full name.
        email: The e-mail address.
        login: The user's name in some system.
    """

    id: str
    name: str = ""
    email: str = ""
    login: str = ""


def read_roster(path: Path) -> list[Person]:
    """Read who is in the class.

    Raises:
        ValueError: There is no column that tells the students from each other, or two have the same.
        OSError: The file cannot be read.
    """
    people: dict[str, Person] = {}
    for row in read_table(path):
        if is_canvas_row(row.get("student", ""), row.get("id", "")) and {"student", "id", "section"} <= row.keys():
            continue
        found = {key: next((row[t] for t in titles if row.get(t)), "") for key, titles in COLUMNS.items()}
        name = found["name"] or f"{found['first name']} {found['last name']}".strip()
        own_id = found["id"].removeprefix(PARTICIPANT) or found["login"] or found["email"] or name
        if not own_id:
            raise ValueError(
                f"{path}, line {row['line']}: nobody is named; there is no id, login, e-mail address or name"
            )
        if own_id in people:
            raise ValueError(f"{path}, line {row['line']}: a second row has the id {own_id!r}")
        people[own_id] = Person(own_id, name, found["email"], found["login"])
    return list(people.values())


def is_canvas_row(student: str, number: str) -> bool:
    """Return whether a row of Canvas's gradebook is no student's: its maxima, its remarks, or its test student."""
    return not number or student.casefold() in TEST_STUDENT


class Roster:
    """Who is who: finds people by whatever a system calls them.

    Args:
        people: Everybody in the class.
    """

    def __init__(self, people: Sequence[Person]) -> None:
        self.people = list(people)
        known: Mapping[str, set[Person]] = defaultdict(set)
        for person in people:
            for name in _names_of(person):
                known[name].add(person)
        self._known = known

    def find(self, *names: str) -> Person | None:
        """Return the one person whom the first of these names that anybody has belongs to.

        None if nobody has any, or if several have it.
        """
        for name in names:
            if found := self._known.get(_squeezed(name)):
                return next(iter(found)) if len(found) == 1 else None
        return None

    def all_called(self, name: str) -> list[Person]:
        """List everybody whom a name may mean."""
        called = self._known.get(_squeezed(name), ())
        return [person for person in self.people if person in called]


def _names_of(person: Person) -> Iterator[str]:
    """Yield all that a system may call a person; Canvas writes "van der Berg, Jan" as "vanderbergjan"."""
    words = [_squeezed(word) for word in re.split(r"[\s,]+", person.name)]
    rotations = ["".join(words[n:] + words[:n]) for n in range(len(words))]
    names = [_squeezed(name) for name in (person.id, person.login, person.email, person.email.partition("@")[0])]
    yield from filter(None, {*names, *rotations})


def _squeezed(name: str) -> str:
    """Return the letters and digits of a name, without accents and in lower case."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in apart if c.isalnum())
