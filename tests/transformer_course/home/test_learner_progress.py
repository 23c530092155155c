"""Tests for reading the learner's progress, including folders with invalid files."""

import shutil

import pytest

from tests.transformer_course.home.sample_folders import HOURS
from transformer_course.workspace.progress import FILE


def lesson(folder, name):
    return next(each for each in folder.home().lessons if each.outline.name == name)


def test_new_folder_has_no_progress(folder):
    home = folder.home()
    assert (home.next_lesson, home.problems) == (None, [])
    assert [each.minutes_left for each in home.lessons] == [30, 50, 35]
    assert not any(each.is_started or each.is_finished for each in home.lessons)


def test_minutes_left_count_remaining_text_and_open_exercises(folder):
    folder.record("one", at=HOURS)
    assert lesson(folder, "00_first").minutes_left == 15 + 20
    folder.record("three", at=HOURS)  # before exercise two
    assert lesson(folder, "00_first").passed == ("one", "three")
    assert lesson(folder, "00_first").minutes_left == 5 + 10
    folder.record("two", at=HOURS)
    assert lesson(folder, "00_first").minutes_left == 0


def test_lesson_is_finished_after_core_or_last_cell(folder):
    folder.record("one", at=HOURS)
    folder.record("two", at=HOURS)
    assert lesson(folder, "00_first").is_finished
    folder.copy("primer", executed=("a",))
    assert (lesson(folder, "primer").is_finished, lesson(folder, "primer").minutes_left) == (False, 20)
    folder.copy("primer", executed=("a", "b"))
    assert (lesson(folder, "primer").is_finished, lesson(folder, "primer").minutes_left) == (True, 0)


def test_exercise_passes_by_record_or_saved_part(folder):
    folder.record("one", at=HOURS)
    folder.save("00_first", "two", "no_exercise")
    assert (lesson(folder, "00_first").passed, lesson(folder, "00_first").saved) == (("one", "two"), ("two",))
    shutil.rmtree(folder.parts)
    assert (lesson(folder, "00_first").passed, lesson(folder, "00_first").saved) == (("one",), ())
    assert folder.home().problems == []


def test_resumes_the_lesson_worked_on_last(folder):
    folder.copy("primer", executed=("a",), at=1 * HOURS)
    assert folder.home().next_lesson.outline.name == "primer"
    folder.copy("01_second", executed=("four",), at=2 * HOURS)
    assert folder.home().next_lesson.outline.name == "01_second"
    folder.record("one", at=3 * HOURS)
    assert folder.home().next_lesson.outline.name == "00_first"


def test_next_lesson_is_unfinished_and_wraps_around(folder):
    folder.record("one", at=1 * HOURS)
    folder.record("two", at=1 * HOURS)
    assert folder.home().next_lesson.outline.name == "01_second"
    folder.record("four", at=2 * HOURS)
    assert folder.home().next_lesson.outline.name == "primer"
    folder.copy("primer", executed=("a", "b"), at=3 * HOURS)
    assert folder.home().next_lesson is None


def test_saved_part_alone_does_not_start_a_lesson(folder):
    folder.save("00_first", "one")
    assert folder.home().next_lesson is None
    assert lesson(folder, "00_first").passed == ("one",)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cells": 3}', '{"cells": [3]}', '{"cells": [{"execution_count": 1}]}']
)
def test_reports_invalid_copy_and_reads_remaining_copies(folder, text):
    folder.record("four", at=HOURS)
    (folder.path / "00_first.ipynb").write_text(text)
    home = folder.home()
    assert home.problems == ["00_first.ipynb cannot be read as a notebook"]
    assert home.lessons[2].passed == ("four",)


def test_reports_unreadable_parts_and_records(folder):
    (folder.path / FILE).mkdir()
    (folder.parts / "00_first.py").mkdir(parents=True)
    assert folder.home().problems == [
        f"{FILE} cannot be read: Is a directory",
        f"{folder.parts / '00_first.py'} cannot be read: Is a directory",
    ]


def test_rereads_a_copy_only_after_a_change(folder, monkeypatch):
    folder.copy("primer", executed=("a",), at=HOURS)
    assert lesson(folder, "primer").executed == {"a"}
    monkeypatch.setattr("transformer_course.home.learner_progress.json", None)
    assert lesson(folder, "primer").executed == {"a"}
    monkeypatch.undo()
    folder.copy("primer", executed=("a", "b"), at=2 * HOURS)
    assert lesson(folder, "primer").executed == {"a", "b"}
