from pathlib import Path

import pandas as pd

from tests.transformer_course.grading.sample_results import write_results
from transformer_course.commands.main import main


def test_override_updates_summary_gradebook_and_feedback(tmp_path: Path, capsys):
    write_results(tmp_path, {"ada": 0})
    (tmp_path / "overrides.csv").write_text("student,exercise,points,comment\nada,softmax,1,Shown in class.\n")
    assert main(["feedback", str(tmp_path)]) == 0
    assert "ada: 1 of" in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "gradebook.csv").loc[0, "01_lookup: softmax"] == 1
    assert "Shown in class." in (tmp_path / "feedback" / "ada.html").read_text("utf-8")


def test_rejects_a_folder_without_results(tmp_path: Path, capsys):
    assert main(["feedback", str(tmp_path)]) == 2
    assert "has no results; run `transformer-course grade` first" in capsys.readouterr().err
