"""Find the submissions in folders, zips and downloads from a platform."""

import hashlib
import os
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

from transformer_course.checking.formatting import join_words
from transformer_course.grading.incoming.layout import (
    NBGRADER_FOLDER,
    Layout,
    add_submitter_names,
    is_class,
    is_nbgrader_course,
    recognize,
    tree,
)
from transformer_course.grading.incoming.notebook_cells import NOTHING_TO_GRADE
from transformer_course.grading.incoming.platform_names import (
    PersonHint,
    is_grouping,
    notebook_stem,
    person_in_file_name,
    read_platform_name,
)
from transformer_course.grading.incoming.printable_text import clean_name, printable
from transformer_course.grading.incoming.reading_budget import ReadingBudget
from transformer_course.grading.incoming.submission import Submission, read_submission
from transformer_course.grading.incoming.submission_times import (
    modification_time,
)
from transformer_course.grading.incoming.submitted_file import (
    NO_NOTEBOOK_IN_FOLDER,
    SubmittedFile,
)
from transformer_course.grading.incoming.submitted_files import files_below, notebook_file
from transformer_course.grading.incoming.zip_files import files_in_zip

MAX_NOTEBOOKS = 50
"""Maximum number of notebooks per student, because more notebooks could delay all other students for hours."""
CLASS_ZIP = re.compile(r"(^|.*[-_ ])(submissions|submitted)([-_ (].*)?", re.IGNORECASE)
"""Names of zips that platforms create for a whole class."""
MAX_FOLDERS_ABOVE = 3
"""Maximum number of folder levels between the student's folder and a notebook."""
DIGEST_LENGTH = 16
MAX_LIST_BYTES = 1 << 20
MAX_LISTED = 3
"""Maximum number of other files to list."""
SEVERAL_STUDENTS = (
    "This contains several students' work but was submitted as one student's. Grade it separately under a name that "
    "is not in the roster."
)


def find_submissions(
    paths: Sequence[Path],
    ignore: Path | None = None,
    is_student: Callable[[str], bool] = lambda name: False,
    *,
    zone: ZoneInfo | None = None,
    may_be_student: Callable[[str], bool] | None = None,
    pattern: str = "",
    report: Callable[[str], None] = lambda line: None,
) -> list[Submission]:
    """Find all submissions without duplicates. A student without a notebook gets a submission with a problem.

    Args:
        paths: Notebooks, students' folders, folders of students' folders, downloads from a platform, nbgrader courses,
            or zips of these. If several zips are passed, each belongs to one student, unless most of them contain the
            work of several students. A folder that contains only class downloads is treated like the zips in it.
        ignore: A folder to skip, because the results folder may be among the submissions.
        is_student: Function that returns whether a name certainly belongs to a student. Everything in a folder or zip
            with such a name belongs to that student.
        zone: The time zone of the course. None means the local time zone.
        may_be_student: Function that returns whether a name may belong to a student. None means ``is_student``.
        pattern: The pattern for students' names, as in ``layout.recognize``.
        report: Function that is called with a sentence about the layout of each folder and zip.

    Raises:
        ValueError: A path does not exist or is empty.
    """
    may_be_student = may_be_student or is_student
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no file or folder {printable(str(path))}")
    given = [
        expanded
        for path in paths
        for expanded in ([path] if pattern else _class_zips(path, is_student, may_be_student))
    ]
    zips = [path for path in given if _is_zip(path)]
    classes = [path for path in zips if len(zips) == 1 or pattern or _is_class_zip(path, may_be_student)]
    if 2 * len(classes) <= len(zips):
        classes = []
    found, alone = [], []
    for path in given:
        if not path.is_dir() and not _is_zip(path):
            file = notebook_file(path, (path.name,), modification_time(path))
            alone.append(read_submission(file, _student_of_file(path, is_student), ReadingBudget()))
            continue
        source = _Source(path, ignore, path in classes, zone)
        here, layout = source.read(is_student, may_be_student, pattern)
        if not here or (path.is_dir() and all(submission.problem == NO_NOTEBOOK_IN_FOLDER for submission in here)):
            raise ValueError(f"there is no notebook in {printable(str(path))}")
        report(layout.describe(source.name))
        found += _with_unique_names(here)
    found += _with_unique_names(alone)
    return list({(os.path.abspath(submission.path), submission.problem): submission for submission in found}.values())


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and not path.is_dir()


def _is_class_zip(path: Path, may_be_student: Callable[[str], bool]) -> bool:
    root = tree(path.stem, files_in_zip(path))
    return is_class(root, may_be_student) or bool(root.folders and CLASS_ZIP.fullmatch(path.stem))


