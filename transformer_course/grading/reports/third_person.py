"""Turn a message to one student into a clause about several students."""

import re

_BEFORE_AN_OBJECT = r"(?:to|for|from|with|by|gives?|lets?|makes?|leaves?|forces?|helps?|shows?)"
_OBJECT = re.compile(rf"(?<=\b)({_BEFORE_AN_OBJECT}) you\b(?!['’])", re.IGNORECASE)
_WORDS = {"you": "they", "your": "their", "yours": "theirs", "yourself": "themselves", "yourselves": "themselves"}
_SECOND_PERSON = re.compile(r"\b(?:you(?:rs?|rself|rselves)?)\b", re.IGNORECASE)


def in_third_person(message: str) -> str:
    """Return a message with *you* and *your* replaced by *they* and *their*; code in backticks is unchanged.

    Verbs do not change, because *you* and *they* take the same verb forms in English.
    """
    texts = message.split("`")
    texts[::2] = [_SECOND_PERSON.sub(_replaced, _OBJECT.sub(r"\1 them", text)) for text in texts[::2]]
    return "`".join(texts)


def _replaced(found: re.Match[str]) -> str:
    word = found[0]
    replacement = _WORDS[word.lower()]
    return replacement.capitalize() if word[0].isupper() else replacement
