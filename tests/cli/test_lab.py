"""``lab``: all that follows it goes to JupyterLab."""

import pytest

from transformer_lab.cli.main import main
from transformer_lab.course.home import lab


@pytest.fixture
def opened(monkeypatch):
    seen = []
    monkeypatch.setattr(lab, "open_lab", seen.append)
    return seen


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--no-browser"],
        ["--no-browser", "--port", "8890"],
        ["--port", "8890", "--no-browser"],
        ["--port=8890", "--ServerApp.password=", "--debug"],
        ["--comm", "x", "--out", "y", "01_lookup.ipynb"],
    ],
)
def test_all_that_follows_lab_goes_to_jupyterlab(opened, arguments):
    assert main(["lab", *arguments]) == 0
    assert opened == [arguments]


def test_the_lesson_folder_that_is_missing_is_told_in_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(lab, "REPOSITORY", tmp_path)
    assert main(["lab"]) == 2
    missing = f"no lessons in {tmp_path / 'notebooks'}: they come with the repository, not with the package"
    assert capsys.readouterr().err == f"transformer-lab: {missing}\n"
