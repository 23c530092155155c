"""Use a cell's text to recognize the exercises that the cell defines or checks.

The code is not parsed here, because parsing a student's code can crash a process or exhaust its memory. Code is parsed
only in the sandbox.
"""

import re
from collections.abc import Iterable
from functools import cache

from transformer_course.exercises import every_lesson, exercise_names


@cache
def definition_of(name: str) -> re.Pattern[str]:
    """Return a pattern that matches the definition of a function, class or variable."""
    return re.compile(rf"^(?:(?:async +)?def|class) +{name}\b|^{name} *=(?!=)", re.MULTILINE)


@cache
def check_of(name: str) -> re.Pattern[str]:
    """Return a pattern that matches a check of an exercise, except a check with ``save=False``, as in a bug hunt."""
    quoted = rf"[\"']{name}[\"']"
    return re.compile(rf"\bcheck\((?:attempt *= *)?(?:{name}\b|[^()\n]*{quoted})(?![^()\n]*save *= *False)")


def lesson_by_text(sources: Iterable[str]) -> str:
    """Return the lesson with the most exercises that these cells check or define, or an empty string."""
    text = "\n".join(sources)
    counts = {
        lesson: sum(
            2 * bool(check_of(name).search(text)) + bool(definition_of(name).search(text))
            for name in exercise_names(lesson)
        )
        for lesson in every_lesson()
    }
    best = max(counts, key=lambda lesson: counts[lesson])
    return best if counts[best] else ""
