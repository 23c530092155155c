"""Tests for writing the notebook for a practice session."""

import shutil
from datetime import UTC, datetime

import nbformat
import pytest

from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.incoming.notebook_cells import NOTHING_TO_GRADE
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.lesson_folder import published_lessons
from transformer_course.practice.material import read_material
from transformer_course.practice.practice_notebook import write_practice
from transformer_course.practice.selection import Selection, select_lessons
from transformer_course.workspace.progress import Progress

NOON = datetime(2026, 3, 12, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def selection():
    material = read_material(published_lessons())
    return Selection([each for each in material.exercises if each.name in ("softmax", "GRU")], material.questions[:2])


def test_writes_valid_notebook_named_by_date(tmp_path, selection):
    paths = [write_practice(selection, tmp_path, NOON, 20) for _ in range(3)]
    assert [path.name for path in paths] == ["2026-03-12.ipynb", "2026-03-12 (2).ipynb", "2026-03-12 (3).ipynb"]
    book = nbformat.read(paths[0], as_version=4)
    nbformat.validate(book)
    assert book.cells[0].source.startswith("# Practice, March 12: ")
    assert "begin(1, minutes=20)" in book.cells[1].source


def test_stubs_contain_no_answers(tmp_path, selection):
    book = nbformat.read(write_practice(selection, tmp_path, NOON), as_version=4)
    sources = {cell.id: cell.source for cell in book.cells}
    assert sources["practice-softmax"].endswith("raise NotImplementedError")
    assert sources["practice-check-softmax"] == "check(softmax)"


def test_every_solution_passes_in_practice_notebook(tmp_path, learner_folder, session):
    material = read_material(published_lessons())
    book = nbformat.read(write_practice(Selection(material.exercises, ()), tmp_path, NOON), as_version=4)
    scope = {"__name__": "__main__"}
    for cell in (cell for cell in book.cells if cell.cell_type == "code" and cell.id != "score"):
        name = cell.id.removeprefix("practice-").removeprefix("check-")
        if cell.id.startswith("practice-check-"):
            assert eval(cell.source, scope).passed, name
            assert session.parts.whose(name) == "the library's"
        else:
            exec(cell.source, scope)
            exec(every_exercise()[name].solution if name in every_exercise() else "", scope)


def test_grader_ignores_practice_notebooks(tmp_path, selection):
    path = write_practice(selection, tmp_path / "ada", NOON)
    [submission] = find_submissions([path.rename(tmp_path / "01_lookup.ipynb")])
    assert submission.problem == NOTHING_TO_GRADE


@pytest.mark.parametrize("name", ["practice_bank.ipynb", "homework.ipynb"])
def test_grader_ignores_practice_bank_under_any_name(tmp_path, name):
    shutil.copy(published_lessons() / "practice_bank.ipynb", tmp_path / name)
    [submission] = find_submissions([tmp_path / name])
    assert submission.problem == NOTHING_TO_GRADE


def test_links_to_practice_bank_exercises(tmp_path):
    material = read_material(published_lessons())
    selection = select_lessons(material, Progress(), NOON, ["practice_bank"], n_exercises=100)
    assert {each.name for each in selection.exercises} == {each.name for each in exercises_of("practice_bank")}
    assert not selection.questions
    book = nbformat.read(write_practice(selection, tmp_path, NOON), as_version=4)
    [text] = [cell.source for cell in book.cells if cell.id == "practice-text-gelu"]
    assert text.endswith("[In the practice bank](../practice_bank.ipynb#cell-id=gelu)")
