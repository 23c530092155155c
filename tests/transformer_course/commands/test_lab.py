"""``lab``: all that follows it goes to JupyterLab."""

import pytest

from transformer_course.commands.main import main
from transformer_course.home import lab
from transformer_course.workspace import working_copies


@pytest.fixture
def opened(monkeypatch):
    observed = []
    monkeypatch.setattr(lab, "open_lab", observed.append)
    return observed


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
def test_all_that_follows_lab_goes_to_jupyterlab(opened, arguments):
    assert main(["lab", *arguments]) == 0
    assert opened == [arguments]


def test_the_lesson_folder_that_is_missing_is_told_in_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(working_copies, "REPOSITORY", tmp_path)
    assert main(["lab"]) == 2
    missing = f"no lessons in {tmp_path / 'notebooks'}"
    assert capsys.readouterr().err == f"transformer-course: {missing}\n"


def test_a_folder_that_cannot_be_written_to_is_told_in_one_line_with_the_way_out(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(tmp_path / "file" / "lessons"))
    assert main(["lab"]) == 2
    said = f"{tmp_path / 'file' / 'lessons'} cannot be written to: Not a directory. "
    advice = "Name another one for your lessons: transformer-course lab --folder FOLDER"
    assert capsys.readouterr() == ("", f"transformer-course: {said}{advice}\n")


@pytest.mark.parametrize("wanted", ["03", "3", "heads", "03_heads", "03_heads.ipynb"])
def test_a_lesson_is_opened_by_its_number_or_its_name(opened, wanted):
    assert main(["lab", "--no-browser", "--lesson", wanted]) == 0
    assert opened == [["--no-browser", "--LabApp.default_url=/lab/tree/03_heads.ipynb"]]


@pytest.mark.parametrize("wanted", ["33", "head", ""])
def test_a_lesson_that_is_not_there_is_answered_with_those_that_are(opened, capsys, wanted):
    assert main(["lab", "--lesson", wanted]) == 2
    assert f"there is no lesson {wanted!r}; there are 00_bottleneck, 01_lookup, " in capsys.readouterr().err
    assert opened == []


def test_the_folder_of_the_lessons_can_be_chosen(opened, monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", "elsewhere")
    monkeypatch.chdir(tmp_path)
    assert main(["lab", "--folder", "course"]) == 0
    assert working_copies.working_copy() == tmp_path / "course"


def test_in_a_clone_the_folder_is_that_of_the_clone(opened, monkeypatch, tmp_path):
    monkeypatch.delenv("TRANSFORMER_LAB_LESSONS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["lab"]) == 0
    assert working_copies.working_copy() == working_copies.REPOSITORY / "my-lessons"


def test_without_a_clone_the_folder_is_made_where_one_stands_and_found_from_inside(opened, monkeypatch, tmp_path):
    monkeypatch.setattr(working_copies, "INSTALLED_LESSONS", working_copies.REPOSITORY / "notebooks")
    for here in (tmp_path, tmp_path / "my-lessons"):
        here.mkdir(exist_ok=True)
        monkeypatch.delenv("TRANSFORMER_LAB_LESSONS", raising=False)
        monkeypatch.chdir(here)
        assert main(["lab"]) == 0
        assert working_copies.working_copy() == tmp_path / "my-lessons"
        (tmp_path / "my-lessons").mkdir(exist_ok=True)
        (tmp_path / "my-lessons" / working_copies.EDITIONS_FILE).touch()
