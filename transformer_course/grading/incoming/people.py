"""Match names with the people in the roster, even if a platform, a student or a spreadsheet spells them differently."""

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from transformer_course.grading.incoming.platform_names import (
    LASTING_NUMBERS,
    SUBMITTER_SEPARATOR,
    PersonHint,
    without_copy_marks,
)
from transformer_course.grading.incoming.roster import Person

TRANSLITERATIONS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "o", "ł": "l", "đ": "d", "æ": "ae"})
"""Letters whose usual ASCII spelling is more than the letter without its accent."""
NO_ACCENT = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae"})
"""Letters that Unicode does not decompose."""
SCIENTIFIC = re.compile(r"(\d)(?:[.,](\d+))?E\+?(\d+)", re.IGNORECASE)
"""Matches a long number in a spreadsheet's scientific notation, such as 2.02611E+14."""
MIN_CONTAINED_LETTERS = 3
MIN_CONTAINED_DIGITS = 4
MAX_SUGGESTIONS = 3


@dataclass(frozen=True)
class Match:
    """The people who match a name.

    Args:
        people: The person, or the members of the group; empty if the match is uncertain.
        candidates: The possible people, if the match is uncertain.
    """

    people: tuple[Person, ...] = ()
    candidates: tuple[Person, ...] = ()


