"""Tests for finding the student who submitted each file in a folder or zip."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.transformer_course.grading.incoming.test_submitted_files import NOTEBOOK, write_files, zipped
from transformer_course.grading.incoming import submissions
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.submissions import find_submissions

PEOPLE = [
    Person("00123", "Ada Lovelace", "ada.l@uni.edu", "al815"),
    Person("00124", "Ben Shaw", "ben@uni.edu", "bs99"),
    Person("00125", "Jörg Müller", "jm@uni.edu", "jm77"),
]
ADA_AND_BEN = {"Ada Lovelace", "Ben Shaw"}


def find_in_class(paths: list[Path], people: list[Person], reports: list[str] | None = None) -> list[Submission]:
    """Return the submissions that are found when this roster is used."""
    roster = Roster(people)
    report = [].append if reports is None else reports.append
    return find_submissions(
        paths,
        is_student=lambda name: roster.find_exactly(name) is not None,
        may_be_student=roster.has_match,
        report=report,
    )


def moodle(**numbers: int) -> bytes:
    """Return a zip with the layout of a Moodle download."""
    names = {"ada": "Ada Lovelace", "ben": "Ben Shaw"}
    return zipped({f"{names[k]}_{n}_assignsubmission_file_/01_lookup.ipynb": NOTEBOOK for k, n in numbers.items()})


@pytest.mark.parametrize(
    "files",
    [
        ["01_lookup_ada.ipynb", "Copy of 01_lookup_ben.ipynb", "01_lookup_cleo (1).ipynb"],
        ["ada_01_lookup.ipynb", "ben - 01_lookup - Copy.ipynb", "cleo.ipynb", "grades.csv", "index.html"],
        ["section A/ada/01_lookup.ipynb", "section A/ben/01_lookup.ipynb", "section B/cleo/01_lookup.ipynb"],
        ["red/ada/01_lookup.ipynb", "red/ben/01_lookup.ipynb", "red/cleo/01_lookup.ipynb"],
        ["week 1/ada_01_lookup.ipynb", "week 1/ben_01_lookup.ipynb", "week 2/cleo_02_scaling.ipynb"],
        ["01_lookup/ada.ipynb", "01_lookup/ben.ipynb", "02_scaling/cleo.ipynb"],
        ["hand-in/week 1/01_lookup-ada.ipynb", "hand-in/week 1/01_lookup-ben.ipynb", "hand-in/week 2/cleo.ipynb"],
        [
            "2026/term/section A/ada/x/01_lookup.ipynb",
            "2026/term/section A/ben/01_lookup.ipynb",
            "2026/term/section A/cleo/01_lookup.ipynb",
        ],
        ["r-1-submissions/r-1-ada/a.ipynb", "r-1-submissions/r-1-ben/a.ipynb", "r-1-submissions/cleo/a.ipynb"],
        [
            "r-1-ada/.git/HEAD",
            "r-1-ben/.git/HEAD",
            "cleo/.git/HEAD",
            "r-1-ada/a.ipynb",
            "r-1-ben/a.ipynb",
            "cleo/a.ipynb",
        ],
        [
            "submitted/ada/01_lookup/01_lookup.ipynb",
            "submitted/ben/01_lookup/a.ipynb",
            "submitted/cleo/01_lookup/a.ipynb",
            "source/01_lookup/01_lookup.ipynb",
            "gradebook.db",
        ],
        ["ada/week 1/01_lookup.ipynb", "ada/old/01_lookup.ipynb", "ben/a.ipynb", "cleo/01_lookup.ipynb.json"],
    ],
)
@pytest.mark.parametrize("people", [[], [Person("ada"), Person("ben"), Person("cleo")]], ids=["no roster", "roster"])
def test_finds_same_students_in_every_layout(tmp_path: Path, files: list[str], people: list[Person]):
    folder = write_files(tmp_path / "given", dict.fromkeys(files, NOTEBOOK))
    found = find_in_class([folder], people)
    assert {submission.student for submission in found} == {"ada", "ben", "cleo"}
    assert not any(submission.problem for submission in found)


@pytest.mark.parametrize(
    "files",
    [
        ["week 1/ada/01_lookup.ipynb", "week 1/ben/01_lookup.ipynb", "week 1 again/cleo/01_lookup.ipynb"],
        ["week 1/ada/01_lookup.ipynb", "week 1/ben/01_lookup.ipynb", "late/cleo/01_lookup.ipynb"],
        [
            "week 1/ada/01_lookup.ipynb",
            "week 1/ben/01_lookup.ipynb",
            "week 1 again/cleo/01_lookup.ipynb",
            "week 2/02_scaling_ada.ipynb",
            "week 2/02_scaling_ben.ipynb",
        ],
        ["red/ada/a.ipynb", "red/ben/a.ipynb", "blue/cleo_01_lookup.ipynb", "week 3/ada/a.ipynb"],
    ],
)
def test_finds_single_student_next_to_class_folder(tmp_path: Path, files: list[str]):
    write_files(tmp_path / "handed-in", dict.fromkeys(files, NOTEBOOK))
    people = [Person("ada"), Person("ben"), Person("cleo")]
    assert {submission.student for submission in find_in_class([tmp_path / "handed-in"], people)} == {
        "ada",
        "ben",
        "cleo",
    }


def test_inner_folder_names_do_not_change_the_student(tmp_path: Path):
    files = ["eve/ada/01_lookup.ipynb", "eve/ben/01_lookup.ipynb", "x17/01_lookup.ipynb", "x18/hw/01_lookup.ipynb"]
    write_files(tmp_path / "handed-in", dict.fromkeys(files, NOTEBOOK))
    found = {
        submission.student for submission in find_in_class([tmp_path / "handed-in"], [Person("ada"), Person("ben")])
    }
    assert {"eve", "x17", "x18"} <= found


def test_folder_named_submitted_is_a_student(tmp_path: Path):
    files = ["ada/01_lookup.ipynb", "submitted/ada/hw/01_lookup.ipynb", "zoe/01_lookup.ipynb"]
    for people in ([], [Person("ada"), Person("zoe")]):
        folder = write_files(tmp_path / "given", dict.fromkeys(files, NOTEBOOK))
        found = {
            submission.student: submission.path.relative_to(folder).parts[0]
            for submission in find_in_class([folder], people)
        }
        assert found == {"ada": "ada", "submitted": "submitted", "zoe": "zoe"}


@pytest.mark.parametrize(
    "files",
    [
        ["Lovelace, Ada/01_lookup.ipynb", "Ben Shaw (1)/01_lookup.ipynb"],
        ["123/01_lookup.ipynb", "124 - Copy/01_lookup.ipynb"],
        ["HW_1_al815_attempt_2026-10-12-17-58-23_a.ipynb", "HW_1_bs99_attempt_2026-10-12-17-58-23_Ada Lovelace.ipynb"],
        [
            "12345-67890 - Ada Lovelace - Oct 12, 2026 558 PM - a.ipynb",
            "1-2 - Ben Shaw - Oct 2, 2026 6 PM/a.ipynb",
            "index.html",
        ],
        [
            "HW 1/Lovelace, Ada(al815)/Submission attachment(s)/a.ipynb",
            "HW 1/Shaw, Ben(bs99)/a.ipynb",
            "HW 1/grades.csv",
        ],
        ["Lovelace_Ada_al815_12345/a.ipynb", "Shaw_Ben_bs99_12346/a.ipynb"],
        ["Team_1/Lovelace_Ada_al815_12345/a.ipynb", "Team_2/Shaw_Ben_bs99_12346/a.ipynb"],
        ["Ada Lovelace - Copy of 01_lookup.ipynb", "Ben Shaw - 01_lookup.ipynb"],
        ["lovelaceada_1234_5678_01_lookup.ipynb", "shawben_LATE_1235_5679_01_lookup-1.ipynb", "notes.pdf"],
        ["A-Ada Lovelace_98765_assignsubmission_file_/a.ipynb", "B-Ben Shaw_98766_assignsubmission_file_/a.ipynb"],
        ["hw1_al815/a.ipynb", "hw1_bs99/a.ipynb"],
    ],
)
def test_matches_names_from_every_platform_to_roster(tmp_path: Path, files: list[str]):
    found = find_in_class([write_files(tmp_path / "given", dict.fromkeys(files, NOTEBOOK))], PEOPLE)
    matches = Roster(PEOPLE).match([submission.hint for submission in found])
    assert {person.name for match in matches.values() for person in match.people} == ADA_AND_BEN
    assert all(match.people for match in matches.values()) and len(found) == 2


@pytest.mark.parametrize("in_folder", [False, True])
def test_treats_two_moodle_downloads_as_two_classes(tmp_path: Path, in_folder: bool):
    zips = {"CS101-Week 1-4711.zip": moodle(ada=611, ben=612), "CS101-Week 2-4712.zip": moodle(ada=702, ben=701)}
    folder = write_files(tmp_path / "given", zips)
    reports: list[str] = []
    found = find_in_class([folder] if in_folder else [folder / name for name in zips], PEOPLE, reports)
    assert [submission.student for submission in found] == ["Ada Lovelace", "Ben Shaw"] * 2
    assert reports == [
        "CS101-Week 1-4711: 2 students, identified by their names in the Moodle download.",
        "CS101-Week 2-4712: 2 students, identified by their names in the Moodle download.",
    ]


def test_zip_from_single_student_may_have_any_name(tmp_path: Path):
    one = zipped({"01_lookup.ipynb": NOTEBOOK})
    folder = write_files(tmp_path / "given", {"ada.zip": one, "my_submissions.zip": one})
    for paths in ([folder], sorted(folder.iterdir())):
        assert {found.student for found in find_in_class(paths, [Person("ada")])} == {"ada", "my_submissions"}
    [alone] = find_in_class([folder / "my_submissions.zip"], [])
    assert (alone.student, alone.time_source) == ("my_submissions", "time of the file")


def test_reads_macos_zip_names_as_utf8(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("Jo\u0308rg Mu\u0308ller/01_lookup.ipynb", NOTEBOOK)
        archive.writestr("Ada Lovelace/01_lookup.ipynb", NOTEBOOK)
    unmarked = bytearray(content.getvalue())
    for signature, flag in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        unmarked[unmarked.index(signature) + flag] &= ~8
    (tmp_path / "class.zip").write_bytes(unmarked)
    found = find_in_class([tmp_path / "class.zip"], PEOPLE)
    assert {submission.student for submission in found} == {"Jörg Müller", "Ada Lovelace"}
    assert [
        len(match.people) for match in Roster(PEOPLE).match([submission.hint for submission in found]).values()
    ] == [1, 1]


@pytest.mark.parametrize(
    ("pattern", "students"),
    [
        ("*/STUDENT", {"ada", "ben"}),
        ("STUDENT", {"x", "y"}),
        ("*/STUDENT/*/STUDENT", None),
        ("*", None),
        ("*/STUDENT/work/hw_*.ipynb", {"ada"}),
    ],
)
def test_layout_option_determines_students(tmp_path: Path, pattern: str, students: set[str] | None):
    files = {"x/ada/work/hw_01_lookup.ipynb": NOTEBOOK, "y/ben/01_lookup.ipynb": NOTEBOOK}
    folder = write_files(tmp_path / "given", files)
    if students is None:
        with pytest.raises(ValueError, match="--layout must contain the word STUDENT exactly once"):
            find_submissions([folder], pattern=pattern)
    else:
        reports: list[str] = []
        found = find_submissions([folder], pattern=pattern, report=reports.append)
        assert {submission.student for submission in found} == students and f"by the layout {pattern}" in reports[0]
        assert ("1 other file was ignored: 01_lookup.ipynb" in reports[0]) == (len(students) == 1)


def test_reports_irrelevant_files_as_ignored(tmp_path: Path):
    files = {"ada/a.ipynb": NOTEBOOK, "ben/a.ipynb": NOTEBOOK, "grades.csv": b"", "submission_metadata.yml": b""}
    reports: list[str] = []
    found = find_submissions([write_files(tmp_path / "given", files)], report=reports.append)
    assert {submission.student for submission in found} == {"ada", "ben"}
    assert reports == [
        "given: 2 students, identified by the names of their folders; 2 other files were ignored: grades.csv and "
        "submission_metadata.yml."
    ]


def test_students_cannot_submit_for_other_students(tmp_path: Path):
    forged: Mapping[str, bytes] = {
        "zoe/Ada Lovelace/01_lookup.ipynb": NOTEBOOK,
        "zoe/Ben Shaw/01_lookup.ipynb": NOTEBOOK,
        "Ada Lovelace/01_lookup.ipynb": NOTEBOOK,
    }
    found = find_in_class([write_files(tmp_path / "given", forged)], PEOPLE)
    assert {
        submission.student: submission.path.parts[-3:-1] for submission in found if submission.student == "Ada Lovelace"
    } == {"Ada Lovelace": ("given", "Ada Lovelace")}
    zips = {"zoe.zip": moodle(ada=611, ben=612), "ada.zip": zipped({"01_lookup.ipynb": NOTEBOOK})}
    found = find_in_class([write_files(tmp_path / "zips", zips)], PEOPLE)
    assert {submission.student: submission.problem for submission in found} == {
        "zoe": submissions.SEVERAL_STUDENTS,
        "ada": "",
    }


def test_late_marker_does_not_split_student_in_two(tmp_path: Path):
    files = ["lovelaceada_LATE_1234_5678_01_lookup.ipynb", "lovelaceada_1234_5679_02_scaling.ipynb"]
    found = find_in_class([write_files(tmp_path / "given", dict.fromkeys(files, NOTEBOOK))], [])
    assert [(submission.student, submission.is_marked_late) for submission in found] == [
        ("lovelaceada", False),
        ("lovelaceada", True),
    ]


@pytest.mark.parametrize("is_zip", [False, True])
def test_reads_gradescope_submitter_list(tmp_path: Path, is_zip: bool):
    submitters = (
        "---\nsubmission_123456:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '00123'\n    :email: a@uni.edu\n"
        "  :created_at: 2026-10-12\nsubmission_123457:\n  :submitters:\n  - :name: Ben Shaw\n    :sid: '00124'\n"
        "  - :name: Jörg Müller\n    :sid: '00125'\n"
    )
    export = {f"export/submission_12345{n}/01_lookup.ipynb": NOTEBOOK for n in (6, 7)}
    export |= {"export/submission_metadata.yml": submitters.encode()}
    export |= {"export/submission_123456/submission_metadata.yml": b"submission_123457:\n - :name: Ada Lovelace"}
    path = tmp_path / "export.zip" if is_zip else write_files(tmp_path / "given", export)
    if is_zip:
        path.write_bytes(zipped(export))
    found = find_in_class([path], PEOPLE)
    assert [submission.student for submission in found] == ["Ada Lovelace", "Ben Shaw; Jörg Müller"]
    matches = list(Roster(PEOPLE).match([submission.hint for submission in found]).values())
    assert [match.people for match in matches] == [(PEOPLE[0],), tuple(PEOPLE[1:])]
