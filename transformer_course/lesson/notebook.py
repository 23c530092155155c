"""The names that a lesson imports: ``check``, ``hint``, ``solution``, ``parts``, ``compare`` and ``tally``.

These functions share one session per process. Importing this module does not start the session. The session starts when
you call a function, import ``parts``, or import any of these names from ``transformer_course``.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from transformer_course.checking.formatting import format_value
from transformer_course.checking.message_panel import Panel
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise, every_lesson, exercise_names
from transformer_course.lesson.cell_panels import CellPanels, HintPanel
from transformer_course.lesson.lesson_end import lesson_end
from transformer_course.lesson.prediction import (
    Choices,
    judge_choice,
    judge_prediction,
    nearest_choice,
    split_confidence,
)
from transformer_course.lesson.session import Session
from transformer_course.lesson.tables import align_tables
from transformer_course.workspace import saved_parts

if TYPE_CHECKING:
    from transformer_course.running.parts import Parts

    parts: Parts
    """Working parts by name. ``parts.softmax`` is your own function if it has passed, or else the library's."""

__all__ = ["NotPassed", "check", "compare", "hint", "parts", "solution", "tally", "whose_parts"]

_sessions: list[Session] = []
_cell_panels: list[CellPanels] = []
"""The panels of the process's IPython shell, if there is one."""


class NotPassed(AssertionError):
    """Raised if a check does not pass while ``TRANSFORMER_LAB_STRICT`` is 1 or nbgrader runs the notebook."""


def current_session() -> Session:
    """Return the session of this process.

    The first call starts the session, limits torch to one thread, and loads the saved parts. Messages about saved parts
    that do not run appear below the running cell.
    """
    if not _sessions:
        from IPython import get_ipython

        torch.set_num_threads(1)  # on a busy machine, a second thread makes small models several times slower
        shell = get_ipython()
        if shell is not None:
            _cell_panels.append(CellPanels(shell))
            if os.environ.get("TRANSFORMER_LAB_LIVE") == "1":  # stored outputs keep the alignment of pandas
                align_tables(shell)
        session = Session(every_exercise(), shell)
        _sessions.append(session)  # before loading the parts, because their code may import `parts`
        saved_parts.load_parts(session.parts, shell)
    return _sessions[-1]


@contextmanager
def in_session(session: Session) -> Iterator[Session]:
    """Use a different session inside the block (for tests)."""
    _sessions.append(session)
    try:
        yield session
    finally:
        _sessions.remove(session)


def __getattr__(name: str) -> Any:
    if name == "parts":
        return current_session().parts
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def whose_parts() -> dict[str, dict[str, str]]:
    """Return the owner of each part, ``yours`` or ``the library's``, keyed by lesson and exercise."""
    whose = current_session().parts.whose
    return {lesson: {name: whose(name) for name in exercise_names(lesson)} for lesson in every_lesson()}


def check(attempt: Any, name: Any = None, save: bool = True) -> Verdict:
    """Check whether your function or class is right and, if it is not, find the mistake.

    Args:
        attempt: The function or class itself, not the result of a call.
        name: The name of the exercise, if the attempt has a different name.
        save: Whether later cells and lessons use a right answer as a part. Bug hunts pass False.

    Returns:
        The verdict. A notebook displays it as a panel, even if the check is not on the last line of a cell, and a
        terminal as text. A check that does not pass raises an error only if the environment variable
        ``TRANSFORMER_LAB_STRICT`` is 1 or if nbgrader runs the notebook, because in nbgrader a test passes unless it
        raises.
    """
    session = current_session()
    verdict = session.check(attempt, name, save)
    is_strict = os.environ.get("TRANSFORMER_LAB_STRICT") == "1" or "NBGRADER_EXECUTION" in os.environ
    if is_strict and not verdict.passed:
        raise NotPassed(str(verdict))
    if not session.n_checking:
        show(verdict)
    return verdict


def show(panel: Verdict | Panel) -> None:
    """Display a panel in the output of the running cell, even if the call is not on its last line."""
    for panels in _cell_panels:
        panels.add(panel)


def hint(attempt: Any, name: Any = None) -> Panel:
    """Return the next hint: about the mistake in your attempt if the mistake is known, or else about the exercise.

    Call the function again for more hints. The solution follows the last hint. When a check finds a different mistake,
    the hints start over.
    """
    panel = current_session().hint(attempt, name)
    show(panel)
    return panel


def show_hint(exercise: str) -> None:
    """Show the next hint for the last checked attempt at an exercise. A click on a panel's button calls this."""
    from IPython.display import display

    session = current_session()
    if exercise in session.not_passed:
        panel = session.hint(session.not_passed[exercise], exercise)
        comes_next = session.hints_given[exercise].comes_next
        display(HintPanel(panel.title, panel.message, panel.tint, exercise, comes_next))
    else:
        display(Panel("Run the check again", "Then ask for a hint: this kernel has not seen your attempt yet.", "help"))


def solution(attempt: Any, name: Any = None) -> Panel:
    """Return a solution of the exercise."""
    panel = current_session().solution(attempt, name)
    show(panel)
    return panel


def compare(prediction: Any, measured: Any, choices: Choices | None = None) -> None:
    """Print a prediction next to the measurement, and whether the prediction is right, close or wrong.

    ``judge_prediction`` defines the tolerances. A prediction that cannot be compared, such as a word instead
    of a number, is printed without a judgment. The first prediction of each comparison counts for ``tally`` and the
    home page.

    Args:
        prediction: A number, a word or a list, optionally in a pair with your confidence: ``4, "80 %"``. Pass ``...``
            if you make no prediction.
        measured: The result of the experiment.
        choices: If the prediction is one of several choices: numbers, or words with the number that each word stands
            for. The choice nearest to the measurement is right.
    """
    value = measured.item() if isinstance(measured, torch.Tensor) and measured.numel() == 1 else measured
    prediction, sure = split_confidence(prediction)
    answer, observed = None, _measured(value)
    if choices is not None and (nearest := nearest_choice(value, choices)) != value:
        observed += f" (nearest of the choices: {_as_text(nearest)})"
    if prediction is ...:
        print(f"you made no prediction, measured {observed}")
    else:
        answer = judge_prediction(prediction, value) if choices is None else judge_choice(prediction, value, choices)
        print(f"you said {_as_text(prediction)}, measured {observed}{f': {answer}' if answer else ''}")
    try:
        current_session().predictions.add(answer, sure, _as_text(prediction), _measured(value))
    except OSError as error:
        print(f"Note: the home page will not show this result: {error}.")


def tally() -> Panel:
    """Return a summary of this lesson: passed and open exercises, predictions, and the next lesson.

    The summary counts the predictions that were right, and the predictions that were wrong although you were sure.
    """
    return lesson_end(current_session())


def _measured(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if 1000 <= abs(value) < 100_000 else f"{value + 0.0:.3g}"  # + 0.0 turns -0.0 into 0.0
    return _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else format_value(value)
