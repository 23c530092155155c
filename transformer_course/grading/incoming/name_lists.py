"""Find the people in a list of names such as “Lovelace, Ada; Müller-Lang, Chloé”, even if commas separate the names."""

import re
from collections.abc import Callable, Sequence

from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person

SEPARATOR = re.compile(r"\s*[;\n|&+/]\s*|\s+(?:and|und|et)\s+", re.IGNORECASE)
"""Unambiguous separators between people's names. Commas are excluded, because a name may contain them."""
MAX_PARTS_OF_A_NAME = 3
"""Maximum number of comma-separated parts in one name, as in “King, Martin, Jr.”."""
MAX_PARTS = 60
EXAMPLE = "“Lovelace, Ada; Müller-Lang, Chloé”"


def people_named(text: str, roster: Roster) -> list[Person]:
    """Return the people in the roster to whom a name or a list of names refers.

    Returns:
        The people, in the order of the roster, or an empty list if a name is unknown or the list is ambiguous.
    """
    if person := roster.find_exactly(text):
        return [person]
    names = list(filter(None, SEPARATOR.split(text)))
    if len(names) > 1:
        found = [people_named(name, roster) for name in names]
        if all(found):
            named = {person for people in found for person in people}
            return [person for person in roster.people if person in named]
    parts = list(filter(None, (part.strip() for part in text.split(","))))
    # Try full names first, because a first name may be ambiguous.
    for find in (roster.find_exactly, roster.find_by_all_words):
        readings = _readings(parts, find) if 1 < len(parts) <= MAX_PARTS else set()
        if readings:
            return [person for person in roster.people if person in next(iter(readings))] if len(readings) == 1 else []
    # A list must not match a single person, because the other names in the list would be dropped silently.
    person = roster.find(text) if len(names) == len(parts) == 1 else None
    return [person] if person else []


def _readings(parts: Sequence[str], find: Callable[[str], Person | None]) -> set[frozenset[Person]]:
    """Return the people for each possible reading of a comma-separated list in which names may contain commas.

    At most two readings are kept, because a second reading already makes the list ambiguous.
    """
    readings: list[set[frozenset[Person]]] = [{frozenset()}]  # the readings of the first n parts, for each n
    for end in range(1, len(parts) + 1):
        extended: set[frozenset[Person]] = set()
        for size in range(1, min(MAX_PARTS_OF_A_NAME, end) + 1):
            name = ", ".join(parts[end - size : end])
            if before := readings[end - size]:
                person = find(name)
                extended |= {people | {person} for people in before} if person else set()
        readings.append(set(sorted(extended, key=len)[:2]))
    return readings[-1]
