"""Test that grading a class gives every student a row in the results, whatever the students submit.

These tests do not run the submitted answers. They cover the code that reads, stores and writes text from students.
"""

import csv
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.transformer_course.sandbox.sample_submissions import cells, write_notebook
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.grading.grade import grade
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.judging.worker import Task
from transformer_course.grading.reports.class_report import read_results
from transformer_course.grading.reports.exports import merge_into_canvas
from transformer_course.grading.reports.feedback_zips import canvas_feedback
from transformer_course.grading.rules.settings import RunOptions

HONEST = ["aa_honest", "zz_honest"]
UNSAFE_CHARACTERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
"""Control characters, bidirectional overrides, unusual line endings and unpaired surrogates."""
UNPAIRED_SURROGATE = "\ud800"
LETTERS = "\N{MATHEMATICAL SCRIPT CAPITAL A}" * 60
"""Letters that take four bytes each, so that a name of them nearly reaches the maximum length of a file name."""


class FakeWorker:
    """A grading worker that passes every answer."""

    guards: ClassVar = {"own_user": True, "namespaces": False, "landlock": 7, "seccomp": True}

    def __enter__(self) -> "FakeWorker":
        return self

    def __exit__(self, *_: object) -> None: ...

    def assess(self, task: Task) -> GradedExercise:
        return GradedExercise(every_exercise()[task.name], Verdict(task.name, "passed", ""), 0.1)

    def kill(self) -> None: ...


def markdown(source: object, **more: object) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def code(source: object, **more: object) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": source, **more}


def book(*own: dict[str, Any]) -> bytes:
    """Return the JSON of a lesson 01 notebook with these cells. Unpaired surrogates are escaped."""
    more = [code(f"check({name})", id=f"check-{name}") for name in ("softmax", "similarity")]
    return json.dumps({"nbformat": 4, "cells": [*own, *more]}).encode()


def zipped(files: dict[str, bytes], comment: bytes = b"") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.comment = comment
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


TEXTS = st.one_of(
    st.text(st.characters(), max_size=20),
    st.sampled_from(
        [
            UNPAIRED_SURROGATE,
            "\x1b[2J",
            "=1+1",
            "a\n### zz_honest (10 of 10)",
            "a\rb",
            "\u202e",
            'from "\ud800" import softmax',
        ]
    ),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CELLS = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw"]) | VALUES, "source": TEXTS | st.lists(TEXTS, max_size=3)},
    optional={
        "id": TEXTS | TEXTS.map(lambda text: f"written-{text}") | VALUES,
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "tags": st.lists(TEXTS.map(lambda text: f"written-{text}")) | VALUES,
                "nbgrader": st.fixed_dictionaries(
                    {"grade": st.just(True), "solution": st.just(True), "grade_id": VALUES}
                ),
            },
        )
        | VALUES,
    },
)
BOOKS = st.one_of(
    st.lists(CELLS, max_size=4).map(lambda own: book(*own)),
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries({"nbformat": VALUES, "cells": VALUES}).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=50),
)
NAMES = st.sampled_from(
    [
        "01_lookup.ipynb",
        "01_lookup.html",
        "01_lookup.IPYNB",
        "answers.7z",
        "x_12345_assignsubmission_file_01_lookup.ipynb",
        "aa_honest_12345_67890_01_lookup.ipynb",
        "aa_honest/01_lookup.ipynb",
        "../aa_honest/01_lookup.ipynb",
        f"{LETTERS}.ipynb",
        "timestamp.txt",
        "a/b/c/d/e/f/g/h/i/j/01_lookup.ipynb",
    ]
) | st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40).map(
    lambda name: f"{name}.ipynb"
)
FOLDERS = st.sampled_from(
    ["eve", LETTERS, "=1+1", "\x1b[2J", "eve\n### x", "CON", "aa_honest ", "eve_12345_LATE"]
) | st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40)


def graded(folder: Path) -> Path:
    """Grade the submissions in a folder, and return the folder with the results."""
    out = folder.parent / "out"
    with mock.patch("transformer_course.grading.grade.Worker", lambda *_: FakeWorker()):
        grade([folder], out, run=RunOptions(seed=7))
    return out


def rows(out: Path) -> dict[str, dict[str, str]]:
    text = (out / "gradebook.csv").read_bytes().decode()
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)}


