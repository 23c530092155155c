"""Show each panel of a cell exactly once, regardless of the line that calls the check or the hint."""

import os
from dataclasses import dataclass
from typing import Any

from transformer_course.checking.message_panel import Panel
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise


class CellPanels:
    """The verdicts and hints of a cell that are not displayed as the cell's result.

    A notebook displays only the value of a cell's last line. If that value is a panel, all other panels are shown
    before it, in the order of the calls. Otherwise, all panels are shown at the end of the cell.

    Args:
        shell: The IPython shell whose cells call the checks.
    """

    def __init__(self, shell: Any) -> None:
        self._waiting: list[Verdict | Panel] = []
        self._cell: str | None = None
        shell.events.register("pre_run_cell", self._start_cell)
        shell.events.register("post_run_cell", self._end_cell)
        for kind in (Verdict, Panel):
            shell.display_formatter.formatters["text/html"].for_type(kind, self._as_html)

    def add(self, panel: Verdict | Panel) -> None:
        """Show a panel at the end of its cell, unless it is displayed earlier."""
        self._waiting.append(panel)

    def _start_cell(self, info: Any) -> None:
        self._cell = getattr(info, "cell_id", None)
        self._waiting.clear()  # discard panels from outside a cell, such as from a widget's callback

    def _end_cell(self, result: Any) -> None:
        # IPython has already displayed the result and, in a terminal, has not called _as_html.
        self._waiting = [panel for panel in self._waiting if panel is not result.result]
        self._show_earlier(None)

    def _as_html(self, displayed: Verdict | Panel) -> str:
        """Show all earlier panels, then return the HTML of the panel that is being displayed."""
        self._show_earlier(displayed)
        html = displayed._repr_html_()
        if isinstance(displayed, Verdict) and os.environ.get("TRANSFORMER_LAB_LIVE") == "1":
            html = with_buttons(html, displayed, self._cell)
        return html

    def _show_earlier(self, displayed: object) -> None:
        from IPython.display import display

        waiting, self._waiting = self._waiting, []  # displaying a panel calls this function again
        for i, panel in enumerate(waiting):
            if panel is displayed:
                self._waiting = waiting[i + 1 :]
                return
            display(panel)


BUTTON = '<button class="tl-button-in-cell {kind}" hidden data-exercise="{exercise}">{label}</button>'
"""A hidden button. Only the course's JupyterLab extension shows the button and handles clicks."""
NEXT_HINT = {"hint": "Next hint", "solution": "Show a solution"}


@dataclass(frozen=True, repr=False)
class HintPanel(Panel):
    """A hint that was requested with a button, followed by a button for the next hint."""

    exercise: str
    comes_next: str
    """The kind of the next button: ``hint``, ``solution``, or "" after a solution."""

    def _repr_html_(self) -> str:
        if self.comes_next:
            button = BUTTON.format(kind="tl-hint", exercise=self.exercise, label=NEXT_HINT[self.comes_next])
        else:
            button = '<span class="tl-hint" hidden></span>'  # makes the style sheet hide earlier buttons
        return _with_end(super()._repr_html_(), button)


def with_buttons(panel: str, verdict: Verdict, cell: str | None) -> str:
    """Add buttons to the panel of a check: a hint button, unless the check passed, and a reset button.

    Args:
        panel: The HTML of the panel.
        verdict: The verdict of the check.
        cell: The id of the panel's cell. A reset button appears only in the cell that defines the exercise or in its
            check, because in a bug hunt the learner edits a different cell.
    """
    if verdict.exercise not in every_exercise():
        return panel
    buttons = []
    if not verdict.passed:
        buttons.append(BUTTON.format(kind="tl-hint", exercise=verdict.exercise, label="Hint"))
    if cell in (verdict.exercise, f"check-{verdict.exercise}") and verdict.status != "not_started":
        buttons.append(BUTTON.format(kind="tl-reset", exercise=verdict.exercise, label="Reset to the stub"))
    return _with_end(panel, " ".join(buttons))


def _with_end(panel: str, end: str) -> str:
    return f"{panel.removesuffix('</div>')}{end}</div>"
