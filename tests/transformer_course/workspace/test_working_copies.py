"""Tests that working copies contain no outputs, and that the learner's work is never overwritten."""

from datetime import date

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from transformer_course.workspace import working_copies
from transformer_course.workspace.working_copies import EDITIONS_FILE, copy_lessons, reset_lesson

NAME, NEW, NEWER = "01_lookup.ipynb", "01_lookup (new edition).ipynb", "01_lookup (new edition 2).ipynb"


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    publish(folder, "1 + 1", "2")
    return folder


@pytest.fixture
def mine(tmp_path):
    return tmp_path / "deep" / "my-lessons"


def publish(folder, code, result, name=NAME):
    cell = new_code_cell(code, id="sum", metadata={"tags": ["exercise"]}, execution_count=1)
    cell.outputs = [new_output("execute_result", data={"text/plain": result}, execution_count=1)]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Lookup", id="title"), cell]), folder / name)


def cells(path):
    return nbformat.read(path, as_version=4).cells


def code(path):
    return cells(path)[1].source


def work_on(path, source=None, output=None):
    book = nbformat.read(path, as_version=4)
    book.cells[1].source = source or book.cells[1].source
    if output:
        book.cells[1].outputs = [new_output("stream", text=output)]
    nbformat.write(book, path)


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != EDITIONS_FILE)


def test_omits_colab_cell_without_changing_the_edition(published, mine):
    copy_lessons(published, mine)
    without = (mine / NAME).read_bytes()
    book = nbformat.read(published / NAME, as_version=4)
    book.cells.insert(1, new_code_cell("pip()", id=working_copies.COLAB))
    nbformat.write(book, published / NAME)
    nbformat.write(book, mine / NAME)  # as an earlier release would have copied it
    assert copy_lessons(published, mine) == [] and names(mine) == [NAME]
    (mine / NAME).unlink()
    copy_lessons(published, mine)
    assert (mine / NAME).read_bytes() == without


def test_writes_nothing_if_everything_exists(published, mine):
    copy_lessons(published, mine)
    written = (mine / EDITIONS_FILE).stat().st_mtime_ns
    copy_lessons(published, mine)
    assert (mine / EDITIONS_FILE).stat().st_mtime_ns == written


def test_copy_contains_everything_except_outputs(published, mine):
    assert copy_lessons(published, mine) == []
    title, exercise = cells(mine / NAME)
    assert title.source == "# Lookup"
    assert (exercise.id, exercise.source, exercise.metadata) == ("sum", "1 + 1", {"tags": ["exercise"]})
    assert (exercise.outputs, exercise.execution_count) == ([], None)


def test_published_lesson_keeps_its_outputs(published, mine):
    before = (published / NAME).read_bytes()
    copy_lessons(published, mine)
    assert (published / NAME).read_bytes() == before