def check_class(put: Callable[[Path], None]) -> dict[str, dict[str, str]]:
    """Grade two honest students and the files that ``put`` writes, and return the rows without the honest students."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "class")
        for student in HONEST:
            write_notebook(folder / student / "01_lookup.ipynb", cells({}))
        put(folder)
        out = graded(folder)
        other_rows = rows(out)
        honest = [other_rows.pop(student) for student in HONEST]
        assert {row["points"] for row in honest} == {honest[0]["of"]} and {row["status"] for row in honest} == {
            "graded"
        }
        results = read_results(out)
        (out / "export.csv").write_text("Student,ID\naa_honest,1\n")
        described = merge_into_canvas(out / "export.csv", results)
        (out / "canvas.csv").write_bytes(described.content)
        assert canvas_feedback(results.students)
        for path in out.rglob("*"):
            if path.is_file() and path.suffix in (".csv", ".html", ".json", ".md"):
                text = path.read_bytes().decode()
                assert not UNSAFE_CHARACTERS.search(text.replace("\r\n", "\n")), path.name
                for row in csv.reader(io.StringIO(text, newline="")) if path.suffix == ".csv" else ():
                    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row), row
                assert "<script" not in text and "<h3>zz_honest (10" not in text
        return other_rows


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    folder=FOLDERS.filter(lambda name: not name.startswith(".")),
    name=NAMES,
    content=BOOKS,
    is_zip=st.booleans(),
)
@example("eve", "01_lookup.ipynb", book(markdown(UNPAIRED_SURROGATE, id="written-why")), False)
@example("__eve", "__01_lookup.ipynb", book(), True)
@example("__eve__", "__init__.py", b"", False)
@example("eve", "01_lookup.ipynb", book(markdown("So.", id=f"written-{UNPAIRED_SURROGATE}")), False)
@example("eve", "01_lookup.ipynb", book(code(f'def softmax(x): 1\nfrom "{UNPAIRED_SURROGATE}" import softmax')), False)
@example(LETTERS, "01_lookup.ipynb", book(), False)
@example("eve", "01_lookup.ipynb", book(markdown("\x1b=1+1\ra", id='written-=HYPERLINK("x")')), True)
@example("eve", "01_lookup.ipynb", book(markdown("So.", id="written-a\n### zz_honest (10 of 10)")), True)
def test_every_submission_adds_a_row_for_its_student(folder: str, name: str, content: bytes, is_zip: bool):
    def put(into: Path) -> None:
        try:
            if is_zip:
                (into / f"{folder}.zip").write_bytes(zipped({name: content}))
            elif ".." not in name:
                (into / folder / name).parent.mkdir(parents=True, exist_ok=True)
                (into / folder / name).write_bytes(content)
            else:
                (into / folder).mkdir(exist_ok=True)
        except (OSError, UnicodeEncodeError, ValueError):  # the file system does not support the name
            (into / "eve").mkdir(exist_ok=True)

    assert len(check_class(put)) == 1


def submit(**files: bytes) -> dict[str, dict[str, str]]:
    def put(into: Path) -> None:
        for name, content in files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(content)

    return check_class(put)


def test_zip_with_too_many_notebooks_affects_one_student():
    [(student, row)] = submit(**{"eve.zip": zipped({f"{n}_01_lookup.ipynb": book() for n in range(51)})}).items()
    assert student == "eve" and row["status"] == "graded in part"
    assert "This folder has 51 notebooks; only the first 50 were read." in row["remarks"]


def test_reports_too_many_written_answers():
    own = [markdown("a", id=f"written-{n}") for n in range(101)]
    [row] = submit(**{"eve/01_lookup.ipynb": book(*own)}).values()
    assert "has 101 written answers; the limit is 100" in row["remarks"]


def test_row_explains_a_grading_failure():
    original = FakeWorker.assess

    def failing(worker: FakeWorker, task: Task) -> GradedExercise:
        if task.submission.student == "eve":
            raise LookupError(UNPAIRED_SURROGATE)
        return replace(original(worker, task))

    with mock.patch.object(FakeWorker, "assess", failing):
        [row] = submit(**{"eve/01_lookup.ipynb": book()}).values()
    assert "The grader failed on this notebook (LookupError), so it was not graded." in row["remarks"]
