"""Read a student's notebook as untrusted input."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from transformer_course.exercises import UNGRADED
from transformer_course.grading.incoming.cell_text import lesson_by_text
from transformer_course.grading.incoming.notebook_cells import NOTHING_TO_GRADE, lesson_by_cells, read_cells
from transformer_course.grading.incoming.platform_names import (
    PersonHint,
    lesson_by_name,
)
from transformer_course.grading.incoming.printable_text import clean_name
from transformer_course.grading.incoming.reading_budget import ReadingBudget
from transformer_course.grading.incoming.submitted_file import (
    SubmittedFile,
    UnreadableFile,
)

NOT_A_LESSON = (
    "Neither the name nor the cells of this notebook match a lesson. If you know its lesson, grade it with --lesson."
)


@dataclass(frozen=True)
class Submission:
    """A student's notebook, or the reason why there is none.

    Args:
        student: The student's name.
        path: The notebook, or a folder without a notebook to grade.
        lesson: The lesson, one of ``every_lesson()``, or empty if it is unknown.
        cells: The code cells, each with its ``id`` and ``source``.
        problem: The reason why the notebook cannot be graded, or empty.
        remark: A remark for the instructor about the student's name, or empty.
        beside: A description of the student's other files, or empty.
        known_as: The student's name as written in the name of the file or folder.
        digest: SHA-256 of the code cells and written answers, or empty if the notebook cannot be read.
        sha256: SHA-256 of the whole file.
        lms_id: The student's number on the platform, or empty.
        login: The student's user name on the platform, or empty.
        platform: The platform from which the notebook was downloaded, or empty.
        batch: The id of the download, which is a hash of all its students.
        handed_in: The submission time in ISO 8601 format with a time zone, or empty.
        time_source: Where the time comes from, or the reason why the time is unknown.
        is_marked_late: Whether the platform has marked the submission as late.
        written: The written answers, keyed by question.
        texts: The Markdown and raw cells that define a function or class. These cells are never run.
        storage_lesson: The lesson under which to store the results if the notebook's own lesson is unknown; otherwise
            empty.
    """

    student: str
    path: Path
    lesson: str = ""
    cells: Sequence[dict[str, str]] = field(default_factory=list)
    problem: str = ""
    remark: str = ""
    beside: str = ""
    known_as: str = ""
    digest: str = ""
    sha256: str = ""
    lms_id: str = ""
    login: str = ""
    platform: str = ""
    batch: str = ""
    handed_in: str = ""
    time_source: str = ""
    is_marked_late: bool = False
    written: Mapping[str, str] = field(default_factory=dict)
    texts: Sequence[str] = ()
    storage_lesson: str = ""

    @property
    def file(self) -> str:
        """The name of the file in a form that is safe to print."""
        return clean_name(self.path.name)

    @property
    def hint(self) -> PersonHint:
        """The information about the notebook's student."""
        name = self.known_as or self.student
        return PersonHint(name, self.lms_id, self.login, self.platform, batch=self.batch)


def with_assumed_lesson(submissions: Sequence[Submission], lesson: str) -> list[Submission]:
    """Assign a student's unrecognized notebooks to a lesson, unless another notebook belongs to that lesson."""
    if any(submission.lesson == lesson and not submission.problem for submission in submissions):
        return list(submissions)
    return [
        replace(submission, lesson=lesson, problem="")
        if submission.problem == NOT_A_LESSON and submission.cells
        else submission
        for submission in submissions
    ]


def read_submission(file: SubmittedFile, whose: PersonHint, budget: ReadingBudget) -> Submission:
    """Read one notebook. If it cannot be read, the submission's ``problem`` contains the reason."""
    lesson = lesson_by_name(file.path.name)
    submission = Submission(
        clean_name(whose.name),
        file.path,
        lesson,
        known_as=whose.name,
        lms_id=whose.lms_id,
        login=whose.login,
        platform=whose.platform,
        handed_in=file.time.isoformat(timespec="seconds") if file.time else "",
        time_source=file.time_source,
        is_marked_late=whose.is_marked_late,
    )
    if file.problem:
        return replace(submission, lesson="", problem=file.problem)
    try:
        budget.check()
        content = file.read()
        budget.spend(content)
        submission = replace(submission, sha256=hashlib.sha256(content).hexdigest())
        cells, written, texts = read_cells(content)
    except UnreadableFile as error:
        return replace(submission, problem=str(error))
    except Exception as error:  # one student's file must not affect other students
        return replace(submission, problem=f"The file cannot be read ({type(error).__name__}).")
    lesson = lesson or lesson_by_cells(cells) or lesson_by_text(cell["source"] for cell in cells)
    lesson = lesson or lesson_by_name(file.path.parent.name)
    if not lesson and any(name in file.path.stem for name in UNGRADED):
        return replace(submission, problem=NOTHING_TO_GRADE)
    kept = [cells, written, *([texts] if texts else [])] if written or texts else cells
    digest = hashlib.sha256(json.dumps(kept).encode()).hexdigest()
    submission = replace(submission, cells=cells, texts=texts, digest=digest, written=written)
    return replace(submission, lesson=lesson) if lesson else replace(submission, problem=NOT_A_LESSON)
