"""Tests for submitted files that are not notebooks."""

from pathlib import Path

import pytest

from tests.transformer_course.grading.incoming.test_submitted_files import NOTEBOOK, write_files, zipped
from transformer_course.grading.incoming.submissions import find_submissions


@pytest.mark.parametrize("where", ["folder", "zip"])
@pytest.mark.parametrize("name", ["{}_9876{}_555_", "{}_9876{}_assignsubmission_file_/", "{}{}/"])
def test_every_file_type_has_a_descriptive_problem(tmp_path: Path, where: str, name: str):
    content = {
        "01_lookup.html": b"<html>",
        "01_lookup.py": b"1",
        "my answers.pdf": b"%PDF",
        "lookup.IPYNB": NOTEBOOK,
        "all.7z": b"7z",
        "empty.zip": zipped({}),
        "no notebook.zip": zipped({"x.py": b""}),
        "odd comment.zip": zipped({"01_lookup.ipynb": NOTEBOOK}) + b"PK\5\6" + bytes(18),
        "noname": b"",
    }
    files = {name.format(f"student{n}", n) + file: data for n, (file, data) in enumerate(content.items())}
    if where == "zip":
        (tmp_path / "class.zip").write_bytes(zipped(files))
        found = find_submissions([tmp_path / "class.zip"])
    else:
        found = find_submissions([write_files(tmp_path / "class", files)])
    problems = sorted(submission.problem.partition(":")[0] for submission in found)
    assert len({submission.student for submission in found}) == len(found) == len(content)
    assert problems == [
        "",
        *["There is no notebook to grade in this zip."] * 2,
        "This is not a notebook",
        *(f"This is not a notebook ({suffix})" for suffix in (".7z", ".html", ".pdf", ".py", ".py")),
    ]


def test_skips_only_system_files(tmp_path: Path):
    for name in ("eve/__MACOSX/01_lookup.ipynb", "__ann/__01_lookup.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(NOTEBOOK)
    found = {submission.student: submission.problem for submission in find_submissions([tmp_path])}
    assert found == {"__ann": "", "eve": "There is no notebook to grade in this folder."}
