"""Identify the student who submitted a file by the name that a learning platform gave the exported file.

To support another platform, add a row to ``PLATFORMS``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from transformer_course.exercises import UNGRADED, every_lesson

NOTEBOOK_NAME = re.compile(r"(?P<stem>.*)\.ipynb(\.(json|txt|download))?", re.IGNORECASE | re.DOTALL)
"""Matches the name of a notebook. Some browsers and mail programs append a second extension."""
CANVAS_NAME = re.compile(
    r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<lms_id>\d{3,})_\d{3,}_(?P<file>.+)", re.IGNORECASE | re.DOTALL
)
"""Matches ``lovelaceada_LATE_12345_67890_01_lookup-1.ipynb``: student, student number, file number and file name."""
MOODLE_NAME = re.compile(r"(?P<name>.+?)_(?P<lms_id>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)", re.DOTALL)
"""Matches ``Ada Lovelace_98765_assignsubmission_file_``, the name of a folder, perhaps with a file's name appended."""
PLATFORMS = (
    # Canvas comes first, because its names end with the student's own file name, which may look like a name from
    # another platform.
    ("Canvas", CANVAS_NAME),
    ("Canvas", re.compile(r"(?P<name>anon\w*?)_(?P<late>LATE_)?(?P<lms_id>[A-Za-z0-9]{5})_\d{3,}_.+", re.DOTALL)),
    ("Moodle", MOODLE_NAME),
    # HW 1_al815_attempt_2026-10-12-17-58-23_01_lookup.ipynb
    ("Blackboard", re.compile(r"(?P<name>.+?_(?P<login>[^_]+))_attempt_\d{4}(-\d\d){5}([._].*)?", re.DOTALL)),
    # 12345-67890 - Ada Lovelace - Oct 12, 2026 558 PM - 01_lookup.ipynb
    ("Brightspace", re.compile(r"(?P<lms_id>\d+-\d+) ?- ?(?P<name>.+?) ?- ?[^-]*\d{4}[^-]*( ?- ?.+)?", re.DOTALL)),
    # Lovelace, Ada(al815)
    ("Sakai", re.compile(r"(?P<name>[^()]+,[^()]*)\((?P<login>[^()]+)\)")),
    # Lovelace_Ada_al815_12345
    ("ILIAS", re.compile(r"(?P<name>[^_]+_[^_]+)_(?P<login>[^_]*[^\W\d_][^_]*)_(?P<lms_id>\d{2,})")),
    ("Gradescope", re.compile(r"submission_(?P<lms_id>\d{5,})")),
)
"""The platforms and their patterns, which may contain the groups name, login, lms_id and late."""
LASTING_NUMBERS = ("Canvas", "ILIAS")
"""Platforms whose numbers identify a person in all assignments. Elsewhere, the numbers change with each assignment."""

