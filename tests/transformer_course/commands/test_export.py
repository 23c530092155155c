from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import write_results
from transformer_lab.cli.main import main


def test_points_come_into_a_table_beside_the_results(tmp_path: Path, capsys):
    write_results(tmp_path / "graded", {"ada": 2})
    (tmp_path / "export.csv").write_text("Student,ID\nAda,ada\n")
    assert main(["export", str(tmp_path / "graded"), "--canvas", str(tmp_path / "export.csv"), "--column", "Lab"]) == 0
    assert (tmp_path / "graded" / "canvas.csv").read_text().startswith("Student,ID,Lab\nAda,ada,")
    assert "1 of 1 rows have points now." in capsys.readouterr().out
    (tmp_path / "export.csv").write_text("Identifier,Grade\nParticipant ada,\n")
    assert main(["export", str(tmp_path / "graded"), "--moodle", str(tmp_path / "export.csv")]) == 0
    assert (tmp_path / "graded" / "moodle.csv").read_text().startswith("Identifier,Grade,Feedback comments\n")


def test_what_cannot_be_exported_is_told_in_a_line(tmp_path: Path, capsys):
    assert main(["export", str(tmp_path), "--canvas", "export.csv"]) == 2
    assert (
        capsys.readouterr().err
        == f"transformer-course: {tmp_path} holds no results; transformer-course grade makes some\n"
    )
    with pytest.raises(SystemExit, match="2"):
        main(["export", str(tmp_path)])
    assert "one of the arguments --canvas --moodle is required" in capsys.readouterr().err
