"""Find submitted notebooks, and read them as untrusted input.

The JSON is read directly: a hostile notebook can keep a library that validates and converts notebooks busy for
minutes, and only the text of the cells is needed.
"""

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from transformer_course.checking.formatting import join_words
from transformer_course.exercises import UNGRADED, every_lesson, exercises_of
from transformer_course.grading.incoming.download_names import (
    CLASS_ZIP,
    DownloadName,
    classroom_prefix,
    folder_of_downloads,
    names_several,
    read_download_name,
    zips_of_classes,
)
from transformer_course.grading.incoming.printable_text import clean_name, encodable, printable
from transformer_course.grading.incoming.reading_budget import ReadingBudget
from transformer_course.grading.incoming.submitted_files import (
    NO_NOTEBOOK_IN_FOLDER,
    SubmittedFile,
    UnreadableFile,
    files_below,
    files_in_zip,
    one_file,
    time_of,
)
from transformer_course.grading.incoming.written_answers import written_answer_of
from transformer_course.lesson_order import PRACTICE_KEY

MAX_CODE_LENGTH = 1 << 20
"""Number of characters in all code cells together."""
MAX_CELLS = 5000
MAX_ID_LENGTH = 100
MAX_WRITTEN_ANSWERS = 100
MAX_NOTEBOOKS = 50
"""Number of notebooks of a student; with more, all other students would wait for hours."""
MAX_LISTED = 3
"""Number of files beside the notebooks that are named."""
NOTHING_TO_GRADE = "There is nothing to grade in this notebook."
SEVERAL_STUDENTS = (
    "This has the work of several students, and was given as one's: grade it alone, under a name that is nobody's."
)
NBGRADER_FOLDER = "submitted"
"""The folder of a course in nbgrader that holds a folder for each student."""


@dataclass(frozen=True)
class Submission:
    """One notebook of one student, or the reason why there is none.

    Args:
        student: The student's name.
        path: The notebook; a folder if that has none to grade.
        lesson: The lesson, one of ``every_lesson()``; empty if it is unknown.
        cells: The code cells, each with its ``id`` and ``source``.
        problem: Why it cannot be graded; empty if it can.
        remark: What the instructor should know about the student's name; empty if nothing.
        beside: What else the student handed in that is no notebook, in words; empty if nothing.
        raw_name: The student's name as the file system has it. Two that are told apart there stay two students here.
        digest: SHA-256 of its code cells and written answers; empty if it cannot be read.
        sha256: That of the whole file.
        lms_id: The student's number in the system that it was downloaded from; empty if that is not known.
        handed_in: When it was handed in, as ISO 8601 with a time zone; empty if that is not known.
        time_source: Where that time is from, or why it is not known, in words.
        is_marked_late: Whether the system that it was downloaded from has marked it as late.
        written: The answers in words, by question.
        kept_with: The lesson with which its results are kept, if its own lesson is unknown; empty for its own.
    """

    student: str
    path: Path
    lesson: str = ""
    cells: Sequence[dict[str, str]] = field(default_factory=list)
    problem: str = ""
    remark: str = ""
    beside: str = ""
    raw_name: str = ""
    digest: str = ""
    sha256: str = ""
    lms_id: str = ""
    handed_in: str = ""
    time_source: str = ""
    is_marked_late: bool = False
    written: Mapping[str, str] = field(default_factory=dict)
    kept_with: str = ""

    @property
    def file(self) -> str:
        """The name of the file, safe to print."""
        return clean_name(self.path.name)


