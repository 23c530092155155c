"""Guess the lesson of files such as PDFs from the submissions in the same folder or zip."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_course.grading.incoming.platform_names import lesson_by_name
from transformer_course.grading.incoming.submission import Submission


def with_usual_lessons(students: Mapping[str, Sequence[Submission]]) -> dict[str, list[Submission]]:
    """Assign a lesson to files whose lesson is unknown, so that messages about them appear in the right feedback.

    Search the file's name, and then the folders and zips that contain the file, innermost first. Stop at the first name
    that refers to a lesson, and use this lesson; or stop at the first folder or zip with other students' submissions,
    and use the most common lesson among these submissions.
    """
    submitters: dict[Path, set[tuple[str, str]]] = defaultdict(set)
    for name, own in students.items():
        for submission in own:
            for folder in submission.path.parents if submission.lesson else ():
                submitters[folder].add((name, submission.lesson))
    return {
        name: [
            submission
            if submission.lesson
            else replace(submission, storage_lesson=_usual_lesson(name, submission.path, submitters))
            for submission in own
        ]
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
