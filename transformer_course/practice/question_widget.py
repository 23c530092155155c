"""A widget that asks questions one at a time: click to show the answer, then rate how well you knew it."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets  # type: ignore[import-untyped]

from transformer_course.practice.material import Question
from transformer_course.workspace.progress import RATINGS

TOOLTIPS = {
    "again": "I did not know it",
    "hard": "I knew it, with difficulty",
    "good": "I knew it after a moment",
    "easy": "I knew it at once",
}


class QuestionWidget(ipywidgets.VBox):  # type: ignore[no-any-unimported]
    """Widget that asks questions one at a time.

    Args:
        questions: The questions, in order.
        rate: Function that records the rating of a question's card and returns a remark, such as the next due date.
    """

    def __init__(self, questions: Sequence[Question], rate: Callable[[str, str], str]) -> None:
        self._questions, self._rate, self._place = questions, rate, 0
        self.text = ipywidgets.Output()  # an Output renders Markdown and formulas as the notebook does
        self.status = ipywidgets.HTML()
        self.reveal = ipywidgets.Button(description="Show the answer", button_style="primary")
        self.reveal.on_click(lambda _: self.show_answer())
        self.ratings = [ipywidgets.Button(description=rating, tooltip=TOOLTIPS[rating]) for rating in RATINGS]
        for button in self.ratings:
            button.on_click(lambda pressed: self.answer(pressed.description))
        self.buttons = ipywidgets.HBox()
        super().__init__([self.text, self.buttons, self.status])
        self._ask("")

    @property
    def question(self) -> Question | None:
        """The current question, or None after the last question."""
        return self._questions[self._place] if self._place < len(self._questions) else None

    def show_answer(self) -> None:
        """Show the answer and the rating buttons."""
        if self.question:
            self._show(f"{self._heading()}\n\n{self.question.answer}")
            self.buttons.children = self.ratings

    def answer(self, rating: str) -> None:
        """Rate the current question and ask the next question."""
        if self.question:
            remark = self._rate(self.question.card, rating)
            self._place += 1
            self._ask(f"You rated it {rating}. {remark}")

    def _ask(self, remark: str) -> None:
        self.status.value = remark
        if self.question:
            self._show(self._heading())
            self.buttons.children = (self.reveal,)
        else:
            n = len(self._questions)
            self._show("No questions." if n == 0 else f"That was the last of {n} questions." if n > 1 else "Done.")
            self.buttons.children = ()

    def _heading(self) -> str:
        assert self.question
        return f"{self._place + 1} of {len(self._questions)}: **{self.question.question}**"

    def _show(self, markdown: str) -> None:
        data: dict[str, Any] = {"text/markdown": markdown, "text/plain": markdown}
        self.text.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