def find_submissions(
    paths: Sequence[Path],
    ignore: Path | None = None,
    is_student: Callable[[str], bool] = lambda name: False,
    zone: ZoneInfo | None = None,
) -> list[Submission]:
    """Find all submissions, each once, and one with a problem for each student who handed in something else.

    Args:
        paths: Each a notebook, a student's folder of notebooks, a folder of such folders, a download of Canvas, Moodle
            or GitHub Classroom, a course of nbgrader, or a zip of one of these. Of several zips, each is a student's,
            unless all are called as ``CLASS_ZIP``: one alone may be called so by its student. A folder that holds only
            zips that are called so stands for these.
        ignore: A folder that is not searched: an earlier grading may be among the submissions.
        is_student: Whether a student is called so: whatever is in a folder or zip of this name is that student's.
        zone: The time zone of the course; None for that of this machine.

    Raises:
        ValueError: A path does not exist, or holds nothing at all.
    """
    found: list[Submission] = []
    zips = [path for path in paths if path.suffix.lower() == ".zip"]
    are_of_students = len(zips) > 1 and not all(CLASS_ZIP.fullmatch(path.stem) for path in zips)
    for path in [one for given in paths for one in zips_of_classes(given, is_student) or [given]]:
        if not path.exists():
            raise ValueError(f"there is no file or folder {printable(str(path))}")
        name = path.resolve().name
        if path.is_dir():
            of_nbgrader = (path / NBGRADER_FOLDER).is_dir()
            folder = path / NBGRADER_FOLDER if of_nbgrader else path
            files = files_below(folder, ignore, of_nbgrader=of_nbgrader, zone=zone)
            if is_student(name):
                own = (replace(file, parts=(name, *file.parts)) for file in files)
                here = _of_one(_read_all(own, name), name, is_student)
            else:
                repositories = [entry.name for entry in folder.iterdir() if (entry / ".git").exists()]
                here = _without_prefix(_read_all(files, name), name, repositories)
        elif path.suffix.lower() == ".zip" and (is_student(path.stem) or are_of_students):
            files = files_in_zip(path, (path.stem,), time_of(path))
            here = _of_one(_read_all(files, path.stem), path.stem, is_student)
        elif path.suffix.lower() == ".zip":
            here = _without_prefix(_read_all(files_in_zip(path, zone=zone), path.stem), path.stem, [])
        else:
            here = [
                _read_submission(
                    one_file(path, (path.name,), time_of(path)), path.resolve().parent.name, ReadingBudget()
                )
            ]
        if not here or (path.is_dir() and all(one.problem == NO_NOTEBOOK_IN_FOLDER for one in here)):
            raise ValueError(f"no notebook lies in {printable(str(path))}")
        found += here
    once = {(os.path.abspath(submission.path), submission.problem): submission for submission in found}
    return _told_apart(list(once.values()))


def _of_one(submissions: Sequence[Submission], student: str, is_student: Callable[[str], bool]) -> Sequence[Submission]:
    """Return what is one student's; where the names of several are in it, only a problem."""
    parts = {part for one in submissions for part in one.path.parts[-2:]}
    others = {part for part in parts if part != student and is_student(part)}
    is_class = len(others) > 1 or names_several(one.path for one in submissions)
    return _a_class(submissions[0]) if is_class else submissions


def _a_class(first: Submission) -> list[Submission]:
    return [replace(first, path=folder_of_downloads(first.path), lesson="", problem=SEVERAL_STUDENTS)]


