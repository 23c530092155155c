"""Tests that the home page is complete and suggests the learner's next step."""

import re
from html.parser import HTMLParser

import pytest

from tests.transformer_course.home.sample_folders import BANK, HOURS, OUTLINES
from transformer_course.exercises import LESSONS
from transformer_course.home import home_page
from transformer_course.home.learner_progress import Home, LessonState, read_home
from transformer_course.home.lesson_outline import Outline
from transformer_course.workspace.progress import FILE, Prediction, record_prediction

pytestmark = pytest.mark.usefixtures("small_map")


def html(folder) -> str:
    return home_page.home_page(folder.home(), "/base/", "/base/transformer-course/")


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def attributes(html: str, key: str) -> dict[str, str]:
    """Return the attributes of the element with this ID."""
    found = {}

    class Finder(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if dict(attrs).get("id") == key:
                found.update(attrs)

    Finder().feed(html)
    return found


def test_shows_newcomers_where_to_start(folder):
    displayed = html(folder)
    assert "Begin with lesson 00 or, if you are new to PyTorch, with the primer ." in text(displayed)
    assert attributes(displayed, "tl-go-on")["data-path"] == "00_first.ipynb"
    assert attributes(displayed, "tl-go-on")["href"] == "/base/lab/tree/00_first.ipynb"
    assert "None yet." in displayed
    assert "0 of 4 exercises passed." in displayed


def test_resumes_at_the_last_exercise_that_passed(folder):
    folder.record("one", at=HOURS)
    folder.save("00_first", "one")
    displayed = html(folder)
    assert "Continue: 00 A first lesson The next exercise is two ." in text(displayed)
    assert attributes(displayed, "tl-go-on")["data-cell"] == "check-one"
    assert attributes(displayed, "tl-map-00_first")["aria-label"] == "Lesson 00, A first lesson: you are here"
    assert attributes(displayed, "tl-map-01_second")["aria-label"] == "Lesson 01, A second lesson: to come"
    assert attributes(displayed, "tl-part-00_first")["data-path"] == "parts/00_first.py"
    assert "1 of 2 0 of 1 35" in text(displayed)


def test_resumes_at_last_executed_cell_before_open_exercise(folder):
    folder.copy("00_first", executed=("a", "two", "three"), at=HOURS)
    assert attributes(html(folder), "tl-go-on")["data-cell"] == "a"
    folder.copy("00_first", executed=("a", "one", "between", "three"), at=HOURS)
    folder.record("one", at=HOURS)
    assert attributes(html(folder), "tl-go-on")["data-cell"] == "between"


def test_exercise_names_and_dots_link_to_their_cells(folder):
    folder.record("one", at=HOURS)
    folder.save("00_first", "one")
    displayed = html(folder)
    for key, cell in {"open-two": "two", "dot-one": "one", "dot-three": "three", "saved-one": "one"}.items():
        found = attributes(displayed, f"tl-{key}")
        assert (found["data-path"], found["data-cell"]) == ("00_first.ipynb", cell)
    assert attributes(displayed, "tl-dot-one")["aria-label"] == "one: passed"
    folder.parts.joinpath("00_first.py").unlink()
    assert attributes(html(folder), "tl-unsaved-one")["data-cell"] == "one"
    (folder.path / "00_first.ipynb").unlink()
    assert attributes(html(folder), "tl-dot-one") == {}


def test_suggests_next_lesson_after_a_finished_lesson(folder):
    folder.record("one", at=HOURS)
    folder.record("two", at=HOURS)
    displayed = html(folder)
    assert "Next: 01 A second lesson" in text(displayed)
    assert "2 of 2 0 of 1 ✓ finished" in text(displayed)
    assert attributes(displayed, "tl-map-00_first")["aria-label"].endswith(": finished")
    folder.record("four", at=HOURS)
    folder.copy("primer", executed=("a", "b"))
    assert "You have finished every lesson." in html(folder)


def test_plots_only_predictions_with_confidence(folder):
    assert "Your predictions" not in html(folder)
    record_prediction(folder.path, Prediction("one:1", "right", None, "4", "4"))
    record_prediction(folder.path, Prediction("one:2", "wrong", None, "4", "5"))
    displayed = html(folder)
    assert "Your predictions 1 of 2 predictions right, 0 close." in text(displayed)
    assert "A first lesson 0 of 2 0 of 1 1 of 2 50" in text(displayed)
    assert "tl-calibration" not in displayed
    record_prediction(folder.path, Prediction("four:1", "wrong", 0.9, "4", "5"))
    assert "90% sure: 0% of 1 right" in html(folder)


def test_reports_missing_parts(folder):
    folder.record("one", at=HOURS)
    assert "Passed, but not among your parts: one ." in text(html(folder))


def test_parts_outside_the_folder_have_no_link(folder, tmp_path):
    folder.parts = tmp_path.parent / "elsewhere"
    folder.save("00_first", "one")
    displayed = html(folder)
    assert str(folder.parts / "00_first.py") in displayed
    assert attributes(displayed, "tl-part-00_first") == {}


def test_reports_unreadable_files_and_shows_remaining_content(folder):
    (folder.path / FILE).write_text("<script>\n")
    folder.save("00_first", "one")
    displayed = html(folder)
    assert "Some files in your folder cannot be read" in displayed
    assert f"line 1 of {FILE} is not a record of a pass, a prediction, a mistake or a review" in displayed
    assert "1 of 4 exercises passed." in displayed


def test_deleted_copy_has_no_link(folder):
    (folder.path / "00_first.ipynb").unlink()
    displayed = html(folder)
    assert attributes(displayed, "tl-lesson-00_first") == {}
    assert "deleted; restored when you start JupyterLab again" in displayed


def test_element_ids_are_unique(folder):
    folder.record("one", at=HOURS)
    folder.save("00_first", "one")
    ids = re.findall(r' id="([^"]+)"', html(folder))
    assert len(ids) == len(set(ids)) > 10


def test_stored_map_links_every_lesson(folder, monkeypatch):
    monkeypatch.undo()
    outlines = [Outline(name, name, (), (), 0, 1.0, {}) for name in ("primer", *LESSONS)]
    home = Home([LessonState(outline) for outline in outlines], [], folder.path, folder.parts)
    displayed = home_page.home_page(home, "/", "/")
    assert "data-lesson" not in displayed
    assert all(attributes(displayed, f"tl-map-{outline.name}")["href"] for outline in outlines)


def test_lists_all_exercises_with_minutes_and_state(folder):
    folder.record("one", at=HOURS)
    displayed = html(folder)
    assert "All 4 exercises" in text(displayed)
    assert "00 A first lesson Minutes Start over one Softmax (SM). Normalize the scores. 10 ✓ passed" in text(displayed)
    assert "three ★ Windows . Hide. 20 open" in text(displayed)
    link = attributes(displayed, "tl-list-one")
    assert (link["data-path"], link["data-cell"]) == ("00_first.ipynb", "one")
    assert 'data-search="one softmax normalize the scores. sm"' in displayed


def test_practice_bank_is_listed_last_and_not_counted(folder):
    folder.copy("practice_bank")
    folder.record("five", at=HOURS)
    home = read_home([*OUTLINES, BANK], folder.path, folder.parts)
    displayed = home_page.home_page(home, "/", "/")
    assert [lesson.outline.name for lesson in home.lessons] == ["primer", "00_first", "01_second"]
    assert home.next_lesson is None
    assert "0 of 4 exercises passed." in text(displayed)
    assert "All 5 exercises 1 of them are in the Practice bank , at the end of the list." in text(displayed)
    assert text(displayed).index("Practice bank Minutes") > text(displayed).index("A first lesson Minutes")
    link = attributes(displayed, "tl-list-five")
    assert (link["data-path"], link["data-cell"]) == ("practice_bank.ipynb", "five")
    assert "five ★ Dropout . Drop numbers. 12 ✓ passed" in text(displayed)
