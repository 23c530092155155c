"""Tests for ``transformer-course lab``, which passes unknown arguments to JupyterLab."""

import pytest

from transformer_course import lesson_folder
from transformer_course.commands.main import main
from transformer_course.home import lab
from transformer_course.workspace import working_copies


@pytest.fixture
def opened(monkeypatch):
    """Record JupyterLab's arguments instead of starting JupyterLab."""
    calls = []
    monkeypatch.setattr(lab, "open_lab", calls.append)
    return calls


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--no-browser"],
        ["--no-browser", "--port", "8890"],
        ["--port", "8890", "--no-browser"],
        ["--port=8890", "--ServerApp.password=", "--debug"],
        ["--comm", "x", "--out", "y", "01_lookup.ipynb"],
        ["--les", "x"],
    ],
)
def test_passes_unknown_arguments_to_jupyterlab(opened, arguments):
    assert main(["lab", *arguments]) == 0
    assert opened == [arguments]


def test_reports_missing_lessons_on_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(lesson_folder, "REPOSITORY", tmp_path)
    assert main(["lab"]) == 2
    missing = f"there are no lessons in {tmp_path / 'notebooks'}"
    assert capsys.readouterr().err == f"transformer-course: {missing}\n"


def test_reports_unwritable_folder_with_advice(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(tmp_path / "file" / "lessons"))
    assert main(["lab"]) == 2
    problem = f"{tmp_path / 'file' / 'lessons'} is not writable: Not a directory. "
    advice = "Choose another folder for your lessons: transformer-course lab --folder FOLDER"
    assert capsys.readouterr() == ("", f"transformer-course: {problem}{advice}\n")


@pytest.mark.parametrize("lesson", ["03", "3", "heads", "03_heads", "03_heads.ipynb"])
def test_opens_a_lesson_by_number_or_name(opened, lesson):
    assert main(["lab", "--no-browser", "--lesson", lesson]) == 0
    assert opened == [["--no-browser", "--LabApp.default_url=/lab/tree/03_heads.ipynb"]]


@pytest.mark.parametrize("lesson", ["33", "head", ""])
def test_unknown_lesson_error_lists_the_lessons(opened, capsys, lesson):
    assert main(["lab", "--lesson", lesson]) == 2
    assert f"there is no lesson {lesson!r}; the lessons are 00_bottleneck, 01_lookup, " in capsys.readouterr().err
    assert opened == []


def test_folder_option_chooses_the_folder(opened, monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", "elsewhere")
    monkeypatch.chdir(tmp_path)
    assert main(["lab", "--folder", "course"]) == 0
    assert working_copies.working_copy() == tmp_path / "course"


def test_default_folder_is_in_the_clone(opened, monkeypatch, tmp_path):
    monkeypatch.delenv("TRANSFORMER_LAB_LESSONS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["lab"]) == 0
    assert working_copies.working_copy() == lesson_folder.REPOSITORY / "my-lessons"


def test_default_folder_is_found_without_a_clone(opened, monkeypatch, tmp_path):
    monkeypatch.setattr(lesson_folder, "INSTALLED_LESSONS", lesson_folder.REPOSITORY / "notebooks")
    for here in (tmp_path, tmp_path / "my-lessons"):
        here.mkdir(exist_ok=True)
        monkeypatch.delenv("TRANSFORMER_LAB_LESSONS", raising=False)
        monkeypatch.chdir(here)
        assert main(["lab"]) == 0
        assert working_copies.working_copy() == tmp_path / "my-lessons"
        (tmp_path / "my-lessons").mkdir(exist_ok=True)
        (tmp_path / "my-lessons" / working_copies.EDITIONS_FILE).touch()