class Roster:
    """The people in the class, who can be found by any name that a platform uses for them.

    Args:
        people: All people in the class.
        groups: The members of each group, keyed by the group's name.
    """

    def __init__(self, people: Sequence[Person], groups: Mapping[str, Sequence[Person]] | None = None) -> None:
        self.people = list(people)
        self._given = dict(groups or {})
        self.groups = dict(self._given)
        self._exact, self._letters = defaultdict[str, set[Person]](set), defaultdict[str, set[Person]](set)
        self._words = {person: [_words(name) for name in _spellings(person.name)] for person in people}
        self._keys = {person: list(_keys_of(person)) for person in people}
        self._by_id = {person.id: person for person in people}
        self._found: dict[str, list[Person]] = {}
        for person in people:
            for name in filter(None, (person.id, person.login, person.email, person.name)):
                self._exact[_same_case(name)].add(person)
            for name in _names_of(person):
                self._letters[name].add(person)
        in_column: dict[str, list[Person]] = {}
        for person in people:
            for group in dict.fromkeys(re.split(r"\s*[,;]\s*", person.group)) if person.group else ():
                in_column.setdefault(group, []).append(person)
        self.groups |= {group: members for group, members in in_column.items() if group not in self._given}
        self._members = {_letters(group): tuple(members) for group, members in self.groups.items() if _letters(group)}

    def with_people(self, people: Sequence[Person]) -> "Roster":
        """Return a roster that contains only these people, in the same groups."""
        new = Roster(people)
        found = {
            group: [new.find(member.id, member.email, member.login, member.name) for member in members]
            for group, members in self._given.items()
        }
        return Roster(people, {group: [member for member in members if member] for group, members in found.items()})

    def find(self, *names: str) -> Person | None:
        """Return the person who matches the first of these names that matches anyone.

        Return None if no name matches anyone, or if the first name that matches is ambiguous.
        """
        for name in names:
            if found := self._called(name):
                return found[0] if len(found) == 1 else None
        return None

    def find_exactly(self, name: str) -> Person | None:
        """Return the only person with this name, ignoring case, accents, word order and copy marks, or None."""
        found = next(filter(None, self._by_whole_name(name)), [])
        return found[0] if len(found) == 1 else None

    def find_by_all_words(self, name: str) -> Person | None:
        """Return the result of ``find``, but only if every word in the name is a word or an initial of that person."""
        person = self.find(name)
        if person is None:
            return None
        own = {word for words in (*self._words[person], *self._keys[person]) for word in words}
        initials = {word[0] for word in own}
        return person if all(word in own or word in initials for word in _words(name)) else None

    def has_match(self, name: str) -> bool:
        """Return whether a name matches a person, several people or a group."""
        return bool(self._called(name)) or _letters(name) in self._members

    def all_called(self, name: str) -> list[Person]:
        """Return all people that a name may refer to."""
        return self._called(name) or self._similar(name)

    def match(self, hints: Sequence[PersonHint]) -> dict[PersonHint, Match]:
        """Return the match for each hint. Different hints in a batch match different people unless both are certain.

        A platform's number decides between people with the same name. Without a matching name, the number identifies a
        person only if the platform's numbers are permanent, or if the platform hides the name.
        """
        batches: dict[str, list[PersonHint]] = defaultdict(list)
        for hint in dict.fromkeys(hints):
            batches[hint.batch].append(hint)
        return {hint: match for batch in batches.values() for hint, match in self._match_batch(batch).items()}

    def _match_batch(self, hints: Sequence[PersonHint]) -> dict[PersonHint, Match]:
        certain = {hint: self._certain(hint) for hint in hints}
        has_platform_ids = any(len(certain[hint]) == 1 and certain[hint][0].id == hint.lms_id for hint in hints)
        matches = {}
        for hint in hints:
            numbered = [self._by_id[hint.lms_id]] if hint.lms_id in self._by_id else []
            people = certain[hint]
            if len(people) > 1:
                people = [person for person in people if person in numbered] or people
            elif not people and numbered and (hint.platform in LASTING_NUMBERS or hint.is_anonymous):
                people = numbered
            is_permanent = hint.platform in LASTING_NUMBERS
            has_other_id = has_platform_ids and is_permanent and people and people[0] not in numbered
            is_certain = len(people) == 1 and not has_other_id
            matches[hint] = Match(tuple(people)) if is_certain else Match((), tuple(people))
        self._resolve_conflicts(matches)
        claimed = {person for match in matches.values() for person in match.people}
        partial = {hint: self._partial(hint) for hint, match in matches.items() if match == Match()}
        counts = Counter(people[0] for people in partial.values() if len(people) == 1)
        for hint, people in partial.items():
            free = len(people) == 1 and people[0] not in claimed and counts[people[0]] == 1
            matches[hint] = Match(tuple(people)) if free else Match((), tuple(people or self._similar(hint.name)))
        for hint in hints:
            together = [self.find_exactly(name) for name in hint.name.split(SUBMITTER_SEPARATOR)]
            if hint.platform == "Gradescope" and len(together) > 1 and all(together):
                matches[hint] = Match(tuple(person for person in together if person))
            if members := self._members.get(_letters(hint.name)):
                matches[hint] = Match(members)
        return matches

    def _resolve_conflicts(self, matches: dict[PersonHint, Match]) -> None:
        """Reject all but one of the hints that match the same person but have different numbers.

        If one of the hints has the person's number, that hint stays matched.
        """
        claims: dict[Person, list[PersonHint]] = defaultdict(list)
        for hint, match in matches.items():
            for person in match.people if hint.lms_id else ():
                claims[person].append(hint)
        for person, hints in claims.items():
            others = [hint for hint in hints if hint.lms_id != person.id]
            if len({hint.lms_id for hint in hints}) > 1:
                matches |= dict.fromkeys(others, Match((), (person,)))

    def _certain(self, hint: PersonHint) -> list[Person]:
        for name in filter(None, (hint.login, hint.name)):
            if found := next(filter(None, self._by_name(name)), []):
                return found
        return []

    def _partial(self, hint: PersonHint) -> list[Person]:
        return [] if hint.is_anonymous else self._by_words(hint.name)

    def _called(self, name: str) -> list[Person]:
        if name not in self._found:
            self._found[name] = next(filter(None, self._by_name(name)), []) or self._by_words(name)
        return self._found[name]

    def _by_name(self, name: str) -> Iterator[list[Person]]:
        yield from self._by_whole_name(name)
        yield self._contained(name)

    def _by_whole_name(self, name: str) -> Iterator[list[Person]]:
        """Yield lists of people with this name, in order of decreasing exactness."""
        for spelling in dict.fromkeys((name, without_copy_marks(name))):
            yield self._in_order(self._exact.get(_same_case(spelling), set()))
            yield self._in_order(self._letters.get(_letters(spelling), set()))
            yield self._by_number(spelling)

    def _by_number(self, name: str) -> list[Person]:
        """Return the people whose id or login is this number, even if a spreadsheet has changed its notation."""
        if not name.isdigit() and not SCIENTIFIC.fullmatch(name):
            return []
        return [
            person for person in self.people if any(_same_number(name, own) for own in (person.id, person.login) if own)
        ]

    def _contained(self, name: str) -> list[Person]:
        """Return the person with the longest id, login or full name that occurs in a name.

        Return several people if the remaining words contain another person's full name, as in “Ada Lovelace, Ben
        Shaw”.
        """
        words = _words(name)
        if len(words) < 2:
            return []
        lengths = {person: _longest_run(words, keys) for person, keys in self._keys.items()}
        longest = max(lengths.values(), default=0)
        found = [person for person in self.people if lengths[person] == longest] if longest else []
        if len(found) != 1:
            return found
        others = [person for person in self.people if person not in found and lengths[person]]
        return found + [other for other in others if _are_both_in(words, self._keys[found[0]], self._keys[other])]

    def _by_words(self, name: str) -> list[Person]:
        """Return the people who share all words of this name or of their own name, perhaps as initials."""
        words = _words(without_copy_marks(name))
        return [person for person in self.people if any(_fit(words, own) for own in self._words[person])]

    def _similar(self, name: str) -> list[Person]:
        """Return the people with a similar name."""
        written = {_letters(person.name or person.id): person for person in self.people}
        close = difflib.get_close_matches(_letters(name), written, MAX_SUGGESTIONS, 0.75)
        return [written[letters] for letters in close]

    def _in_order(self, people: set[Person]) -> list[Person]:
        return [person for person in self.people if person in people] if people else []


