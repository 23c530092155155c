"""What the learner has done, as the home page sees it; nothing in the folder is ever fatal."""

import shutil

import pytest

from tests.transformer_course.home.sample_folders import HOURS
from transformer_course.workspace.progress import FILE


def lesson(folder, name):
    return next(one for one in folder.home().lessons if one.outline.name == name)


def test_in_a_new_folder_nothing_is_begun_and_everything_is_left(folder):
    home = folder.home()
    assert (home.next_lesson, home.problems) == (None, [])
    assert [one.minutes_left for one in home.lessons] == [30, 50, 35]
    assert not any(one.is_begun or one.is_finished for one in home.lessons)


def test_minutes_left_are_the_text_after_the_last_pass_and_the_exercises_that_are_open(folder):
    folder.record("one", at=HOURS)
    assert lesson(folder, "00_first").minutes_left == 15 + 20
    folder.record("three", at=HOURS)  # out of turn
    assert lesson(folder, "00_first").passed == ("one", "three")
    assert lesson(folder, "00_first").minutes_left == 5 + 10
    folder.record("two", at=HOURS)
    assert lesson(folder, "00_first").minutes_left == 0


def test_a_lesson_is_finished_with_its_core_and_one_without_exercises_at_its_end(folder):
    folder.record("one", at=HOURS)
    folder.record("two", at=HOURS)
    assert lesson(folder, "00_first").is_finished
    folder.copy("primer", executed=("a",))
    assert (lesson(folder, "primer").is_finished, lesson(folder, "primer").minutes_left) == (False, 20)
    folder.copy("primer", executed=("a", "b"))
    assert (lesson(folder, "primer").is_finished, lesson(folder, "primer").minutes_left) == (True, 0)


def test_a_pass_counts_by_its_record_or_by_its_part(folder):
    folder.record("one", at=HOURS)
    folder.save("00_first", "two", "no_exercise")
    assert (lesson(folder, "00_first").passed, lesson(folder, "00_first").saved) == (("one", "two"), ("two",))
    shutil.rmtree(folder.parts)
    assert (lesson(folder, "00_first").passed, lesson(folder, "00_first").saved) == (("one",), ())
    assert folder.home().problems == []


def test_one_goes_on_where_one_was_last(folder):
    folder.copy("primer", executed=("a",), at=1 * HOURS)
    assert folder.home().next_lesson.outline.name == "primer"
    folder.copy("01_second", executed=("four",), at=2 * HOURS)
    assert folder.home().next_lesson.outline.name == "01_second"
    folder.record("one", at=3 * HOURS)
    assert folder.home().next_lesson.outline.name == "00_first"


def test_after_a_lesson_that_is_finished_comes_the_next_that_is_not_and_after_the_last_what_was_skipped(folder):
    folder.record("one", at=1 * HOURS)
    folder.record("two", at=1 * HOURS)
    assert folder.home().next_lesson.outline.name == "01_second"
    folder.record("four", at=2 * HOURS)
    assert folder.home().next_lesson.outline.name == "primer"
    folder.copy("primer", executed=("a", "b"), at=3 * HOURS)
    assert folder.home().next_lesson is None


def test_parts_without_a_record_do_not_tell_where_one_was(folder):
    folder.save("00_first", "one")
    assert folder.home().next_lesson is None
    assert lesson(folder, "00_first").passed == ("one",)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cells": 3}', '{"cells": [3]}', '{"cells": [{"execution_count": 1}]}']
)
def test_a_copy_that_is_no_notebook_is_told_and_the_rest_is_read(folder, text):
    folder.record("four", at=HOURS)
    (folder.path / "00_first.ipynb").write_text(text)
    home = folder.home()
    assert home.problems == ["00_first.ipynb cannot be read as a notebook"]
    assert home.lessons[2].passed == ("four",)


def test_parts_and_records_that_cannot_be_read_are_told(folder):
    (folder.path / FILE).mkdir()
    (folder.parts / "00_first.py").mkdir(parents=True)
    assert folder.home().problems == [
        f"{FILE} cannot be read: Is a directory",
        f"{folder.parts / '00_first.py'} cannot be read: Is a directory",
    ]


def test_a_copy_is_read_again_only_when_it_has_changed(folder, monkeypatch):
    folder.copy("primer", executed=("a",), at=HOURS)
    assert lesson(folder, "primer").executed == {"a"}
    monkeypatch.setattr("transformer_course.home.learner_progress.json", None)
    assert lesson(folder, "primer").executed == {"a"}
    monkeypatch.undo()
    folder.copy("primer", executed=("a", "b"), at=2 * HOURS)
    assert lesson(folder, "primer").executed == {"a", "b"}
