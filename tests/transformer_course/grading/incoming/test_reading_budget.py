import io
import json
import time
import zipfile
from pathlib import Path

import pytest

from transformer_course.grading.incoming.reading_budget import (
    MAX_JSON_VALUES,
    MAX_SUBMISSION_BYTES,
    MAX_SUBMISSION_JSON_VALUES,
    ReadingBudget,
)
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.grading.incoming.submitted_file import UnreadableFile


def zip_of(path: Path, contents: list[bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, content in enumerate(contents):
            archive.writestr(f"eve/01_lookup-{i}.ipynb", content)
    return path


def bomb(n_bytes: int, values: bytes = b"{},") -> bytes:
    """Return a JSON text of this size that consists almost entirely of empty values."""
    return b"[" + values * (n_bytes // len(values)) + b"{}]"


def test_rejects_json_zip_bomb_quickly(tmp_path: Path):
    """Without the budget, reading six notebooks of 16 MB from a zip of 97 kB took 3 seconds and 670 MB of memory."""
    small = bomb(1 << 20)
    started = time.process_time()
    json.loads(small)
    one_mb = time.process_time() - started
    path = zip_of(tmp_path / "submissions.zip", [bomb((16 << 20) - 99)] * 6)
    assert path.stat().st_size < 200 << 10
    started = time.process_time()
    found = find_submissions([path])
    assert len(found) == 6 and all("JSON values" in submission.problem for submission in found)
    assert time.process_time() - started < 24 * one_mb


@pytest.mark.parametrize("values", [b"{},", b"[],", b"0,", b'{"":[]},', "{},".encode("utf-16-le")])
def test_rejects_notebook_with_many_small_values(values: bytes):
    with pytest.raises(UnreadableFile, match="JSON values"):
        ReadingBudget().spend(bomb(6 << 20, values))


def test_notebooks_from_one_student_share_a_budget(tmp_path: Path):
    cells = [{"cell_type": "code", "source": "x = 1", "outputs": [[]] * 200_000}]
    large = json.dumps({"nbformat": 4, "cells": cells}).encode()
    found = find_submissions([zip_of(tmp_path / "submissions.zip", [large] * 9)])
    n_read = sum(not submission.problem for submission in found)
    assert n_read == MAX_SUBMISSION_JSON_VALUES // 400_005
    assert {submission.problem for submission in found if submission.problem} == {
        "The submission is too large: all notebooks together may have at most 128 MB and 2,000,000 JSON values. "
        "Clear the outputs, or submit fewer notebooks."
    }


def test_checks_budget_before_unpacking_next_file():
    budget = ReadingBudget()
    for _ in range(8):
        budget.check()
        budget.spend(bytes(MAX_SUBMISSION_BYTES // 8))
    budget.check()
    with pytest.raises(UnreadableFile, match="too large"):
        budget.spend(b"0")
    with pytest.raises(UnreadableFile, match="too large"):
        budget.check()


def test_accepts_notebook_with_large_pictures():
    budget = ReadingBudget()
    budget.spend(b"iVBORw0KGgo" * (1 << 20))
    with pytest.raises(UnreadableFile, match=f"the limit is {MAX_JSON_VALUES:,}"):
        budget.spend(b"," * (MAX_JSON_VALUES + 1))


def test_students_have_separate_budgets(tmp_path: Path):
    honest = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1"}]}).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(9):
            archive.writestr(f"eve/01_lookup-{i}.ipynb", bomb(1 << 20))
        archive.writestr("zoe/01_lookup.ipynb", honest)
    (tmp_path / "submissions.zip").write_bytes(stream.getvalue())
    found = {submission.student: submission.problem for submission in find_submissions([tmp_path / "submissions.zip"])}
    assert "JSON values" in found["eve"] and found["zoe"] == ""
