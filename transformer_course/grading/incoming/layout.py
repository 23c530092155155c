"""Find the student who submitted each file in a folder or zip, using the names of the files and folders.

Names inside a student's own folder, zip or repository are ignored, so students cannot submit for anyone else.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from transformer_course.checking.formatting import join_words
from transformer_course.grading.incoming.platform_names import (
    SUBMITTER_SEPARATOR,
    PersonHint,
    classroom_prefix,
    is_grouping,
    is_version,
    lesson_by_name,
    notebook_stem,
    person_in_file_name,
    read_platform_name,
)
from transformer_course.grading.incoming.printable_text import clean_name
from transformer_course.grading.incoming.submitted_file import SubmittedFile

NBGRADER_FOLDER = "submitted"
"""The folder in an nbgrader course that contains a folder for each student."""
NBGRADER_COURSE = {
    NBGRADER_FOLDER,
    "source",
    "release",
    "autograded",
    "feedback",
    "exchange",
    "solutions",
    "downloaded",
}
STUDENT = "STUDENT"
"""Placeholder for the student's name in a pattern."""
LIST_SUFFIXES = {".csv", ".yml", ".yaml", ".json", ".xml", ".log", ".md", ".xlsx", ".ods", ".tsv"}
LIST_STEMS = {"index", "grades", "readme", "submission_metadata", "manifest"}
"""Names, without extensions, of the tables and pages that platforms add to the submissions."""
SUBMITTERS_FILE = "submission_metadata.yml"
"""The file in which Gradescope lists the submitters of each submission."""
SUBMITTER = re.compile(r"""\s*-?\s*:?(?P<key>name|sid|email): *["']?(?P<value>[^"'\n]+)""")
MAX_LISTED = 3
MAX_CONTAINERS = 3
"""Maximum number of folder levels above the students' folders."""


@dataclass
class Folder:
    """A folder or zip, with its files and its subfolders (keyed by name). An empty folder has a placeholder file."""

    name: str
    folders: dict[str, "Folder"] = field(default_factory=dict)
    files: list[SubmittedFile] = field(default_factory=list)

    def all_files(self) -> Iterator[SubmittedFile]:
        """Yield the files in this folder and its subfolders."""
        yield from self.files
        for folder in self.folders.values():
            yield from folder.all_files()


@dataclass
class Layout:
    """The assignment of files to students.

    Args:
        owners: The student who submitted each file, keyed by path.
        ignored: Files that belong to no student.
        methods: The number of times each method was used to find a student. A key is a phrase such as "by the names of
            their folders".
    """

    owners: dict[Path, PersonHint] = field(default_factory=dict)
    ignored: list[SubmittedFile] = field(default_factory=list)
    methods: Counter[str] = field(default_factory=Counter)

    @property
    def people(self) -> list[PersonHint]:
        """All students, without duplicates."""
        return list(dict.fromkeys(self.owners.values()))

    def describe(self, name: str) -> str:
        """Return a sentence that describes the layout."""
        n = len(self.people)
        methods = f", identified {join_words(list(self.methods))}" if self.methods else ""
        text = f"{clean_name(name)}: {n} student{'' if n == 1 else 's'}{methods}"
        if self.ignored:
            names = [clean_name(file.path.name) for file in self.ignored]
            files = "file was" if len(names) == 1 else "files were"
            text += f"; {len(names)} other {files} ignored: {join_words(names, MAX_LISTED)}"
        return f"{text}."


def tree(name: str, files: Iterable[SubmittedFile]) -> Folder:
    """Return the files as a tree of folders."""
    root = Folder(name)
    for file in files:
        is_empty_folder = file.is_notebook and notebook_stem(file.parts[-1]) is None
        folder = root
        for part in file.parts if is_empty_folder else file.parts[:-1]:
            folder = folder.folders.setdefault(part, Folder(part))
        folder.files.append(file)
    return root


def recognize(root: Folder, is_student: Callable[[str], bool], path: Path | None = None, pattern: str = "") -> Layout:
    """Find the student who submitted each file.

    Args:
        root: The folder or zip.
        is_student: Function that returns whether a name could belong to a student in the class.
        path: The location of the folder, or None for a zip.
        pattern: The instructor's pattern for the students' names in paths; empty to detect the names automatically.
    """
    layout = Layout()
    if pattern:
        _sort_by_pattern(root, pattern, layout)
    else:
        _Sorter(is_student, layout).sort(root, path)
    return layout


