"""Tests for the widget that asks questions."""

from transformer_course.practice.material import Question
from transformer_course.practice.question_widget import QuestionWidget

QUESTIONS = [Question(f"question-{n}", "01_lookup", f"Why {n}?", f"Because {n}.") for n in (1, 2)]


def text_of(widget):
    return widget.text.outputs[0]["data"]["text/markdown"]


def labels_of(widget):
    return [button.description for button in widget.buttons.children]


def test_clicks_show_answer_and_record_rating():
    rated = []
    widget = QuestionWidget(QUESTIONS, lambda card, rating: rated.append((card, rating)) or "It comes back tomorrow.")
    assert text_of(widget) == "1 of 2: **Why 1?**"
    assert labels_of(widget) == ["Show the answer"]
    widget.reveal.click()
    assert text_of(widget).endswith("Because 1.")
    assert labels_of(widget) == ["again", "hard", "good", "easy"]
    widget.ratings[1].click()
    assert (text_of(widget), widget.status.value) == (
        "2 of 2: **Why 2?**",
        "You rated it hard. It comes back tomorrow.",
    )
    widget.reveal.click()
    widget.ratings[3].click()
    assert (text_of(widget), labels_of(widget)) == ("That was the last of 2 questions.", [])
    assert rated == [("question-1", "hard"), ("question-2", "easy")]
