"""The widget that asks questions."""

from transformer_course.practice.material import Question
from transformer_course.practice.question_widget import QuestionWidget

QUESTIONS = [Question(f"question-{n}", "01_lookup", f"Why {n}?", f"Because {n}.") for n in (1, 2)]


def shown(widget):
    return widget.text.outputs[0]["data"]["text/markdown"]


def buttons(widget):
    return [button.description for button in widget.buttons.children]


def test_click_shows_the_answer_and_records_the_rating():
    rated = []
    widget = QuestionWidget(QUESTIONS, lambda card, rating: rated.append((card, rating)) or "It comes back tomorrow.")
    assert shown(widget) == "1 of 2: **Why 1?**"
    assert buttons(widget) == ["Show the answer"]
    widget.reveal.click()
    assert shown(widget).endswith("Because 1.")
    assert buttons(widget) == ["again", "hard", "good", "easy"]
    widget.ratings[1].click()
    assert (shown(widget), widget.status.value) == ("2 of 2: **Why 2?**", "You rated it hard. It comes back tomorrow.")
    widget.reveal.click()
    widget.ratings[3].click()
    assert (shown(widget), buttons(widget)) == ("That was the last of 2 questions.", [])
    assert rated == [("question-1", "hard"), ("question-2", "easy")]