def test_never_overwrites_learner_work(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine", output="mine too")
    before = (mine / NAME).read_bytes()
    for version in ("1 + 1", "2 + 2", "3 + 3"):
        publish(published, version, "?")
        copy_lessons(published, mine)
    assert (mine / NAME).read_bytes() == before


def test_saves_newer_edition_once_next_to_the_copy(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine")
    publish(published, "2 + 2", "4")
    assert copy_lessons(published, mine) == [
        "01_lookup.ipynb: your copy is unchanged. A newer edition is next to it: 01_lookup (new edition).ipynb."
    ]
    assert (code(mine / NAME), code(mine / NEW)) == ("mine", "2 + 2")
    (mine / NEW).unlink()
    assert copy_lessons(published, mine) == []
    assert names(mine) == [NAME]


def test_two_newer_editions_get_different_names(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine")
    for version in ("2 + 2", "3 + 3"):
        publish(published, version, "?")
        copy_lessons(published, mine)
        work_on(mine / NEW, "mine as well")
    assert names(mine) == [NEWER, NEW, NAME]
    assert [code(mine / name) for name in (NAME, NEW, NEWER)] == ["mine", "mine as well", "3 + 3"]


def test_does_not_overwrite_a_file_named_new_edition(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine")
    (mine / NEW).write_text("notes")
    publish(published, "2 + 2", "4")
    copy_lessons(published, mine)
    assert (mine / NEW).read_text() == "notes"
    assert code(mine / NEWER) == "2 + 2"


def test_outputs_count_as_work_even_with_unchanged_code(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, output="an output")
    publish(published, "2 + 2", "4")
    copy_lessons(published, mine)
    assert (code(mine / NAME), code(mine / NEW)) == ("1 + 1", "2 + 2")


def test_updates_a_copy_that_was_never_started(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME)  # simulate opening and saving the copy
    publish(published, "2 + 2", "4")
    assert copy_lessons(published, mine) == [
        "01_lookup.ipynb: replaced by a newer edition, because you had not started this lesson."
    ]
    assert names(mine) == [NAME]
    assert code(mine / NAME) == "2 + 2"


def test_new_outputs_do_not_make_a_new_edition(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine")
    publish(published, "1 + 1", "2.0")
    assert copy_lessons(published, mine) == []
    assert names(mine) == [NAME]


def test_restores_deleted_lessons_and_adds_new_ones(published, mine):
    copy_lessons(published, mine)
    (mine / NAME).unlink()
    publish(published, "3 + 3", "6", name="02_scaling.ipynb")
    copy_lessons(published, mine)
    assert names(mine) == [NAME, "02_scaling.ipynb"]


@pytest.mark.parametrize("record", [None, "", "{", "[]", '{"01_lookup.ipynb": 3}'])
def test_invalid_record_repeats_an_edition_only_once(published, mine, record):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine")
    (mine / EDITIONS_FILE).unlink()
    if record is not None:
        (mine / EDITIONS_FILE).write_text(record)
    copy_lessons(published, mine)
    assert copy_lessons(published, mine) == []
    assert names(mine) == [NEW, NAME]
    assert code(mine / NAME) == "mine"


def test_recognizes_current_edition_without_a_record(published, mine):
    copy_lessons(published, mine)
    work_on(mine / NAME, output="an output")
    (mine / EDITIONS_FILE).unlink()
    assert copy_lessons(published, mine) == []
    assert names(mine) == [NAME]


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"nbformat": 4, "nbformat_minor": 5, "cells": 3}'])
@pytest.mark.parametrize("recorded", [True, False])
def test_never_overwrites_a_corrupted_copy(published, mine, damaged, recorded):
    copy_lessons(published, mine)
    (mine / NAME).write_text(damaged)
    if not recorded:
        (mine / EDITIONS_FILE).unlink()
    publish(published, "2 + 2", "4")
    copy_lessons(published, mine)
    assert (mine / NAME).read_text() == damaged
    assert code(mine / NEW) == "2 + 2"


def test_rejects_published_lesson_that_is_not_a_notebook(published, mine):
    for text in ("<<<<<<< HEAD", "[]", '{"worksheets": []}'):
        (published / NAME).write_text(text)
        with pytest.raises(ValueError, match=r"01_lookup\.ipynb is not a notebook"):
            copy_lessons(published, mine)


def test_writes_a_copy_in_jupyter_format(published, mine):
    copy_lessons(published, mine)
    assert (mine / NAME).read_text() == nbformat.writes(nbformat.read(mine / NAME, as_version=4))


def test_copy_contains_kernel_language_metadata(published, mine):
    copy_lessons(published, mine)
    assert nbformat.read(mine / NAME, as_version=4).metadata.language_info == IPythonKernel.language_info


TODAY = date(2026, 3, 1)
DATED = ["01_lookup (2026-03-01).ipynb", "01_lookup (2026-03-01 2).ipynb"]


def test_reset_keeps_every_copy_under_a_dated_name(published, mine):
    copy_lessons(published, mine)
    for i, kept in enumerate(DATED):
        work_on(mine / NAME, f"mine = {i}", "an output")
        written = (mine / NAME).read_bytes()
        assert reset_lesson(published, mine, "01_lookup", TODAY) == mine / kept
        assert (mine / kept).read_bytes() == written
        assert (code(mine / NAME), cells(mine / NAME)[1].outputs) == ("1 + 1", [])
    assert copy_lessons(published, mine) == []
    assert names(mine) == sorted([NAME, *DATED])


def test_reset_restores_a_deleted_lesson(published, mine):
    copy_lessons(published, mine)
    (mine / NAME).unlink()
    assert reset_lesson(published, mine, "01_lookup", TODAY) is None
    assert names(mine) == [NAME]


def test_reset_rejects_an_unknown_lesson(published, mine):
    copy_lessons(published, mine)
    with pytest.raises(ValueError, match="there is no lesson '02_scaling'"):
        reset_lesson(published, mine, "02_scaling", TODAY)
    assert names(mine) == [NAME]


def test_failed_reset_preserves_the_copy(published, mine, monkeypatch):
    copy_lessons(published, mine)
    work_on(mine / NAME, "mine")
    (published / NAME).write_text("no notebook")
    with pytest.raises(ValueError, match="is not a notebook"):
        reset_lesson(published, mine, "01_lookup", TODAY)
    publish(published, "1 + 1", "2")

    def disk_full(path, text):
        raise OSError("No space left on device")

    monkeypatch.setattr(working_copies, "atomic_write_text", disk_full)
    with pytest.raises(OSError, match="No space"):
        reset_lesson(published, mine, "01_lookup", TODAY)
    assert (names(mine), code(mine / NAME)) == ([NAME], "mine")