def _class_zips(path: Path, is_student: Callable[[str], bool], may_be_student: Callable[[str], bool]) -> Sequence[Path]:
    """Return a folder's zips if all its entries are class downloads, or else the path itself."""
    if not path.is_dir() or is_student(path.resolve().name):
        return [path]
    entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    are_classes = all(
        _is_zip(entry)
        and not entry.is_symlink()
        and not is_student(entry.stem)
        and _is_class_zip(entry, may_be_student)
        for entry in entries
    )
    return entries if entries and are_classes else [path]


class _Source:
    """A folder or zip. The files are listed once to find their students, and then read.

    Args:
        path: The location of the folder or zip.
        ignore: A folder to skip.
        is_class: Whether a zip may be a class download instead of a student's zip.
        zone: The time zone of the course.
    """

    def __init__(self, path: Path, ignore: Path | None, is_class: bool, zone: ZoneInfo | None) -> None:
        self.name = path.resolve().name if path.is_dir() else path.stem
        self._path, self._ignore, self._is_class, self._zone = path, ignore, is_class, zone

    def read(
        self, is_student: Callable[[str], bool], may_be_student: Callable[[str], bool], pattern: str
    ) -> tuple[list[Submission], Layout]:
        """Return the submissions, and the layout of the folder or zip."""
        folder = None
        if self._path.is_dir():
            folders = [entry.name for entry in self._path.iterdir() if entry.is_dir()]
            of_nbgrader = not pattern and is_nbgrader_course(folders, may_be_student)
            folder = self._path / NBGRADER_FOLDER if of_nbgrader else self._path
            walk = partial(files_below, folder, self._ignore, of_nbgrader=of_nbgrader, zone=self._zone)
        else:
            walk = partial(files_in_zip, self._path, zone=self._zone)
        root = tree(self.name, walk())
        is_own = not pattern and (is_student(self.name) or not (self._path.is_dir() or self._is_class))
        layout = Layout() if is_own else recognize(root, may_be_student, folder, pattern)
        add_submitter_names(layout, self._text)
        owner = PersonHint(self.name)
        if not self._path.is_dir() and (is_own or layout.people == [owner]):
            # The times in a student's own zip cannot be trusted.
            walk = partial(files_in_zip, self._path, (self.name,), modification_time(self._path))
        if is_own:
            layout = Layout({file.path: owner for file in walk()}, methods=Counter({"by its name": 1}))
        submissions = _read_all(walk(), layout, self.name)
        return (_only_one_student(submissions, self.name, is_student) if is_own else submissions), layout

    def _text(self, file: SubmittedFile) -> str:
        """Return the text of a small file, or an empty string if it cannot be read."""
        try:
            if self._path.is_dir():
                return "" if file.path.is_symlink() else file.path.read_bytes()[:MAX_LIST_BYTES].decode()
            with zipfile.ZipFile(self._path) as archive:
                inner = file.path.relative_to(self._path).as_posix()
                name = next(name for name in archive.namelist() if f"/{name}".endswith(f"/{inner}"))
                with archive.open(name) as member:
                    return member.read(MAX_LIST_BYTES).decode()
        except (OSError, ValueError, StopIteration, zipfile.BadZipFile):
            return ""


def _student_of_file(path: Path, is_student: Callable[[str], bool]) -> PersonHint:
    """Return the student who submitted a single notebook, based on its name or on the folders that contain it."""
    folders = path.resolve().parent
    if hint := read_platform_name(path.name):
        return hint
    if name := person_in_file_name(notebook_stem(path.name) or path.stem):
        return PersonHint(name)
    above = [folders.name, *(folder.name for folder in folders.parents)][:MAX_FOLDERS_ABOVE]
    known = [name for name in above if read_platform_name(name) or is_student(name)]
    own = [name for name in above if name and not is_grouping(name)]
    name = next(iter([*known, *own]), folders.name)
    return read_platform_name(name) or PersonHint(name)


def _only_one_student(
    submissions: Sequence[Submission], student: str, is_student: Callable[[str], bool]
) -> list[Submission]:
    """Return one student's submissions, or a single problem if the submissions name several students."""
    parts = {part for submission in submissions for part in submission.path.parts[-2:]}
    others = {part for part in parts if part != student and is_student(part)}
    is_several = len(others) > 1 or has_several_students(submission.path for submission in submissions)
    return _several_students_problem(submissions[0]) if is_several else list(submissions)


def _several_students_problem(first: Submission) -> list[Submission]:
    folder = Path(*takewhile(lambda part: read_platform_name(part) is None, first.path.parts))
    return [replace(first, path=folder, lesson="", problem=SEVERAL_STUDENTS)]


