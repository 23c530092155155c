"""Tests for ``transformer-course reset``."""

import os

import pytest

from transformer_course.commands.main import main
from transformer_course.lesson_folder import published_lessons
from transformer_course.workspace.working_copies import copy_lessons


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))  # the command sets an environment variable
    copy_lessons(published_lessons(), tmp_path / "mine", ["03_heads"])
    return tmp_path / "mine"


def test_prints_name_of_the_preserved_copy(folder, capsys):
    (folder / "03_heads.ipynb").write_text("mine")
    assert main(["reset", "heads", "--folder", str(folder)]) == 0
    [kept] = folder.glob("03_heads (*).ipynb")
    assert kept.read_text() == "mine"
    assert capsys.readouterr().out.splitlines() == [
        f"{folder / '03_heads.ipynb'} is the published lesson again.",
        f"Your old copy is {kept.name}.",
    ]


def test_rejects_a_folder_without_lessons(folder, capsys):
    assert main(["reset", "03", "--folder", str(folder / "elsewhere")]) == 2
    assert "run `transformer-course lab` first" in capsys.readouterr().err
