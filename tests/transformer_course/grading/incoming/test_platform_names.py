import pytest

from transformer_course.grading.incoming.platform_names import (
    PersonHint,
    classroom_prefix,
    is_grouping,
    person_in_file_name,
    read_platform_name,
)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lovelaceada_12345_67890_01_lookup.ipynb", PersonHint("lovelaceada", "12345", platform="Canvas")),
        ("lovelaceada_LATE_12345_67890_01_lookup-1.ipynb", PersonHint("lovelaceada", "12345", "", "Canvas", True)),
        ("lovelaceada_late_12345_67890_x.ipynb", PersonHint("lovelaceada", "12345", "", "Canvas", True)),
        ("anonymous_aB3xZ_67890_01_lookup.ipynb", PersonHint("anonymous", "aB3xZ", platform="Canvas")),
        ("Ada Lovelace_98765_assignsubmission_file_", PersonHint("Ada Lovelace", "98765", platform="Moodle")),
        ("Ada Lovelace_98765_assignsubmission_file", PersonHint("Ada Lovelace", "98765", platform="Moodle")),
        ("Ada L_98765_assignsubmission_file_01_lookup.ipynb", PersonHint("Ada L", "98765", platform="Moodle")),
        ("van_der Berg_1_assignsubmission_file_", PersonHint("van_der Berg", "1", platform="Moodle")),
        (
            "HW 1_al815_attempt_2026-10-12-17-58-23_ben_attempt_2026-10-12-17-58-23_x.ipynb",
            PersonHint("HW 1_al815", "", "al815", "Blackboard"),
        ),
        (
            "12345-67890 - Ada Lovelace - Oct 12, 2026 558 PM - 01_lookup.ipynb",
            PersonHint("Ada Lovelace", "12345-67890", platform="Brightspace"),
        ),
        (
            "12345-67890 - Ada Lovelace - 12 October, 2026 1758",
            PersonHint("Ada Lovelace", "12345-67890", platform="Brightspace"),
        ),
        ("Lovelace, Ada(al815)", PersonHint("Lovelace, Ada", "", "al815", "Sakai")),
        ("Lovelace_Ada_al815_12345", PersonHint("Lovelace, Ada", "12345", "al815", "ILIAS")),
        ("submission_123456789", PersonHint("submission 123456789", "123456789", platform="Gradescope")),
        ("ada_01_lookup.ipynb", None),
        ("group_1_01_lookup.ipynb", None),
        ("ada (1)", None),
        ("ada", None),
        ("", None),
    ],
)
def test_reads_the_student_from_a_download_name(name: str, hint: PersonHint | None):
    assert read_platform_name(name) == hint


@pytest.mark.parametrize(
    ("stem", "person"),
    [
        ("01_lookup_ada", "ada"),
        ("Copy of 01_lookup_ada", "ada"),
        ("01_lookup_ada (1)", "ada"),
        ("01_lookup_ada - Copy", "ada"),
        ("ada-01_lookup-Copy1", "ada"),
        ("Ada Lovelace - Copy of 01_lookup", "Ada Lovelace"),
        ("01_lookup - Ada Lovelace", "Ada Lovelace"),
        ("ada.interview_questions", "ada"),
        ("ada 2", "ada"),
        ("01_lookup", ""),
        ("Copy of 01_lookup", ""),
        ("01_lookup (new edition)", ""),
        ("01_lookup FINAL v2", ""),
        ("my 01_lookup", ""),
        ("hw1_01_lookup", "hw1"),
    ],
)
def test_finds_person_in_file_name(stem: str, person: str):
    assert person_in_file_name(stem) == person


@pytest.mark.parametrize(
    "name", ["week 1", "Section A", "section_b", "01_lookup", "hw1", "Abgaben", "hand-in", "Woche 2"]
)
def test_does_not_mistake_weeks_or_sections_for_students(name: str):
    assert is_grouping(name)


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "01_lookup_ada", "weekes", "Kurt", "Labelle", "a17"])
def test_does_not_mistake_students_for_weeks(name: str):
    assert not is_grouping(name)


@pytest.mark.parametrize(
    ("folder", "students", "repositories", "prefix"),
    [
        ("w1-submissions", ["w1-ada"], [], "w1-"),
        ("w1-submissions", ["w1-ada", "other"], [], "w1-"),
        ("class", ["w1-ada", "w1-adam-b"], ["w1-ada", "w1-adam-b"], "w1-"),
        ("class", ["w1-ada", "w1-ben", "eve"], ["w1-ada", "w1-ben", "eve"], "w1-"),
        ("class", ["w1-ada-x", "w1-ada-y", "w1-ben"], ["w1-ada-x", "w1-ada-y", "w1-ben"], "w1-"),
        ("class", ["w1-ada", "w1-ben"], ["w1-ada"], ""),
        ("class", ["ada", "ben"], ["ada", "ben"], ""),
        ("class", ["w1-ada"], ["w1-ada"], ""),
        ("class", [], [], ""),
    ],
)
def test_finds_github_classroom_repository_prefix(
    folder: str, students: list[str], repositories: list[str], prefix: str
):
    assert classroom_prefix(folder, students, repositories) == prefix
