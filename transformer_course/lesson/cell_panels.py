"""The panels of a cell: each is shown once, on whichever line of the cell the check or the hint stands."""

import os
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
        shell.events.register("pre_run_cell", self._start_cell)
        shell.events.register("post_run_cell", self._end_cell)
        for kind in (Verdict, Panel):
            shell.display_formatter.formatters["text/html"].for_type(kind, self._as_html)

    def add(self, panel: Verdict | Panel) -> None:
        """Show a panel when its cell has ended, unless it has been shown by then."""
        self._waiting.append(panel)

    def _start_cell(self, info: Any) -> None:
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
            shown_as = with_button(shown_as, displayed)
        return shown_as

    def _show_those_before(self, displayed: object) -> None:
        from IPython.display import display

        waiting, self._waiting = self._waiting, []  # to display a panel comes back here
        for place, panel in enumerate(waiting):
            if panel is displayed:
                self._waiting = waiting[place + 1 :]
                return
            display(panel)


def with_button(panel: str, verdict: Verdict) -> str:
    """Put a button for a hint into the panel of a check that did not pass.

    It is hidden: our extension of JupyterLab shows it, and answers it by ``show_hint``; elsewhere nobody would.
    """
    if verdict.passed or verdict.exercise not in every_exercise():
        return panel
    button = f'<button class="tl-hint" hidden data-exercise="{verdict.exercise}">Hint</button>'
    return f"{panel.removesuffix('</div>')}{button}</div>"
