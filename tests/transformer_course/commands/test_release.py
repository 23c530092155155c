import json
from pathlib import Path

import pytest

from transformer_course.commands.main import main


def test_copies_lessons_without_outputs(tmp_path: Path, capsys):
    assert main(["release", "01_lookup", "primer", "-o", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.ipynb")) == ["01_lookup.ipynb", "primer.ipynb"]
    cells = json.loads((tmp_path / "out" / "01_lookup.ipynb").read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells) and "The lessons are in" in capsys.readouterr().out


@pytest.mark.parametrize("lesson", ["01", "1", "lookup", "01_lookup.ipynb"])
def test_finds_a_lesson_by_number_word_or_file(tmp_path: Path, lesson: str):
    assert main(["release", lesson, "-o", str(tmp_path / "out")]) == 0
    assert [path.name for path in (tmp_path / "out").glob("*.ipynb")] == ["01_lookup.ipynb"]


def test_rejects_an_unknown_lesson(tmp_path: Path, capsys):
    assert main(["release", "99", "-o", str(tmp_path / "out")]) == 2
    assert "there is no lesson '99'; the lessons are 00_bottleneck," in capsys.readouterr().err


def test_writes_a_notebook_for_own_exercises(tmp_path: Path, own_file: Path, capsys):
    assert main(["release", "--exercises", str(own_file), "-o", str(tmp_path / "out")]) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["week_3.ipynb"]
    assert "week_3: wrote a notebook with 2 exercises, without answers or checks" in capsys.readouterr().out
    assert main(["release", "primer", "--exercises", str(own_file), "-o", str(tmp_path / "both")]) == 0
    assert {path.name for path in (tmp_path / "both").glob("*.ipynb")} == {"primer.ipynb", "week_3.ipynb"}
