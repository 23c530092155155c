"""Lists of names as people type them: “Lovelace, Ada; Müller-Lang, Chloé”, also with commas between the people."""

import re
from collections.abc import Callable, Sequence

from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person

SEPARATOR = re.compile(r"\s*[;\n|&+/]\s*|\s+(?:and|und|et)\s+", re.IGNORECASE)
"""Unambiguous separators between people's names. A comma is not one, because it may be inside a name."""
MAX_PARTS_OF_A_NAME = 3
"""Maximum number of comma-separated parts in one name, as in “King, Martin, Jr.”."""
MAX_PARTS = 60
EXAMPLE = "“Lovelace, Ada; Müller-Lang, Chloé”"


def people_named(text: str, roster: Roster) -> list[Person]:
    """Return the people in the roster for a name or a list of names.

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
    for find in (
        roster.find_exactly,
        roster.find_by_all_words,
    ):  # full names first, because a first name may be ambiguous
        ways = _ways(parts, find) if 1 < len(parts) <= MAX_PARTS else set()
        if ways:
            return [person for person in roster.people if person in next(iter(ways))] if len(ways) == 1 else []
    # If only one person in a list is found, the others would be dropped silently.
    person = roster.find(text) if len(names) == len(parts) == 1 else None
    return [person] if person else []


def _ways(parts: Sequence[str], find: Callable[[str], Person | None]) -> set[frozenset[Person]]:
    """Return the people for each possible reading of a comma-separated list, because names may contain commas.

    It stops at two readings, which already make the list ambiguous.
    """
    ways: list[set[frozenset[Person]]] = [{frozenset()}]
    for end in range(1, len(parts) + 1):
        here: set[frozenset[Person]] = set()
        for size in range(1, min(MAX_PARTS_OF_A_NAME, end) + 1):
            name = ", ".join(parts[end - size : end])
            if before := ways[end - size]:
                person = find(name)
                here |= {way | {person} for way in before} if person else set()
        ways.append(set(sorted(here, key=len)[:2]))
    return ways[-1]
