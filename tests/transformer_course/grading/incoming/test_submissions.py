import os
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import cells, write_notebook
from transformer_course.grading.incoming import submissions
from transformer_course.grading.incoming.notebook_cells import NOTHING_TO_GRADE
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.grading.incoming.submitted_file import MAX_DEPTH


def described(found: list[Submission]) -> set[tuple[str, str, bool]]:
    return {(submission.student, submission.lesson, bool(submission.problem)) for submission in found}


@pytest.mark.parametrize(
    ("file", "student"),
    [
        ("ada/01_lookup.ipynb", "ada"),
        ("ada/01_lookup (new edition).ipynb", "ada"),
        ("ada/01_lookup-1.ipynb", "ada"),
        ("class/ada_01_lookup.ipynb", "ada"),
        ("class/ada.ipynb", "ada"),
    ],
)
def test_finds_student_in_file_or_folder_name(tmp_path: Path, file: str, student: str):
    path = write_notebook(tmp_path / file, cells({}))
    assert described(find_submissions([path])) == {(student, "01_lookup", False)}
    assert described(find_submissions([path.parent])) == {(student, "01_lookup", False)}


def test_student_may_have_nested_folders(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "week 1" / "lookup.ipynb", cells({}))
    write_notebook(tmp_path / "ada" / ".ipynb_checkpoints" / "lookup-checkpoint.ipynb", cells({}))
    assert described(find_submissions([tmp_path])) == {("ada", "01_lookup", False)}


def test_duplicate_path_gives_one_submission(tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({}))
    assert len(find_submissions([tmp_path, path, path.parent])) == 1


def test_lists_student_without_notebook(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({}))
    (tmp_path / "ben").mkdir()
    assert ("ben", "", True) in described(find_submissions([tmp_path]))


def test_notebooks_without_exercises_are_not_submissions(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({}))
    alone = [write_notebook(tmp_path / student / "interview_questions.ipynb", []) for student in ("ada", "ben")]
    assert described(find_submissions([tmp_path])) == {("ada", "01_lookup", False), ("ben", "", True)}
    assert [submission.problem for submission in find_submissions(alone)] == [NOTHING_TO_GRADE] * 2


def test_ignores_the_results_folder(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({}))
    (tmp_path / "graded").mkdir()
    assert {student for student, _, _ in described(find_submissions([tmp_path], ignore=tmp_path / "graded"))} == {"ada"}


def test_limits_number_of_notebooks_per_student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(submissions, "MAX_NOTEBOOKS", 2)
    for number in range(4):
        write_notebook(tmp_path / "ada" / f"01_lookup-{number}.ipynb", [])
    found = find_submissions([tmp_path])
    assert [submission.path.name for submission in found] == ["01_lookup-0.ipynb", "01_lookup-1.ipynb", "ada"]
    assert found[-1].problem == "This folder has 4 notebooks; only the first 2 were read."


def test_searches_folders_to_a_maximum_depth(tmp_path: Path):
    deepest = tmp_path / "ada" / Path(*["a"] * MAX_DEPTH)
    write_notebook(tmp_path / "ada" / "week 1" / "01_lookup.ipynb", [])
    write_notebook(deepest / "02_scaling.ipynb", [])
    write_notebook(deepest / "a" / "03_heads.ipynb", [])
    assert described(find_submissions([tmp_path])) == {("ada", "01_lookup", False), ("ada", "02_scaling", False)}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_does_not_read_links_and_pipes(tmp_path: Path):
    solved = write_notebook(tmp_path / "instructor" / "01_lookup.ipynb", cells({}))
    folder = tmp_path / "class"
    for student in ("ada", "ben", "eve"):
        (folder / student).mkdir(parents=True)
    (folder / "ada" / "01_lookup.ipynb").symlink_to(solved)
    os.mkfifo(folder / "ben" / "01_lookup.ipynb")
    (folder / "eve" / "folder").symlink_to(solved.parent)
    problems = {submission.student: submission.problem for submission in find_submissions([folder])}
    assert problems["ada"] == problems["ben"] == "This is a link or a special file, not a regular file."
    assert problems["eve"] == "There is no notebook to grade in this folder."


def test_rejects_paths_without_notebooks(tmp_path: Path):
    with pytest.raises(ValueError, match=r"there is no .*nowhere"):
        find_submissions([tmp_path / "nowhere"])
    with pytest.raises(ValueError, match=f"there is no notebook in {tmp_path}"):
        find_submissions([tmp_path])


@pytest.mark.parametrize("names", [("Zo\u00eb", "Zoe\u0308"), ("bob", "bob "), ("b_ob", "b\\ob"), ("Eve", "eve")])
def test_similar_names_stay_separate_with_a_remark(tmp_path: Path, names: tuple[str, str]):
    for name in names:
        write_notebook(tmp_path / name / "01_lookup.ipynb", cells({}))
    found = find_submissions([tmp_path])
    assert len({submission.student for submission in found}) == len(found) == 2
    first, second = sorted(found, key=lambda submission: submission.student.endswith(" (2)"))
    assert second.student.endswith(" (2)")
    assert second.remark.startswith(f"This name differs from “{first.student}”")
    assert first.remark == first.problem == second.problem == ""


def test_lists_linked_folder_without_following_it(tmp_path: Path):
    write_notebook(tmp_path / "elsewhere" / "01_lookup.ipynb", cells({}))
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}))
    (tmp_path / "class" / "ben").symlink_to(tmp_path / "elsewhere")
    assert described(find_submissions([tmp_path / "class"])) == {("ada", "01_lookup", False), ("ben", "", True)}
