"""The panels of a cell: each is shown once, on whichever line of the cell the check or the hint stands."""

import os
from dataclasses import dataclass
from typing import Any

from transformer_course.checking.message_panel import Panel
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise


class CellPanels:
    """Shows the verdicts and hints of a cell that the cell does not show itself, as its result.

    A notebook shows the value of a cell's last line only. All other panels are shown before that value where it is a
    panel itself, so that they stand in the order of the calls, and else when the cell has ended.

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
        """Show a panel when its cell has ended, unless it has been shown by then."""
        self._waiting.append(panel)

    def _start_cell(self, info: Any) -> None:
        self._cell = getattr(info, "cell_id", None)
        self._waiting.clear()  # of what ran outside of all cells, such as the callback of a widget

    def _end_cell(self, result: Any) -> None:
        # A terminal makes no HTML of the result, so it is not known there that the result has been shown.
        self._waiting = [panel for panel in self._waiting if panel is not result.result]
        self._show_those_before(None)

    def _as_html(self, displayed: Verdict | Panel) -> str:
        """Return the HTML of what is being shown, after the panels that came before it."""
        self._show_those_before(displayed)
        shown_as = displayed._repr_html_()
        if isinstance(displayed, Verdict) and os.environ.get("TRANSFORMER_LAB_LIVE") == "1":
            shown_as = with_buttons(shown_as, displayed, self._cell)
        return shown_as

    def _show_those_before(self, displayed: object) -> None:
        from IPython.display import display

        waiting, self._waiting = self._waiting, []  # to display a panel comes back here
        for place, panel in enumerate(waiting):
            if panel is displayed:
                self._waiting = waiting[place + 1 :]
                return
            display(panel)


BUTTON = '<button class="tl-button-in-cell {kind}" hidden data-exercise="{exercise}">{label}</button>'
"""Hidden: our extension of JupyterLab shows it and responds to it; elsewhere nothing would."""
NEXT_HINT = {"hint": "Next hint", "solution": "Show a solution"}


@dataclass(frozen=True, repr=False)
class HintPanel(Panel):
    """A hint that a button asked for, with the button for the next one at its end."""

    exercise: str
    comes_next: str
    """``hint``, ``solution``, or empty after a solution."""

    def _repr_html_(self) -> str:
        if self.comes_next:
            button = BUTTON.format(kind="tl-hint", exercise=self.exercise, label=NEXT_HINT[self.comes_next])
        else:
            button = '<span class="tl-hint" hidden></span>'  # hides the buttons above
        return _with_end(super()._repr_html_(), button)


def with_buttons(panel: str, verdict: Verdict, cell: str | None) -> str:
    """Put buttons into the panel of a check: one for a hint, unless it passed, and one for starting the exercise over.

    Args:
        panel: The HTML of the panel.
        verdict: The verdict that it shows.
        cell: The id of the cell that shows it. Only the exercise's own check can reset it: in a bug hunt, another
            cell is to be fixed.
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