def has_several_students(paths: Iterable[Path]) -> bool:
    """Return whether the names that a platform gave to the files or their folders refer to several students."""
    parts = {part for path in paths for part in path.parts[-2:]}
    return len({hint.lms_id or hint.login for hint in map(read_platform_name, parts) if hint}) > 1


def _read_all(files: Iterable[SubmittedFile], layout: Layout, root: str) -> list[Submission]:
    """Read up to ``MAX_NOTEBOOKS`` of each student's notebooks, and list the other files.

    Args:
        files: The submitted files.
        layout: The student who submitted each file.
        root: The name of the folder or zip that contains them.
    """
    notebooks: dict[PersonHint, list[Submission]] = defaultdict(list)
    others: dict[PersonHint, list[Submission]] = defaultdict(list)
    left_out: Counter[PersonHint] = Counter()
    budgets: dict[PersonHint, ReadingBudget] = defaultdict(ReadingBudget)
    for file in files:
        owner = layout.owners.get(file.path)
        if owner is None:
            continue
        if file.is_notebook and len(notebooks[owner]) >= MAX_NOTEBOOKS:
            left_out[owner] += 1
            continue
        submission = read_submission(file, owner, budgets[owner])
        if file.is_notebook and submission.problem not in (NOTHING_TO_GRADE, NO_NOTEBOOK_IN_FOLDER):
            notebooks[owner].append(submission)
        elif submission.problem != NOTHING_TO_GRADE or owner.name != root or len(layout.people) == 1:
            others[owner].append(submission)
    students = dict.fromkeys([*notebooks, *others])
    return [
        submission for owner in students for submission in _of_student(notebooks[owner], others[owner], left_out[owner])
    ]


def _of_student(notebooks: Sequence[Submission], others: Sequence[Submission], n_left_out: int) -> Iterator[Submission]:
    """Yield a student's notebooks, the first of which lists the other files. Without notebooks, yield the files."""
    ungradable = [submission for submission in others if submission.problem != NOTHING_TO_GRADE]
    own = [*notebooks, *others]
    if has_several_students(submission.path for submission in own) and not any(submission.lms_id for submission in own):
        yield from _several_students_problem(own[0])
        return
    if notebooks:
        yield replace(notebooks[0], beside=_listed(ungradable))
        yield from notebooks[1:]
    elif ungradable:
        n = len(ungradable) - 1
        more = f" {n} other file{' cannot' if n == 1 else 's cannot'} be graded either." if n else ""
        yield replace(ungradable[0], problem=ungradable[0].problem + more)
    elif others:
        yield replace(others[0], path=others[0].path.parent, problem=NO_NOTEBOOK_IN_FOLDER)
    if n_left_out:
        n = len(notebooks) + n_left_out
        problem = f"This folder has {n} notebooks; only the first {len(notebooks)} were read."
        yield replace(notebooks[0], path=notebooks[0].path.parent, lesson="", cells=[], problem=problem)


def _listed(others: Sequence[Submission]) -> str:
    """Return a sentence with the names of a few other files, or an empty string."""
    names = join_words([submission.file for submission in others], MAX_LISTED)
    return f"Other files that cannot be graded: {names}." if names else ""


def _with_unique_names(submissions: Sequence[Submission]) -> list[Submission]:
    """Number students in a batch whose names look alike, such as "bob" and "bob ", or "Zoë" in two encodings."""
    people = list(dict.fromkeys(submission.hint for submission in submissions))
    batch = hashlib.sha256(
        "\0".join(sorted(f"{hint.name} {hint.lms_id}" for hint in people)).encode("utf-8", "replace")
    )
    alike: dict[str, list[PersonHint]] = defaultdict(list)
    for hint in people:
        alike[clean_name(hint.name).casefold()].append(hint)
    displayed, remarks = dict[PersonHint, str](), dict[PersonHint, str]()
    for hints in alike.values():
        first = clean_name(hints[0].name)
        for n, hint in enumerate(hints, 1):
            number = hint.lms_id or ("" if n == 1 else str(n))
            displayed[hint] = (
                f"{clean_name(hint.name)} ({number})" if number and len(hints) > 1 else clean_name(hint.name)
            )
            if len(hints) > 1 and hint.lms_id:
                remarks[hint] = f"{len(hints)} students are called “{first}”."
            elif n > 1:
                remarks[hint] = f"This name differs from “{first}” only in case, spaces or encoding."
    return [
        replace(
            submission,
            student=displayed[submission.hint],
            remark=remarks.get(submission.hint, ""),
            batch=batch.hexdigest()[:DIGEST_LENGTH],
        )
        for submission in submissions
    ]