def _names_of(person: Person) -> Iterator[str]:
    """Yield all names that a platform may use for a person. Canvas writes "van der Berg, Jan" as "vanderbergjan"."""
    for name in _spellings(person.name):
        words = [_letters(word) for word in re.split(r"[\s,]+", name)]
        yield from filter(None, ("".join(words[n:] + words[:n]) for n in range(len(words))))
    names = (person.id, person.login, person.email, person.email.partition("@")[0])
    yield from filter(None, map(_letters, names))


def _spellings(name: str) -> set[str]:
    plain = unicodedata.normalize("NFC", name).casefold()
    return {plain, plain.translate(TRANSLITERATIONS)}


def _keys_of(person: Person) -> Iterator[list[str]]:
    """Yield the words of a person's id, login, email address and full name, unless they are too short to be unique."""
    own = [_words(name) for name in (person.id, person.login, person.email, person.email.partition("@")[0])]
    full = _words(person.name)
    own += [full, full[-1:] + full[:-1]] if len(full) > 1 else []
    for key in own:
        letters = "".join(key)
        if len(letters) >= (MIN_CONTAINED_DIGITS if letters.isdigit() else MIN_CONTAINED_LETTERS):
            yield key


def _longest_run(words: Sequence[str], keys: Sequence[Sequence[str]]) -> int:
    """Return the number of letters in the longest key that occurs in these words, or 0."""
    return max(
        (len("".join(key)) for key in keys if any(words[i : i + len(key)] == key for i in range(len(words)))),
        default=0,
    )


def _are_both_in(words: Sequence[str], keys: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    """Return whether these words contain one of the keys and, in the remaining words, another person's full name."""
    longest = max(keys, key=lambda key: _longest_run(words, [key]))
    starts = [i for i in range(len(words)) if words[i : i + len(longest)] == longest]
    rests = [part for i in starts for part in (words[:i], words[i + len(longest) :])]
    full_names = [other for other in others if len(other) > 1]
    return any(_longest_run(rest, full_names) for rest in rests)


def _fit(words: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether the longer name contains every word of the shorter name, at least one of them in full."""
    few, many = (words, own) if len(words) <= len(own) else (own, words)
    if not few or (few is own and len(own) < 2):
        return False
    full = [word for word in few if word in many]
    initials = [word for word in few if word not in many and len(word) == 1 and any(w[0] == word for w in many)]
    return len(full) + len(initials) == len(few) and any(len(word) > 1 for word in full)


def _same_number(name: str, own: str) -> bool:
    if name.isdigit() and own.isdigit():
        return name.lstrip("0") == own.lstrip("0") != ""
    for short, whole in ((name, own), (own, name)):
        if (found := SCIENTIFIC.fullmatch(short)) and whole.isdigit() and len(whole) < 40:
            digits = found[2] or ""
            mantissa, _, exponent = f"{int(whole):.{len(digits)}E}".partition("E+")
            return mantissa.replace(".", "") == found[1] + digits and int(exponent) == int(found[3])
    return False


def _same_case(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _words(name: str) -> list[str]:
    return [_letters(word) for word in re.split(r"[\W_]+", unicodedata.normalize("NFC", name)) if _letters(word)]


def _letters(name: str) -> str:
    """Return the letters and digits of a name in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", name.casefold().translate(NO_ACCENT))
    return "".join(c for c in decomposed if c.isalnum())
