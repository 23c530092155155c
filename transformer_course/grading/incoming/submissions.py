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
    is_class,
    is_nbgrader_course,
    name_submitters,
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
    time_of,
)
from transformer_course.grading.incoming.submitted_file import (
    NO_NOTEBOOK_IN_FOLDER,
    SubmittedFile,
)
from transformer_course.grading.incoming.submitted_files import files_below, one_file
from transformer_course.grading.incoming.zip_files import files_in_zip

MAX_NOTEBOOKS = 50
"""Maximum number of notebooks of a student; more could delay all other students for hours."""
CLASS_ZIP = re.compile(r"(^|.*[-_ ])(submissions|submitted)([-_ (].*)?", re.IGNORECASE)
"""Names that platforms give to the zip of a class."""
MAX_FOLDERS_ABOVE = 3
"""Maximum number of folder levels between the student's folder and a notebook."""
DIGEST_LETTERS = 16
MAX_LIST_BYTES = 1 << 20
MAX_LISTED = 3
"""Maximum number of other files to list."""
SEVERAL_STUDENTS = (
    "This contains several students' work but was submitted as one student's. Grade it separately, under a name that "
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
    """Find all submissions, each once, and add one with a problem for each student without a notebook.

    Args:
        paths: Notebooks, students' folders, folders of students' folders, downloads from a platform, nbgrader courses,
            or zips of these. Each of several zips is a student's, unless most of them contain the work of several
            students. A folder that contains only such zips is treated like these zips.
        ignore: A folder to skip, because the results folder may be among the submissions.
        is_student: Whether a name is a student's, so that everything in a folder or zip of this name is theirs.
        zone: The time zone of the course. None means the local time zone.
        may_be_student: Whether a name may be that of a student in the class; by default ``is_student``.
        pattern: The pattern for students' names, as in ``layout.recognize``.
        report: Called with a sentence about the layout of each folder and zip.

    Raises:
        ValueError: A path does not exist or is empty.
    """
    may_be_student = may_be_student or is_student
    for path in paths:
        if not path.exists():
            raise ValueError(f"there is no file or folder {printable(str(path))}")
    given = [one for path in paths for one in ([path] if pattern else _class_zips(path, is_student, may_be_student))]
    zips = [path for path in given if _is_zip(path)]
    classes = [path for path in zips if len(zips) == 1 or pattern or _is_class_zip(path, may_be_student)]
    if 2 * len(classes) <= len(zips):
        classes = []
    found, alone = [], []
    for path in given:
        if not path.is_dir() and not _is_zip(path):
            file = one_file(path, (path.name,), time_of(path))
            alone.append(read_submission(file, _of_one_file(path, is_student), ReadingBudget()))
            continue
        source = _Source(path, ignore, path in classes, zone)
        here, layout = source.read(is_student, may_be_student, pattern)
        if not here or (path.is_dir() and all(one.problem == NO_NOTEBOOK_IN_FOLDER for one in here)):
            raise ValueError(f"there is no notebook in {printable(str(path))}")
        report(layout.describe(source.name))
        found += _told_apart(here)
    found += _told_apart(alone)
    return list({(os.path.abspath(submission.path), submission.problem): submission for submission in found}.values())


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and not path.is_dir()


def _is_class_zip(path: Path, may_be_student: Callable[[str], bool]) -> bool:
    root = tree(path.stem, files_in_zip(path))
    return is_class(root, may_be_student) or bool(root.folders and CLASS_ZIP.fullmatch(path.stem))


def _class_zips(path: Path, is_student: Callable[[str], bool], may_be_student: Callable[[str], bool]) -> Sequence[Path]:
    """Return the zips in a folder that contains only class downloads, or else the path itself."""
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
    """A folder or zip, whose files are first listed to find their students, and then read.

    Args:
        path: Its location.
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
        """Return the submissions and their layout."""
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
        name_submitters(layout, self._text)
        whose = PersonHint(self.name)
        if not self._path.is_dir() and (is_own or layout.people == [whose]):
            # The times in a student's own zip cannot be trusted.
            walk = partial(files_in_zip, self._path, (self.name,), time_of(self._path))
        if is_own:
            layout = Layout({file.path: whose for file in walk()}, ways=Counter({"by its name": 1}))
        submissions = _read_all(walk(), layout, self.name)
        return (_of_one(submissions, self.name, is_student) if is_own else submissions), layout

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


def _of_one_file(path: Path, is_student: Callable[[str], bool]) -> PersonHint:
    """Return the student of a single notebook, from its name or the folders above it."""
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


def _of_one(submissions: Sequence[Submission], student: str, is_student: Callable[[str], bool]) -> list[Submission]:
    """Return one student's submissions, or only a problem if they contain several students' names."""
    parts = {part for one in submissions for part in one.path.parts[-2:]}
    others = {part for part in parts if part != student and is_student(part)}
    is_several = len(others) > 1 or names_several(one.path for one in submissions)
    return _a_class(submissions[0]) if is_several else list(submissions)


def _a_class(first: Submission) -> list[Submission]:
    folder = Path(*takewhile(lambda part: read_platform_name(part) is None, first.path.parts))
    return [replace(first, path=folder, lesson="", problem=SEVERAL_STUDENTS)]


def names_several(paths: Iterable[Path]) -> bool:
    """Return whether the names of files or their folders have a platform's format for several students."""
    parts = {part for path in paths for part in path.parts[-2:]}
    return len({hint.lms_id or hint.login for hint in map(read_platform_name, parts) if hint}) > 1


def _read_all(files: Iterable[SubmittedFile], layout: Layout, root: str) -> list[Submission]:
    """Read up to ``MAX_NOTEBOOKS`` notebooks of each student, and list the other files.

    Args:
        files: The submitted files.
        layout: The student of each file.
        root: The name of the folder or zip that contains them.
    """
    notebooks: dict[PersonHint, list[Submission]] = defaultdict(list)
    others: dict[PersonHint, list[Submission]] = defaultdict(list)
    left_out: Counter[PersonHint] = Counter()
    budgets: dict[PersonHint, ReadingBudget] = defaultdict(ReadingBudget)
    for file in files:
        whose = layout.owners.get(file.path)
        if whose is None:
            continue
        if file.is_notebook and len(notebooks[whose]) >= MAX_NOTEBOOKS:
            left_out[whose] += 1
            continue
        submission = read_submission(file, whose, budgets[whose])
        if file.is_notebook and submission.problem not in (NOTHING_TO_GRADE, NO_NOTEBOOK_IN_FOLDER):
            notebooks[whose].append(submission)
        elif submission.problem != NOTHING_TO_GRADE or whose.name != root or len(layout.people) == 1:
            others[whose].append(submission)
    students = dict.fromkeys([*notebooks, *others])
    return [one for whose in students for one in _of_student(notebooks[whose], others[whose], left_out[whose])]


def _of_student(notebooks: Sequence[Submission], others: Sequence[Submission], n_left_out: int) -> Iterator[Submission]:
    """Yield a student's notebooks, the first with a list of the other files, or the other files if there are none."""
    strange = [one for one in others if one.problem != NOTHING_TO_GRADE]
    own = [*notebooks, *others]
    if names_several(one.path for one in own) and not any(one.lms_id for one in own):
        yield from _a_class(own[0])
        return
    if notebooks:
        yield replace(notebooks[0], beside=_listed(strange))
        yield from notebooks[1:]
    elif strange:
        n = len(strange) - 1
        more = f" {n} other file{' cannot' if n == 1 else 's cannot'} be graded either." if n else ""
        yield replace(strange[0], problem=strange[0].problem + more)
    elif others:
        yield replace(others[0], path=others[0].path.parent, problem=NO_NOTEBOOK_IN_FOLDER)
    if n_left_out:
        n = len(notebooks) + n_left_out
        many = f"This folder has {n} notebooks; only the first {len(notebooks)} were read."
        yield replace(notebooks[0], path=notebooks[0].path.parent, lesson="", cells=[], problem=many)


def _listed(others: Sequence[Submission]) -> str:
    """Return a phrase with the names of a few files, or an empty string."""
    names = join_words([one.file for one in others], MAX_LISTED)
    return f"Also submitted, but not a notebook: {names}." if names else ""


def _told_apart(submissions: Sequence[Submission]) -> list[Submission]:
    """Number students in a batch with similar-looking names: "Zoë" has two encodings, "bob " ends in a space."""
    people = list(dict.fromkeys(one.hint for one in submissions))
    batch = hashlib.sha256("\0".join(sorted(f"{one.name} {one.lms_id}" for one in people)).encode("utf-8", "replace"))
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
            one, student=displayed[one.hint], remark=remarks.get(one.hint, ""), batch=batch.hexdigest()[:DIGEST_LETTERS]
        )
        for one in submissions
    ]
