"""Tests for the final page, a single file that shows everything the learner built."""

import re

import pytest

from transformer_course.lesson import final_page
from transformer_course.lesson.final_page import FILE, FinalPage, predictions_in_record

PAGE = FinalPage(
    "Ada <Lovelace>",
    {"01": {"softmax": "yours", "attention": "the library's"}, "02": {"score_variance": "yours"}},
    {"pretrained": "(nothing) ×50", "SFT": "2021-07-14 ×50"},
    {"The battery is low.": "La batterie est faible."},
    "ROMEO: Who & what?\n\nJULIET: I.",
    [("user", "Hello?"), ("assistant", "Hi.")],
    (7, 9),
    0,
)


def test_page_shows_everything_that_was_built():
    html = PAGE.html
    for words in ("2 of 3 parts are my own code", "La batterie est faible.", "2021-07-14 ×50", "7 of 9 predictions"):
        assert words in html
    assert re.findall(r'<span class="part yours">(\w+)</span>', html) == ["softmax", "score_variance"]
    assert "Bug clinic: 0 points." in html


def test_escapes_text():
    assert "Ada &lt;Lovelace&gt;" in PAGE.html and "ROMEO: Who &amp; what?\n\nJULIET: I." in PAGE.html
    assert 'srcdoc="&lt;!doctype html&gt;' in PAGE._repr_html_()


def test_page_omits_empty_sections():
    html = FinalPage("", PAGE.whose, PAGE.stages, PAGE.translations, PAGE.scene).html
    assert "<title>a Transformer of my own</title>" in html
    assert "It chats" not in html and "Along the way" not in html


def test_page_is_self_contained(tmp_path):
    assert PAGE.save(tmp_path) is PAGE
    [path] = tmp_path.iterdir()
    html = path.read_text(encoding="utf-8")
    assert path.name == FILE
    assert not re.search(r"\b(?:src|href)=", html)


@pytest.mark.parametrize(("answers", "counted"), [((), (0, 0)), (("right", "wrong", "right", "close"), (2, 4))])
def test_counts_predictions_from_all_lessons(monkeypatch, tmp_path, answers, counted):
    from transformer_course.workspace.progress import Prediction, record_prediction

    for number, answer in enumerate(answers):
        record_prediction(tmp_path, Prediction(f"cell:{number}", answer, None, "1", "2"))
    monkeypatch.setattr(final_page.saved_parts, "record_folder", lambda shell: tmp_path)
    assert predictions_in_record() == counted
