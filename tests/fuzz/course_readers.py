"""Define readers for files that the course writes: class results, and learners' progress and saved parts."""

import os
from pathlib import Path
from unittest.mock import patch

from tests.fuzz.damage import JSON, TEXT
from tests.fuzz.readers import Reader
from tests.transformer_course.grading.sample_results import write_results
from transformer_course.grading.reports.class_report import rewrite_report
from transformer_course.running.parts import Parts
from transformer_course.workspace.progress import Prediction, read_progress, record_pass, record_prediction
from transformer_course.workspace.saved_parts import load_parts

PASSED = ("softmax", "similarity")
RECORD = "students/ada.json"


def _results(folder: Path) -> None:
    write_results(folder, {"ada": 2, "grace": 6})
    [record] = (folder / "students").glob("ada-*.json")
    record.rename(folder / RECORD)


def _tables(folder: Path) -> object:
    rewrite_report(folder)
    return [(folder / name).read_text("utf-8") for name in ("gradebook.csv", "class.html")]


def _passes(folder: Path) -> None:
    for exercise in PASSED:
        record_pass(folder, exercise)
    record_prediction(folder, Prediction("why:1", "right", 0.8, "4", "4"))


def _record_another_pass(folder: Path) -> object:
    before = read_progress(folder)
    record_pass(folder, "attention")
    assert "attention" in read_progress(folder).passed
    return before.problems, sorted(before.passed), sorted(before.predictions)


def _parts(folder: Path) -> None:
    sections = (f"# %% {name}\ndef {name}(x):\n    return x.{name}(dim=-1)\n\n\n" for name in PASSED)
    (folder / "01_lookup.py").write_text("# Your own parts.\n\n" + "".join(sections))


def _loaded(folder: Path) -> object:
    parts = Parts(lambda name: {name: None}[name])
    with patch.dict(os.environ, TRANSFORMER_LAB_PARTS=str(folder)):
        load_parts(parts)
    return [callable(getattr(parts, name)) for name in PASSED]


COURSE_READERS = {
    "settings of a grading": Reader(_results, "settings.json", _tables, JSON),
    "record of a student": Reader(_results, RECORD, _tables, JSON),
    "progress.jsonl": Reader(_passes, "progress.jsonl", _record_another_pass, TEXT),
    "saved parts": Reader(_parts, "01_lookup.py", _loaded, TEXT),
}