SUBMITTER_SEPARATOR = "; "
"""Separates the names of people who submitted together."""
COPY_MARK = re.compile(
    r"""^\s*(copy|kopie|copie|copia|cópia)\s+(of|von|de|di)\s+   # Copy of ada
    |[\s_-]*\b(copy|kopie|copie|copia|cópia)\s+(of|von|de|di)\s*$  # Ada Lovelace - Copy of
    |\s*\(\d{1,2}\)(?=\s*$)                                       # ada (1)
    |[\s_-]*\(?(copy|kopie|copie|copia|cópia)\s*\d*\)?\s*$        # ada - Copy, ada-Copy1, ada (copy)
    |(?<=\w)\s\d{1,2}\s*$                                         # ada 2
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Marks that browsers, file managers and JupyterLab add to the name of a copy."""
NOT_A_NAME = re.compile(
    r"v\d+|r?e?v(ision)?\d*|final\w*|new|old|edition|backup|draft|solutions?|solved|answers?|done|completed?|finished"
    r"|submissions?|submitted|submit|edited|fixed|updated?|version|attempt|homework|hw|my|the|of|notebook|lesson|week"
    r"|exercises?|assignment|lab|part|abgabe|lösung|\d+"
)
"""Words that may appear next to a lesson's name and are not part of a student's name."""
GROUPING = re.compile(
    r"(the )?((section|group|gruppe|class|kurs|course|week|woche|lab|assignment|homework|hw|exercise|übung|lesson|part"
    r"|tutorial|lecture|unit|module|submissions?|submitted|submit|download(s|ed)?|hand(ed)? ?ins?|abgaben?|students?"
    r"|term|semester|batch|round|spring|fall|autumn|winter|summer|day|due|tut|all)( [a-z]| ?\d{1,4}[a-z]?)?( |$))+",
    re.IGNORECASE,
)
"""Names of folders for lessons, weeks or groups, which do not belong to a single student."""


@dataclass(frozen=True)
class PersonHint:
    """Information about a file's owner, from the name of the file.

    Args:
        name: The person's name, as written by the platform or by the person.
        lms_id: The person's number on the platform, or empty.
        login: The person's user name, or empty.
        platform: The platform that generated the name, or empty.
        is_marked_late: Whether the platform has marked the submission as late.
        batch: The id of the download. Different names in the same download refer to different people.
    """

    name: str
    lms_id: str = ""
    login: str = ""
    platform: str = ""
    is_marked_late: bool = field(default=False, compare=False)  # may differ between files of the same person
    batch: str = ""

    @property
    def is_anonymous(self) -> bool:
        """Whether the platform hides the person's name."""
        return self.name.casefold().startswith(("anon", "participant", "submission ", "teilnehmer", "participante"))


def read_platform_name(name: str) -> PersonHint | None:
    """Return the information in the name of a file or folder, or None if no platform generated it.

    >>> read_platform_name("lovelaceada_LATE_12345_67890_01_lookup-1.ipynb").lms_id
    '12345'
    >>> read_platform_name("Ada Lovelace_98765_assignsubmission_file_").name
    'Ada Lovelace'
    >>> read_platform_name("ada_01_lookup.ipynb")
    """
    for platform, pattern in PLATFORMS:
        if found := pattern.fullmatch(name):
            groups = found.groupdict()
            lms_id, login = groups.get("lms_id") or "", groups.get("login") or ""
            displayed = groups.get("name") or f"submission {lms_id}"
            if platform == "ILIAS":
                displayed = displayed.replace("_", ", ")
            return PersonHint(displayed, lms_id, login, platform, bool(groups.get("late")))
    return None


def notebook_stem(name: str) -> str | None:
    """Return the name of a notebook without its extension, or None if it is not a notebook."""
    found = NOTEBOOK_NAME.fullmatch(name)
    return found["stem"] if found else None


def lesson_by_name(name: str) -> str:
    """Return the lesson that a file is named after, as in ``01_lookup (new edition).ipynb``, or an empty string."""
    return next((lesson for lesson in every_lesson() if lesson in name), "")


def without_copy_marks(name: str) -> str:
    """Return a name without the marks of a copy.

    >>> [without_copy_marks(name) for name in ("Copy of ada", "ada (1)", "ada - Copy (2)", "ada-Copy1", "ada 2")]
    ['ada', 'ada', 'ada', 'ada', 'ada']
    """
    before = ""
    while name != before:
        before, name = name, COPY_MARK.sub("", name)
    return name.strip()


def person_in_file_name(stem: str) -> str:
    """Return the part of a file's name that may be a person's name, without the lesson and copy marks, or "".

    >>> [person_in_file_name(stem) for stem in ("01_lookup_ada", "Copy of 01_lookup_ada", "Ada L - Copy of 01_lookup")]
    ['ada', 'ada', 'Ada L']
    >>> [person_in_file_name(stem) for stem in ("01_lookup (new edition)", "01_lookup-Copy1", "01_lookup_FINAL_v2")]
    ['', '', '']
    """
    lesson = lesson_by_name(stem) or next((name for name in UNGRADED if name in stem), "")
    if not lesson:
        return without_copy_marks(stem) or stem
    before, _, after = stem.partition(lesson)
    for part in (before, re.sub(r"\([^)]*\)", "", after)):
        named = without_copy_marks(part.strip(" _-.")).strip(" _-.")
        if named and not is_version(named):
            return named
    return ""


def is_version(name: str) -> bool:
    """Return whether a name consists only of words such as *old*, *final* or *v2*, which are not a person's name."""
    return all(NOT_A_NAME.fullmatch(word) for word in re.split(r"[\W_]+", name.casefold()) if word)


def is_grouping(name: str) -> bool:
    """Return whether a folder's name refers to several students or to a lesson, as ``week 1`` does."""
    if lesson_by_name(name):
        return not person_in_file_name(name)
    return GROUPING.fullmatch(re.sub(r"[\W_]+", " ", name).strip()) is not None


def classroom_prefix(folder: str, students: Sequence[str], repositories: Sequence[str]) -> str:
    """Return the prefix before the user names of GitHub Classroom repositories, or "" if these are other folders.

    GitHub Classroom creates a folder ``ASSIGNMENT-submissions`` with a repository ``ASSIGNMENT-USER`` for each student.

    Args:
        folder: The name of the folder.
        students: The names of the folders in it.
        repositories: The folders that are repositories.

    >>> classroom_prefix("week-1-submissions", ["week-1-ada", "week-1-ben-2", "eve"], [])
    'week-1-'
    >>> classroom_prefix("class", ["week-1-ada", "week-1-ben"], ["week-1-ada", "week-1-ben"])
    'week-1-'
    >>> classroom_prefix("class", ["ann-lee", "ann-smith"], [])
    ''
    """
    assignment = folder.removesuffix("-submissions")
    if assignment != folder and any(name.startswith(f"{assignment}-") for name in students):
        return f"{assignment}-"
    if len(repositories) < 2 or 2 * len(repositories) <= len(students):
        return ""
    ends = {name[: i + 1] for name in repositories for i, letter in enumerate(name) if letter == "-"}
    counts = {end: sum(name.startswith(end) for name in repositories) for end in ends}
    shared = [end for end, n in counts.items() if n > 1 and 2 * n > len(repositories)]
    return max(shared, key=lambda end: (counts[end], len(end)), default="")