def _read_all(files: Iterable[SubmittedFile], parent: str) -> list[Submission]:
    """Read the notebooks of each student, but not more than ``MAX_NOTEBOOKS``, and note what else there is.

    Args:
        files: What was handed in.
        parent: The name of the folder or zip that it is in.
    """
    notebooks: dict[str, list[Submission]] = defaultdict(list)
    others: dict[str, list[Submission]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    loose: list[tuple[str, Submission]] = []
    budgets: dict[str, ReadingBudget] = defaultdict(ReadingBudget)
    for file in files:
        raw_name = _raw_name(_student_of(file, parent))
        if file.is_notebook and len(notebooks[raw_name]) >= MAX_NOTEBOOKS:
            left_out[raw_name] += 1
            continue
        submission = _read_submission(file, parent, budgets[raw_name])
        if file.is_notebook and submission.problem not in (NOTHING_TO_GRADE, NO_NOTEBOOK_IN_FOLDER):
            notebooks[raw_name].append(submission)
        elif len(file.parts) == 1 and not submission.lms_id:
            loose.append((raw_name, submission))
        else:
            others[raw_name].append(submission)
    for raw_name, submission in loose:  # in the folder of the one student whose it is, or of a class
        if not notebooks.get(parent) and submission.problem != NOTHING_TO_GRADE:
            others[raw_name].append(submission)
        elif notebooks.get(parent) and submission.problem != NO_NOTEBOOK_IN_FOLDER:
            others[parent].append(submission)
    students = dict.fromkeys([*notebooks, *others])
    return [one for raw in students for one in _of_student(notebooks[raw], others[raw], left_out[raw])]


def _of_student(notebooks: Sequence[Submission], others: Sequence[Submission], n_left_out: int) -> Iterator[Submission]:
    """Yield a student's notebooks, the first with what lies beside; or, if there are none, what there is instead."""
    strange = [one for one in others if one.problem != NOTHING_TO_GRADE]
    own = [*notebooks, *others]
    if names_several(one.path for one in own) and not any(one.lms_id for one in own):
        yield from _a_class(own[0])
        return
    if notebooks:
        yield replace(notebooks[0], beside=_listed(strange))
        yield from notebooks[1:]
    elif strange:
        more = f" So it is with {len(strange) - 1} more." if len(strange) > 1 else ""
        yield replace(strange[0], problem=strange[0].problem + more)
    elif others:
        yield replace(others[0], path=others[0].path.parent, problem=NO_NOTEBOOK_IN_FOLDER)
    if n_left_out:
        n = len(notebooks) + n_left_out
        many = f"{n} notebooks are in this folder: only the first {len(notebooks)} were looked at."
        yield replace(notebooks[0], path=notebooks[0].path.parent, lesson="", cells=[], problem=many)


def _listed(others: Sequence[Submission]) -> str:
    """Return the names of a few files in words; empty if there are none."""
    names = [one.file for one in others[:MAX_LISTED]]
    more = [f"{len(others) - MAX_LISTED} more"] if len(others) > MAX_LISTED else []
    return f"Handed in besides, and no notebook: {join_words([*names, *more])}." if names else ""


def _without_prefix(submissions: Sequence[Submission], folder: str, repositories: Sequence[str]) -> list[Submission]:
    """Take the users' names from the names of GitHub Classroom's repositories."""
    prefix = classroom_prefix(folder, [one.raw_name for one in submissions], repositories)
    if not prefix:
        return list(submissions)
    names = [one.raw_name.removeprefix(prefix) for one in submissions]
    return [replace(one, student=clean_name(name), raw_name=name) for one, name in zip(submissions, names, strict=True)]


def _told_apart(submissions: Sequence[Submission]) -> list[Submission]:
    """Number the students whose names look alike, and say so: "Zoë" has two encodings, "bob " ends in a space."""
    displayed: dict[str, str] = {}
    remarks: dict[str, str] = {}
    for submission in submissions:
        if submission.raw_name in displayed:
            continue
        alike = [name for name in displayed.values() if _without_number(name) == submission.student.casefold()]
        number = f" ({submission.lms_id or len(alike) + 1})" if alike else ""
        displayed[submission.raw_name] = f"{submission.student}{number}"
        if alike:
            remark = f"This name differs from that of “{alike[0]}” only in case, in spaces or in how it is encoded."
            if submission.lms_id:
                remark = f"Another student is called “{alike[0]}”, too."
            remarks[submission.raw_name] = remark
    return [replace(one, student=displayed[one.raw_name], remark=remarks.get(one.raw_name, "")) for one in submissions]


def _without_number(name: str) -> str:
    return re.sub(r" \(\d+\)$", "", name).casefold()


def _student_of(file: SubmittedFile, parent: str) -> DownloadName:
    """Return whose a file is: that of the folder it is in, or of the part of the file's name before the lesson's.

    A file that is not named after a lesson is taken to be named after its student.
    """
    name = file.parts[0]
    if (known := read_download_name(name)) is not None:
        return known
    is_folder_or_zip = file.is_notebook and file.path.suffix.lower() != ".ipynb"
    if len(file.parts) > 1 or is_folder_or_zip:
        return DownloadName(name)
    lesson, stem = lesson_by_name(name), Path(name).stem
    before = stem.partition(lesson)[0].strip(" _-.") if lesson else stem
    return DownloadName(before or parent)


def _raw_name(whose: DownloadName) -> str:
    """Return what tells a student from all others of these files."""
    return f"{whose.student} {whose.lms_id}" if whose.lms_id else whose.student


def lesson_by_name(name: str) -> str:
    """Return the lesson that a file is named after, as in ``01_lookup (new edition).ipynb``, or an empty string."""
    return next((lesson for lesson in every_lesson() if lesson in name), "")


def lesson_by_cells(cells: Sequence[dict[str, str]]) -> str:
    """Return the lesson whose exercises most of the cells are of, or an empty string."""
    ids = {cell["id"].removeprefix("check-") for cell in cells}
    counts = {lesson: sum(e.name in ids for e in exercises_of(lesson)) for lesson in every_lesson()}
    best = max(counts, key=lambda lesson: counts[lesson])
    return best if counts[best] else ""


def _read_submission(file: SubmittedFile, parent: str, budget: ReadingBudget) -> Submission:
    whose, lesson = _student_of(file, parent), lesson_by_name(file.path.stem)
    submission = Submission(
        clean_name(whose.student),
        file.path,
        lesson,
        raw_name=_raw_name(whose),
        lms_id=whose.lms_id,
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
        cells, written = read_cells(content)
    except UnreadableFile as error:
        return replace(submission, problem=str(error))
    except Exception as error:  # whatever one student's file does, all others are read
        return replace(submission, problem=f"The file cannot be read ({type(error).__name__}).")
    lesson = lesson or lesson_by_cells(cells)
    if not lesson and any(name in file.path.stem for name in UNGRADED):
        return replace(submission, problem=NOTHING_TO_GRADE)
    if not lesson:
        return replace(submission, problem="This is no lesson of the course: neither its name nor its cells are.")
    digest = hashlib.sha256(json.dumps([cells, written] if written else cells).encode()).hexdigest()
    return replace(submission, lesson=lesson, cells=cells, digest=digest, written=written)


def read_cells(content: bytes) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Read the code cells of a notebook, each with its ``id``, which may be empty, and ``source``; and written answers.

    Raises:
        UnreadableFile: It is not a notebook, or holds too much.
    """
    try:
        notebook = json.loads(content)
    except Exception as error:  # not JSON, not text, nested too deep, too large for memory
        raise UnreadableFile("The file is damaged: it is no JSON, which every notebook is.") from error
    try:
        if type(version := notebook["nbformat"]) is int and version != 4:
            raise UnreadableFile(f"The notebook has the format {str(version)[:20]}; only 4 can be read.")
        if PRACTICE_KEY in notebook.get("metadata", {}):
            raise UnreadableFile(NOTHING_TO_GRADE)
        cells = [_cell(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        written = dict(filter(None, map(written_answer_of, notebook["cells"])))
    except UnreadableFile:
        raise
    except Exception as error:  # any JSON is possible
        raise UnreadableFile("The file is damaged: it is JSON, but no notebook.") from error
    if len(cells) > MAX_CELLS:
        raise UnreadableFile(f"The notebook has {len(cells)} cells of code; at most {MAX_CELLS} are read.")
    if sum(len(cell["source"]) for cell in cells) > MAX_CODE_LENGTH:
        raise UnreadableFile(f"The notebook holds more than {MAX_CODE_LENGTH >> 20} million characters of code.")
    if len(written) > MAX_WRITTEN_ANSWERS:
        raise UnreadableFile(
            f"The notebook has {len(written)} written answers; at most {MAX_WRITTEN_ANSWERS} are read."
        )
    return cells, written


def _cell(cell: dict[str, Any]) -> dict[str, str]:
    source, metadata = cell["source"], cell.get("metadata", {})
    text = source if isinstance(source, str) else "".join(source)
    name = cell.get("id") or metadata.get("id")  # Colab keeps ids in the metadata
    return {"id": printable(name[:MAX_ID_LENGTH]) if isinstance(name, str) else "", "source": encodable(text)}
