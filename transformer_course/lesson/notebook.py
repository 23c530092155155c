"""What a lesson imports: ``check``, ``hint``, ``solution``, ``parts``, ``compare`` and ``tally``.

They belong to the session of the process. Importing this module does not begin one; using it does, and so does
importing ``parts``, or anything from ``transformer_course``.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from transformer_course.checking.formatting import format_value
from transformer_course.checking.message_panel import Panel
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise, every_lesson, exercises_of
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
    """Working pieces by name: ``parts.softmax`` is your own once it has passed, the library's until then."""

__all__ = ["NotPassed", "check", "compare", "hint", "parts", "solution", "tally", "whose_parts"]

_sessions: list[Session] = []
_cell_panels: list[CellPanels] = []
"""Those of the process's shell, where it has one."""


class NotPassed(AssertionError):
    """A check that did not pass while ``TRANSFORMER_LAB_STRICT`` is 1, or in nbgrader."""


def current_session() -> Session:
    """Return the session of this process. The first call begins it: one torch thread, and the saved parts are loaded.

    What is printed about saved parts that do not run appears below the cell that is running.
    """
    if not _sessions:
        from IPython import get_ipython

        torch.set_num_threads(1)  # on a busy machine, a second thread makes small models several times slower
        shell = get_ipython()
        if shell is not None:
            _cell_panels.append(CellPanels(shell))
            if os.environ.get("TRANSFORMER_LAB_LIVE") == "1":  # stored outputs stay as pandas writes them
                align_tables(shell)
        session = Session(every_exercise(), shell)
        _sessions.append(session)  # before the parts are loaded, for they may import `parts` themselves
        saved_parts.load_parts(session.parts, shell)
    return _sessions[-1]


@contextmanager
def in_session(session: Session) -> Iterator[Session]:
    """Use another session inside the block, as tests do."""
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
    """Return for each lesson's exercises whose part they stand for: ``yours`` or ``the library's``."""
    whose = current_session().parts.whose
    return {lesson: {e.name: whose(e.name) for e in exercises_of(lesson)} for lesson in every_lesson()}


def check(attempt: Any, name: Any = None, save: bool = True) -> Verdict:
    """Check whether your function or class is right, and if not, which mistake it makes.

    Args:
        attempt: The function or class itself, not the result of a call.
        name: The exercise, where it is not called as the attempt is.
        save: Whether a right answer becomes a part that later cells and lessons use; not so in a bug hunt.

    Returns:
        The verdict, which shows itself as a panel in a notebook, on whichever line of a cell the check stands, and
        as text in a terminal. Nothing is raised, unless the verdict is not ``passed``, and the environment variable
        ``TRANSFORMER_LAB_STRICT`` is 1 or nbgrader runs the notebook: there, a test that raises nothing has passed.
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
    """Let the cell show a panel, on whichever line it stands."""
    for panels in _cell_panels:
        panels.add(panel)


def hint(attempt: Any, name: Any = None) -> Panel:
    """Return the next hint: about the mistake that your attempt makes, if it is a known one, else about the exercise.

    Call again for more. After the last hint follows a solution. When a check finds something else than before, the
    hints start over.
    """
    panel = current_session().hint(attempt, name)
    show(panel)
    return panel


def show_hint(exercise: str) -> None:
    """Show the next hint for the attempt that was checked last, as the button in a panel asks for it."""
    from IPython.display import display

    session = current_session()
    if exercise in session.not_passed:
        panel = session.hint(session.not_passed[exercise], exercise)
        comes_next = session.hints_given[exercise].comes_next
        display(HintPanel(panel.title, panel.message, panel.tint, exercise, comes_next))
    else:
        display(Panel("Run the check again", "Then ask for a hint: this kernel has not seen your attempt yet.", "help"))


def solution(attempt: Any, name: Any = None) -> Panel:
    """Return an answer."""
    panel = current_session().solution(attempt, name)
    show(panel)
    return panel


def compare(prediction: Any, measured: Any, choices: Choices | None = None) -> None:
    """Answer a prediction: print what was said beside what was measured, and whether that is right, close or wrong.

    Nothing is said of a prediction that cannot be compared, such as a word where a number was measured. How close is
    close, ``judge_prediction`` says. The first prediction of each place is kept for ``tally`` and the home page.

    Args:
        prediction: A number, a word or a list of these, or ``...`` as long as none was made; or a pair of it and how
            sure you are: ``4, "80 %"``.
        measured: What the experiment gave.
        choices: What there was to choose from, if that is right which is nearest: numbers, or words with the number
            that each stands for.
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
        print(f"One thing: the home page will not show it: {error}.")


def tally() -> Panel:
    """Return what you have done in this lesson: exercises that passed and that are open, predictions, and what is next.

    Of the predictions, it tells how many were right, and how many wrong although you were sure.
    """
    return lesson_end(current_session())


def _measured(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if 1000 <= abs(value) < 100_000 else f"{value + 0.0:.3g}"  # + 0.0 makes 0 of -0
    return _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else format_value(value)
