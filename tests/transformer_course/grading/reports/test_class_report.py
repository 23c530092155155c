"""Tests for regenerating all tables and pages from the stored results."""

from pathlib import Path

import pandas as pd
import pytest

from tests.transformer_course.grading.sample_results import write_results
from transformer_course.grading.reports.class_report import rewrite_report


def test_regenerating_changes_only_manual_edits(tmp_path: Path):
    write_results(tmp_path, {"ada": 2, "ben": 0})
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"gradebook.csv", "results.json", "class.html", "mistakes.csv", "ada.html"} <= {
        path.name for path in written
    }
    rewrite_report(tmp_path)
    assert {path: path.read_bytes() for path in written} == written
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n2,Cleo\n")
    message = rewrite_report(tmp_path)
    assert "1 student in the roster submitted nothing: Cleo." in message and "ben is not in the roster." in message
    assert list(pd.read_csv(tmp_path / "gradebook.csv")["student"]) == ["Ada", "Cleo", "ben"]
    assert "Cleo" in (tmp_path / "class.html").read_text("utf-8")
    assert {path.name for path in (tmp_path / "feedback").iterdir()} == {"Ada.html", "ben.html", "Cleo.html"}


def test_lists_changes_since_previous_report(tmp_path: Path):
    write_results(tmp_path, {"ada": 2, "ben": 0})
    assert "changed since" not in rewrite_report(tmp_path)
    (tmp_path / "overrides.csv").write_text("student,exercise,points\nben,softmax,1.5\n")
    assert "  Points changed since last time: 1 student.\n    ben: softmax 0 → 1.5" in rewrite_report(tmp_path)
    assert "changed since" not in rewrite_report(tmp_path)
    (tmp_path / "results.json").write_text('{"kind": "transf')  # only this file is truncated
    assert "ben: 1.5 of 10 points" in rewrite_report(tmp_path)


def test_unreadable_table_changes_nothing(tmp_path: Path):
    write_results(tmp_path, {"ada": 2})
    before = (tmp_path / "gradebook.csv").read_bytes()
    (tmp_path / "overrides.csv").write_text("student,exercise,points\nada,softmax,99\n")
    with pytest.raises(ValueError, match=r"overrides\.csv, line 2: points must be a number between 0 and "):
        rewrite_report(tmp_path)
    assert (tmp_path / "gradebook.csv").read_bytes() == before
