"""The page at the end of the course, which demonstrates the learner's own parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path

from transformer_course.lesson.notebook import current_session
from transformer_course.templates import render
from transformer_course.workspace import saved_parts
from transformer_course.workspace.progress import read_progress

FILE = "my_transformer.html"


@dataclass(frozen=True, repr=False)
class FinalPage:
    """A page about a learner's model, which a browser can show and print.

    Args:
        name: The name of the learner, or "".
        whose: For each lesson and each of its parts, ``yours`` or ``the library's``.
        stages: The model's answer after each stage of training.
        translations: The translation of each sentence.
        scene: A text that the language model continued.
        chat: The role and the content of each message in a chat. May be empty.
        n_predictions: The number of right predictions, and the number of all predictions.
        clinic_score: The score in the bug clinic, or None.
    """

    name: str
    whose: Mapping[str, Mapping[str, str]]
    stages: Mapping[str, str]
    translations: Mapping[str, str]
    scene: str
    chat: Sequence[tuple[str, str]] = ()
    n_predictions: tuple[int, int] = (0, 0)
    clinic_score: int | None = None

    @property
    def html(self) -> str:
        """The page as a single HTML file that needs no other files."""
        owners = [owner for parts in self.whose.values() for owner in parts.values()]
        return render(
            "transformer_course.lesson",
            "final_page.html",
            page=self,
            n_yours=owners.count("yours"),
            n_parts=len(owners),
            today=f"{date.today():%B %Y}",
        )

    def __repr__(self) -> str:
        return f"Your page is in {FILE}, next to this notebook."

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 40em; border: 1px solid #bbb"
        frame = f'<iframe srcdoc="{escape(self.html)}" title="your page" style="{style}"></iframe>'
        link = f'<a href="{FILE}" target="_blank">Open it</a>'
        return f"<p>{self!r} {link}; your browser prints it as PDF.</p>{frame}"

    def save(self, folder: str | Path = ".") -> "FinalPage":
        """Write the page to ``my_transformer.html`` in a folder, and return the page."""
        (Path(folder) / FILE).write_text(self.html, encoding="utf-8")
        return self


def predictions_in_record() -> tuple[int, int]:
    """Return the number of right predictions and the number of all predictions in the learner's record."""
    folder = saved_parts.record_folder(current_session().shell)
    predictions = read_progress(folder).predictions.values() if folder else ()
    return sum(prediction.answer == "right" for prediction in predictions), len(predictions)
