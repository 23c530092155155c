"""Tests for reading a notebook as untrusted input."""

import json
from pathlib import Path

import pytest

from tests.transformer_course.grading.incoming.test_submissions import described
from tests.transformer_course.sandbox.sample_submissions import RIGHT, cells, write_notebook
from transformer_course.grading.incoming import submitted_files
from transformer_course.grading.incoming.notebook_cells import MAX_CELLS
from transformer_course.grading.incoming.submission import NOT_A_LESSON, Submission, with_assumed_lesson
from transformer_course.grading.incoming.submissions import find_submissions


def test_recognizes_lesson_by_cells_without_file_name(tmp_path: Path):
    code = cells({}, "02_scaling")
    assert described(find_submissions([write_notebook(tmp_path / "ada.ipynb", code)])) == {("ada", "02_scaling", False)}


def test_reads_cell_ids_from_colab_metadata(tmp_path: Path):
    notebook = {
        "nbformat": 4,
        "cells": [{"cell_type": "code", "source": ["a\n", "b"], "metadata": {"id": "check-softmax"}}],
    }
    path = tmp_path / "ada.ipynb"
    path.write_text(json.dumps(notebook))
    [submission] = find_submissions([path])
    assert submission.lesson == "01_lookup" and submission.cells == [{"id": "check-softmax", "source": "a\nb"}]


def test_grades_notebook_with_misleading_name(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "interview_questions.ipynb", cells({}))
    assert described(find_submissions([tmp_path])) == {("ada", "01_lookup", False)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not valid JSON"),
        (bytes(range(256)), "is not valid JSON"),
        (b'{"nbformat": 4, "cells": [', "is not valid JSON"),
        (b"[" * 400_000, "is not valid JSON"),
        (b"[" * 990 + b"]" * 990, "The file is damaged"),
        (b'{"nbformat": ' + b"9" * 5000 + b"}", "The file is damaged"),
        (b"[1, 2]", "but not a notebook"),
        (b'{"nbformat": 4}', "but not a notebook"),
        (b'{"nbformat": 4, "cells": [3]}', "but not a notebook"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}', "but not a notebook"),
        (b'{"nbformat": 3, "worksheets": []}', "has format 3"),
        (b'{"nbformat": 4, "cells": []}', None),
    ],
)
def test_invalid_notebook_has_a_descriptive_problem(tmp_path: Path, content: bytes, message: str | None):
    path = tmp_path / "ada" / "01_lookup.ipynb"
    path.parent.mkdir()
    path.write_bytes(content)
    [submission] = find_submissions([tmp_path])
    assert (submission.student, submission.lesson) == ("ada", "01_lookup")
    assert message in submission.problem if message else not submission.problem


def test_reports_huge_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(submitted_files, "MAX_NOTEBOOK_BYTES", 1 << 20)
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({}))
    with path.open("ab") as file:
        file.truncate(2 << 20)
    assert find_submissions([path])[0].problem == "The file is larger than 1 MB. Clear the outputs and submit it again."


def test_reports_too_much_code(tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({}, others=["x" * (1 << 20)]))
    assert find_submissions([path])[0].problem == "The notebook has more than 1 million characters of code."


def test_reports_too_many_cells(tmp_path: Path):
    many = [{"id": f"cell-{n}", "source": ""} for n in range(MAX_CELLS + 1)]  # random IDs could collide
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", many)
    assert find_submissions([path])[0].problem == "The notebook has 5001 code cells; the limit is 5000."


def test_reports_notebook_from_different_course(tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "cooking.ipynb", [{"id": "", "source": "1 + 1"}])
    assert "match a lesson" in find_submissions([tmp_path])[0].problem
    assert find_submissions([path])[0].lesson == ""


def test_digest_depends_on_the_code(tmp_path: Path):
    digest, same, other = (
        find_submissions([write_notebook(tmp_path / name / "01_lookup.ipynb", code)])[0].digest
        for name, code in (("a", cells({})), ("b", cells({})), ("c", cells({"softmax": "x = 1"})))
    )
    assert len(digest) == 64 and digest == same != other


def test_shortens_long_number_in_messages(tmp_path: Path):
    path = tmp_path / "ada.ipynb"
    path.write_text(f'{{"nbformat": {"9" * 4000}, "cells": []}}')
    [submission] = find_submissions([path])
    assert submission.problem == f"The notebook has format {'9' * 20}; only format 4 is supported."


def renamed(lesson: str = "01_lookup", **cell: str) -> bytes:
    """Return a renamed notebook of a lesson, without cell IDs."""
    code = [{"cell_type": "code", "source": cell["source"]} for cell in cells(RIGHT, lesson)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "cells": [*code, *([cell] if cell else [])]}).encode()


def test_recognizes_renamed_lesson_by_its_checks(tmp_path: Path):
    path = tmp_path / "ada" / "notebook0a1b2c.ipynb"
    path.parent.mkdir()
    path.write_bytes(renamed("02_scaling"))
    [submission] = find_submissions([path.parent])
    assert (submission.lesson, submission.problem) == ("02_scaling", "")


def test_assigns_assumed_lesson_unless_another_notebook_has_it():
    unknown = Submission("ada", Path("x.ipynb"), problem=NOT_A_LESSON, cells=[{"source": "x"}])
    known = Submission("ada", Path("y.ipynb"), "01_lookup", cells=[{"source": "y"}])
    damaged = Submission("ada", Path("z.ipynb"), problem="It is damaged.")
    assigned = with_assumed_lesson([unknown, damaged], "01_lookup")
    assert [(submission.lesson, submission.problem) for submission in assigned] == [
        ("01_lookup", ""),
        ("", "It is damaged."),
    ]
    assert with_assumed_lesson([unknown, known], "01_lookup") == [unknown, known]
