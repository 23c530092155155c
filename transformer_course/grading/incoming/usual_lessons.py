"""The lesson of files that do not show one, such as a PDF: the lesson that was submitted around them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_course.grading.incoming.platform_names import lesson_by_name
from transformer_course.grading.incoming.submissions import Submission


def with_usual_lessons(students: Mapping[str, Sequence[Submission]]) -> dict[str, list[Submission]]:
    """Assign files whose lesson is unknown to a lesson, so that their messages reach the feedback of the right week.

    That is the lesson in the name of the file or of a folder above it, or else the lesson that most other students
    submitted in the nearest folder or zip above it that has something of theirs.
    """
    submitters: dict[Path, set[tuple[str, str]]] = defaultdict(set)
    for name, own in students.items():
        for one in own:
            for folder in one.path.parents if one.lesson else ():
                submitters[folder].add((name, one.lesson))
    return {
        name: [one if one.lesson else replace(one, kept_with=_usual_lesson(name, one.path, submitters)) for one in own]
        for name, own in students.items()
    }


def _usual_lesson(student: str, path: Path, submitters: Mapping[Path, set[tuple[str, str]]]) -> str:
    if named := next(filter(None, map(lesson_by_name, reversed(path.parts))), ""):
        return named
    for folder in path.parents:
        counts = Counter(lesson for name, lesson in submitters.get(folder, ()) if name != student)
        if counts:
            [(lesson, n)] = counts.most_common(1)
            return lesson if 2 * n > counts.total() else ""
    return ""