def add_submitter_names(layout: Layout, read: Callable[[SubmittedFile], str]) -> None:
    """Add the submitters' names to Gradescope's submissions, because Gradescope's folder names contain only numbers.

    Args:
        layout: The layout, which is modified.
        read: Function that returns the text of a file.
    """
    lists = [file for file in layout.ignored if file.parts[-1] == SUBMITTERS_FILE]
    submitters: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file in lists:
        number = ""
        for line in read(file).splitlines():
            if header := re.match(r"[\"']?submission_(\d+)", line):
                number = header[1]
            elif found := SUBMITTER.match(line):
                submitters[number][found["key"]].append(found["value"].strip())
    if submitters:
        layout.ignored = [file for file in layout.ignored if file not in lists]
    for path, hint in layout.owners.items():
        if hint.platform == "Gradescope" and (own := submitters.get(hint.lms_id)):
            names, logins = own["name"] or own["email"], own["sid"] or own["email"]
            login = logins[0] if len(names) == len(logins) == 1 else ""
            layout.owners[path] = replace(hint, name=SUBMITTER_SEPARATOR.join(names) or hint.name, login=login)


def is_class(root: Folder, is_student: Callable[[str], bool]) -> bool:
    """Return whether a folder or zip contains several students' work or is a platform's download."""
    return _Sorter(is_student, Layout()).is_class(root)


def is_nbgrader_course(names: Iterable[str], is_student: Callable[[str], bool]) -> bool:
    """Return whether folders make up an nbgrader course, rather than students' folders with the same names."""
    names = set(names)
    others = {name for name in names - NBGRADER_COURSE if is_student(name)}
    return NBGRADER_FOLDER in names and not others and (len(names) == 1 or len(names & NBGRADER_COURSE) > 1)


class _Sorter:
    def __init__(self, is_student: Callable[[str], bool], layout: Layout) -> None:
        self._is_student, self._layout = is_student, layout

    def sort(self, folder: Folder, path: Path | None, depth: int = 0) -> None:
        """Assign each file in a folder to a student."""
        repositories = [name for name in folder.folders if path and (path / name / ".git").exists()]
        prefix = classroom_prefix(folder.name, list(folder.folders), repositories)
        hints = {name: self._of_folder(name, prefix) for name in folder.folders}
        containers = self._containers(folder, hints, depth)
        has_own = any(
            file.is_notebook and not self._person(_stem(file)) and not _has_person_name(file) for file in folder.files
        )
        for name, child in folder.folders.items():
            if has_own and not any(notebook_stem(file.parts[-1]) is not None for file in child.all_files()):
                continue  # an empty folder or a folder of pictures inside a student's folder
            if name in containers:
                self.sort(child, path and path / name, depth + 1)
            elif self._is_own_folder(folder, hints):
                self._assign(PersonHint(folder.name), child.all_files(), "by the name of the folder")
            else:
                self._assign(hints[name], child.all_files(), "by the names of their folders")
        self._sort_files(folder, has_students=bool(folder.folders.keys() - containers))

    def is_class(self, folder: Folder, depth: int = 0) -> bool:
        """Return whether a folder, or most of its subfolders, directly contains entries named after several people."""
        if classroom_prefix(folder.name, list(folder.folders), []):
            return True
        names = [*folder.folders, *map(_stem, folder.files)]
        hints = [hint for name in names if (hint := self._person(name)) is not None]
        people = {(hint.name.casefold(), hint.lms_id) for hint in hints}
        is_download = len(hints) == len(names) and all(hint.platform for hint in hints)
        if len(people) > 1 or (people and (is_download or is_grouping(folder.name))):
            return True
        named = [child for name, child in folder.folders.items() if not is_grouping(name) and not is_version(name)]
        lessons = Counter(lesson for child in named for lesson in _lessons(child))
        if max(lessons.values(), default=0) > 1:
            return True
        inner = (
            [child for child in folder.folders.values() if self.is_class(child, depth + 1)]
            if depth < MAX_CONTAINERS
            else []
        )
        return bool(inner) and 2 * len(inner) > len(folder.folders)

    def _person(self, name: str) -> PersonHint | None:
        """Return the person after whom a folder or a file (without its extension) is named, or None."""
        if hint := read_platform_name(name):
            return hint
        for candidate in dict.fromkeys(filter(None, (person_in_file_name(name), name))):
            if not is_grouping(candidate) and self._is_student(candidate):
                return PersonHint(candidate)
        return None

    def _of_folder(self, name: str, prefix: str) -> PersonHint:
        if hint := read_platform_name(name):
            return hint
        if prefix and name.startswith(prefix) and name != prefix:
            return PersonHint(name.removeprefix(prefix))
        return PersonHint(name)

    def _containers(self, folder: Folder, hints: dict[str, PersonHint], depth: int) -> set[str]:
        """Return the subfolders with several students each, or none if this folder directly contains named entries."""
        is_known = any(
            hint.platform or (self._is_student(hint.name) and not is_grouping(hint.name)) for hint in hints.values()
        )
        if depth >= MAX_CONTAINERS or is_known or any(map(self._person, map(_stem, folder.files))):
            return set()
        grouping = {name for name in folder.folders if is_grouping(name)}
        classes = {name for name, child in folder.folders.items() if self.is_class(child, depth + 1)}
        if classes:  # a folder next to a class folder may contain a single student who submitted late or again
            alone = {name for name, child in folder.folders.items() if self._contains_known_names(child)}
            if classes | alone | grouping == folder.folders.keys():
                return classes | alone | grouping
        if 2 * len(classes) > len(folder.folders):
            return classes | grouping
        named = {name for name in grouping if classes or _has_names(folder.folders[name])}
        return grouping if grouping == set(folder.folders) and 2 * len(named) > len(grouping) else set()

    def _contains_known_names(self, folder: Folder) -> bool:
        """Return whether a folder directly contains an entry named after a known person."""
        return any(map(self._person, [*folder.folders, *map(_stem, folder.files)]))

    def _is_own_folder(self, folder: Folder, hints: dict[str, PersonHint]) -> bool:
        """Return whether the subfolders are weeks or lessons of one student, not folders of several students."""
        return all(is_grouping(hint.name) and not hint.platform for hint in hints.values()) and not is_grouping(
            folder.name
        )

    def _sort_files(self, folder: Folder, *, has_students: bool) -> None:
        hints: dict[Path, PersonHint] = {}
        others = []
        for file in folder.files:
            stem = _stem(file)
            if hint := read_platform_name(file.parts[-1]):
                self._layout.methods[f"by their names in the {hint.platform} download"] += 1
                hints[file.path] = hint
            elif (hint := self._person(stem)) or (file.is_notebook and _has_person_name(file)):
                hints[file.path] = hint or PersonHint(person_in_file_name(stem))
                self._layout.methods["by the names of their files"] += 1
            elif file.is_notebook:
                hints[file.path] = PersonHint(folder.name)
            else:
                others.append(file)
        is_own = any(hint.name == folder.name for hint in [*hints.values(), *self._layout.owners.values()])
        is_known = has_students or any(hint.platform or self._is_student(hint.name) for hint in hints.values())
        for file in others:
            if is_own:
                hints[file.path] = PersonHint(folder.name)
            elif is_known or _is_list(file):
                self._layout.ignored.append(file)
            else:
                hints[file.path] = PersonHint(_stem(file))
        self._layout.owners |= hints

    def _assign(self, hint: PersonHint, files: Iterable[SubmittedFile], method: str) -> None:
        self._layout.methods[f"by their names in the {hint.platform} download" if hint.platform else method] += 1
        self._layout.owners |= dict.fromkeys((file.path for file in files), hint)


