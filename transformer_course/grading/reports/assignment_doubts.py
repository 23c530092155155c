"""Detect whether a table for exporting points belongs to a different lesson.

Tables for two weeks with the same maximum points look alike, and uploading to the wrong assignment overwrites grades.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from transformer_course.checking.formatting import join_words
from transformer_course.exercises import every_lesson
from transformer_course.grading.incoming.platform_names import read_platform_name
from transformer_course.grading.reports.student_results import ClassResults, StudentResult

Points = Callable[[StudentResult, str], float]
"""A function that returns the points to export for a student and a lesson."""
MAX_SHORT_NUMBER = 2
"""Maximum number of digits in the number of a week or sheet."""
MIN_GRADES = 3
"""Minimum number of grades for which agreement is not a coincidence."""
MIN_WORD_LENGTH = 4
"""Minimum length of a word in a lesson's name that is unlikely to occur in a title by coincidence."""


def doubts_by_numbers(lesson: str, results: ClassResults, numbers: set[str]) -> list[str]:
    """Return a doubt if a Moodle worksheet lists the participant numbers of a different lesson's submissions.

    Args:
        lesson: The lesson to export.
        results: The results of the class.
        numbers: The participant numbers in the worksheet.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for student in results.students:
        for notebook in student.notebooks:
            if notebook.submission.platform == "Moodle":
                found[notebook.lesson].add(notebook.submission.lms_id)
    if not numbers or not found[lesson] or found[lesson] & numbers:
        return []
    others = [other for other in results.lessons if found[other] & numbers]
    of_others = f", but it has numbers from {others[0]}" if others else ""
    return [f"it has none of the participant numbers in the submissions for {lesson}{of_others}"]


def doubts_by_grades(
    lesson: str, results: ClassResults, grades: Sequence[tuple[StudentResult, float]], points: Points
) -> list[str]:
    """Return a doubt if a column already contains the points of a different lesson.

    Args:
        lesson: The lesson to export.
        results: The results of the class.
        grades: Maps each student whose cell contains a number to this number.
        points: Function that returns the points to export.
    """
    if len(grades) < MIN_GRADES:
        return []
    n_equal = {
        candidate: sum(before == points(student, candidate) for student, before in grades)
        for candidate in (lesson, *results.lessons)
    }
    others = [other for other in results.lessons if other != lesson and n_equal[other] > 0.8 * len(grades)]
    if not others or n_equal[lesson] > len(grades) / 2:
        return []
    n = n_equal[others[0]]
    return [f"it already contains the points from {others[0]} for {n} of {len(grades)} students"]


def doubts_by_name(lesson: str, results: ClassResults, name: str) -> list[str]:
    """Return a doubt if a table or column is named after a different lesson or its assignment.

    Args:
        lesson: The lesson to export.
        results: The results of the class.
        name: The title of the column, or the name of the worksheet.
    """
    words = _words(name)
    for other in every_lesson():
        if other != lesson and _is_named(other, name) and not _is_named(lesson, name):
            return [f"“{name}” is a name of {other}"]
    downloads = _downloads(results)
    own = downloads.get(lesson, set())
    for other, others in downloads.items():
        # Both names need distinctive words: “submissions” and “week 2 submissions” do not distinguish two weeks.
        are_distinct = own - others and others - own
        if other != lesson and are_distinct and words & (others - own) and not words & (own - others):
            shared = join_words([f"“{word}”" for word in sorted(words & (others - own))])
            return [f"“{name}” contains {shared}, like the folder or zip with the submissions for {other}"]
    return []


def _is_named(lesson: str, text: str) -> bool:
    """Return whether a text names a lesson, such as “01_lookup”, “Lookup” or “Lesson 1”."""
    number, _, word = lesson.partition("_")
    numbered = [int(found) for found in re.findall(r"lesson\W*(\d+)", text.casefold())]
    long_words = {part for part in word.split("_") if len(part) >= MIN_WORD_LENGTH}
    is_numbered = number.isdigit() and int(number) in numbered
    return lesson in text or is_numbered or bool(long_words and long_words <= _words(text))


def _downloads(results: ClassResults) -> Mapping[str, set[str]]:
    """Return the words in the names of the folders or zips that contain each lesson's submissions."""
    paths: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for student in results.students:
        for notebook in student.notebooks:
            paths[notebook.lesson, notebook.submission.batch].append(notebook.submission.path.parent)
    words: dict[str, set[str]] = defaultdict(set)
    for (lesson, _), own in paths.items():
        if len({*own}) > 1:  # a single student's folder may have any name
            words[lesson] |= _words(_common_folder(own))
    return words


def _common_folder(paths: Sequence[Path]) -> str:
    """Return the name of the deepest common folder, or "" if there is none or it belongs to a single student."""
    name = ""
    for parts in zip(*(path.parts for path in paths), strict=False):
        if len({*parts}) > 1:
            break
        name = parts[0]
    return name if read_platform_name(name) is None else ""


def _words(text: str) -> set[str]:
    """Return the lowercase words and numbers in a text; a short number includes the previous word, as in “week 2”."""
    words, before = set[str](), ""
    for found in re.findall(r"\d+|[^\W\d_]+", text.casefold()):
        if not found.isdigit():
            words.add(found)
            before = found
        elif len(found) > MAX_SHORT_NUMBER or before:
            number = found.lstrip("0") or "0"
            words.add(number if len(found) > MAX_SHORT_NUMBER else f"{before} {number}")
    return words
