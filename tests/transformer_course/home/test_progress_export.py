"""Tests for exporting progress as CSV and JSON."""

import io
import json

import pandas as pd

from tests.transformer_course.home.sample_folders import HOURS
from transformer_course.home.progress_export import as_csv, as_json


def test_each_exercise_has_a_row_with_pass_time(folder):
    folder.record("two", at=HOURS)
    folder.save("00_first", "three")
    home = folder.home()
    table = pd.read_csv(io.StringIO(as_csv(home)))
    assert table["exercise"].tolist() == ["one", "two", "three", "four"]
    assert table["lesson"].tolist() == ["00_first"] * 3 + ["01_second"]
    assert table["stretch"].tolist() == [False, False, True, False]
    assert table["passed"].tolist() == [False, True, True, False]
    assert table["first_passed_at"].dropna().tolist() == ["1970-01-01T01:00:00+00:00"]
    assert [row["passed"] for row in json.loads(as_json(home))] == table["passed"].tolist()
    assert json.loads(as_json(home))[0]["first_passed_at"] is None
