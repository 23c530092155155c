"""Tests that a lesson shows stored outputs and continues to run if its model is not available."""

import json

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from transformer_course.published_models import in_lesson
from transformer_course.published_models.in_lesson import names_bound, published_in_lesson

LOADING_CELL = "folder = published_in_lesson('smollm2', '77_test')"
MODEL_CELL = "chat = load(folder)\nchat.answer('Hello')"


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Create a lesson whose second cell needs the model, and a shell to run it in."""
    outputs = [
        nbformat.v4.new_output("stream", text="Loaded.\n"),
        nbformat.v4.new_output("execute_result", {"text/plain": "'Hi there!'"}, execution_count=2),
    ]
    tags = {"tags": ["published-model"]}
    cells = [
        nbformat.v4.new_code_cell("x = 1"),
        nbformat.v4.new_code_cell(LOADING_CELL, metadata=tags),
        nbformat.v4.new_code_cell(MODEL_CELL, outputs=outputs, metadata=tags),
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    (tmp_path / "77_test.ipynb").write_text(nbformat.writes(book), encoding="utf-8")
    monkeypatch.setattr(in_lesson, "published_lessons", lambda: tmp_path)
    monkeypatch.setattr(in_lesson, "published", unreachable)
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def unreachable(name):
    raise ConnectionError("there is no network")


def run(shell, source):
    with capture_output() as captured:
        result = shell.run_cell(source)
    result.raise_error()
    return captured.stdout, [output.data["text/plain"] for output in captured.outputs]


def test_cells_show_stored_outputs_without_model(lesson, capsys):
    assert published_in_lesson("smollm2", "77_test") is None
    assert "SmolLM2-135M-Instruct by Hugging Face is not available: there is no network" in capsys.readouterr().out
    assert run(lesson, MODEL_CELL) == ("Loaded.\n", ["'Hi there!'"])
    assert run(lesson, "y = 2\nprint(y)") == ("2\n", [])
    lesson.user_ns["published_in_lesson"] = published_in_lesson
    printed, results = run(lesson, LOADING_CELL)
    assert "there is no network" in printed, "the cell that loads the model must run again"
    assert results == []


def test_edited_cell_reports_missing_model(lesson):
    published_in_lesson("smollm2", "77_test")
    printed, _ = run(lesson, "chat.answer('Who are you?')")
    assert printed.startswith("This cell needs the model. SmolLM2-135M-Instruct by Hugging Face is not available")


def test_cells_run_after_model_becomes_available(lesson, monkeypatch, tmp_path):
    published_in_lesson("smollm2", "77_test")
    monkeypatch.setattr(in_lesson, "published", lambda name: tmp_path)
    assert published_in_lesson("smollm2", "77_test") == tmp_path
    lesson.user_ns |= {"load": lambda folder: json, "folder": tmp_path}
    with pytest.raises(AttributeError, match="answer"):
        run(lesson, MODEL_CELL)


def test_raises_error_outside_notebook(lesson, monkeypatch):
    monkeypatch.setattr(in_lesson, "_shell", lambda: None)
    with pytest.raises(OSError, match="no network"):
        published_in_lesson("smollm2", "77_test")


@pytest.mark.parametrize(
    ("source", "bound"),
    [
        ("a, b = 1, 2", {"a", "b"}),
        ("for c in range(3):\n    d = c\n_ = 1", {"c", "d"}),
        ("def f(x):\n    y = x\nz = [w for w in range(3)]", {"f", "z"}),
        ("with open(x) as g:\n    pass", {"g"}),
        ("%%time\n%", set()),
    ],
)
def test_finds_all_names_bound_at_module_level(source, bound):
    assert names_bound(source) == bound
