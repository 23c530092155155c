"""Find the lesson of files such as PDFs from the submissions around them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_course.grading.incoming.platform_names import lesson_by_name
from transformer_course.grading.incoming.submission import Submission


def with_usual_lessons(students: Mapping[str, Sequence[Submission]]) -> dict[str, list[Submission]]:
    """Assign a lesson to files whose lesson is unknown, so that their messages appear in the right week's feedback.

    The lesson is that of the file's name. Otherwise, it is determined by the nearest folder or zip above the file that
    is named after a lesson or contains other students' submissions, of which the most common lesson is used.
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
    for folder in (path, *path.parents):
        if named := lesson_by_name(folder.name):
            return named
        counts = Counter(lesson for name, lesson in submitters.get(folder, ()) if name != student)
        if counts:
            [(lesson, n)] = counts.most_common(1)
            return lesson if 2 * n > counts.total() else ""
    return ""