def _has_names(folder: Folder) -> bool:
    """Return whether a folder may directly contain entries named after people."""
    folders = [child for name, child in folder.folders.items() if not is_grouping(name) and not is_version(name)]
    inner = [child for name, child in folder.folders.items() if is_grouping(name)]
    return any(map(_has_person_name, folder.files)) or any(map(_lessons, folders)) or any(map(_has_names, inner))


def _lessons(folder: Folder) -> set[str]:
    """Return the lessons named in the file names of a folder's notebooks, ignoring subfolders."""
    return {lesson for file in folder.files if (lesson := lesson_by_name(file.parts[-1]))}


def _has_person_name(file: SubmittedFile) -> bool:
    return file.is_notebook and bool(person_in_file_name(_stem(file)))


def _stem(file: SubmittedFile) -> str:
    return notebook_stem(file.parts[-1]) or Path(file.parts[-1]).stem


def _is_list(file: SubmittedFile) -> bool:
    name = Path(file.parts[-1])
    return name.suffix.lower() in LIST_SUFFIXES or name.stem.lower() in LIST_STEMS


def _sort_by_pattern(root: Folder, pattern: str, layout: Layout) -> None:
    """Assign each file to the student whose name the pattern matches in the path, and ignore files without a match.

    Raises:
        ValueError: The pattern does not contain the placeholder exactly once.
    """
    if pattern.count(STUDENT) != 1:
        raise ValueError(f"--layout must contain the word {STUDENT} exactly once, as in '*/{STUDENT}'; got {pattern!r}")
    parts = re.split(rf"(\*|{STUDENT})", pattern.strip("/"))
    regex = "".join({"*": "[^/]*", STUDENT: "(?P<student>[^/]+?)"}.get(part, re.escape(part)) for part in parts)
    for file in root.all_files():
        path = "/".join(file.parts)
        found = re.match(rf"{regex}(?=/|\.ipynb|$)", path)
        if found:
            layout.owners[file.path] = PersonHint(found["student"])
        else:
            layout.ignored.append(file)
    layout.methods[f"by the layout {pattern}"] += len(layout.owners)
