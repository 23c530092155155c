"""Tests for the corpus of docstrings from Python's standard library."""

import re
from pathlib import Path

import pytest

from transformer_lab.data.docstrings import HOLD_OUT_EVERY, docstrings_of, python_docstrings

SOURCE = '''
"""Of the module."""

async def first():
    """Of a coroutine.

    Two paragraphs.
    """
    def inner():
        """Of what is inside."""

class A:
    """Of a class."""
    def method(self): "Of a method."
    silent = "no docstring"
'''


def write(folder: Path, n_modules: int) -> None:
    for i in range(1, n_modules + 1):
        (folder / f"m{i:03}.py").write_text(f'"""Module {i}."""\ndef f():\n    "The same everywhere."')


def test_docstrings_are_in_source_order():
    found = list(docstrings_of(SOURCE))
    ends = ["module.", "Two paragraphs.", "inside.", "class.", "method."]
    assert [text.endswith(end) for text, end in zip(found, ends, strict=True)] == [True] * 5


def numbers(texts: list[str]) -> list[int]:
    return [int(re.findall(r"\d+", text)[0]) for text in texts]


def test_holds_out_about_one_module_in_ten(tmp_path: Path):
    write(tmp_path, 50 * HOLD_OUT_EVERY)
    train, held_out = python_docstrings(tmp_path)
    assert 35 < len(held_out) < 65
    assert sorted(numbers(train) + numbers(held_out)) == list(range(1, 50 * HOLD_OUT_EVERY + 1))


def test_adding_a_module_preserves_the_existing_split(tmp_path: Path):
    write(tmp_path, 50)
    train, held_out = python_docstrings(tmp_path)
    (tmp_path / "m000_of_a_distribution.py").write_text('"""Module 0."""')
    more_train, more_held_out = python_docstrings(tmp_path)
    assert [numbers(texts) for texts in (train, held_out)] == [
        [i for i in numbers(texts) if i] for texts in (more_train, more_held_out)
    ]


def test_drops_duplicates_and_modules_without_docstrings(tmp_path: Path):
    write(tmp_path, 3)
    (tmp_path / "a.py").write_text("x = 1")
    train, held_out = python_docstrings(tmp_path)
    assert train == ["Module 1.\n\nThe same everywhere.", "Module 2.", "Module 3."]
    assert held_out == []


def test_installed_python_has_enough_docstrings_without_leaks():
    train, held_out = python_docstrings()
    assert sum(map(len, train)) > 400_000
    assert sum(map(len, held_out)) > 20_000
    learned = {paragraph for text in train for paragraph in text.split("\n\n") if len(paragraph) > 200}
    shared = [p for text in held_out for p in text.split("\n\n") if p in learned]
    assert len(shared) < 10


def test_rejects_a_folder_without_docstrings(tmp_path: Path):
    with pytest.raises(ValueError, match=re.escape(f"no module in {tmp_path} has docstrings")):
        python_docstrings(tmp_path)
