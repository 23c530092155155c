import json
from pathlib import Path

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.grading.reports.handout import stub, write_handout
from transformer_course.grading.rules.own_exercises import OwnExercises


def test_notebook_contains_questions_without_answers(own_file: Path, tmp_path: Path):
    own = OwnExercises.read(own_file)
    write_handout(own, tmp_path / "out")
    text = (tmp_path / "out" / "week_3.ipynb").read_text("utf-8")
    assert "secret" not in text and "draw" not in text and "One mean" not in text
    sources = {cell["id"]: "".join(cell["source"]) for cell in json.loads(text)["cells"]}
    assert sources["about-centered"] == "## `centered` (3 points)"
    names: dict[str, object] = {}
    for name in ("imports", "centered", "Shift"):
        exec(sources[name], names)
    centered = names["centered"]
    assert callable(centered) and centered.__doc__ == "Subtract from each row its mean."
    with pytest.raises(NotImplementedError):
        centered(3)
    write_handout(own, tmp_path / "out")
    (tmp_path / "out" / "week_3.ipynb").write_text("mine")
    with pytest.raises(ValueError, match="already exists with different content"):
        write_handout(own, tmp_path / "out")


def test_summary_uses_singular_for_one_exercise(own_file: Path, tmp_path: Path):
    own_file.write_text(f"{own_file.read_text()}\ndel EXERCISES[1:]\n")
    message = write_handout(OwnExercises.read(own_file), tmp_path / "out")
    assert message == "week_3: wrote a notebook with 1 exercise, without answers or checks"


def test_class_stub_keeps_method_signatures():
    assert stub(every_exercise()["FeedForward"]).count("raise NotImplementedError") == 2
