"""A course that builds the Transformer, cell by cell, and names the mistake when one is made.

It knows the model library, ``transformer_lab``, and nothing of that knows it. To be read in this order; each package
may use those before it.

1. ``running``: all that runs beside a learner's code. ``sandbox``: the sandbox around it. No answers in either.
2. ``steps``: an answer in steps, one of which a mistake does otherwise. ``exercise``: what an exercise is made of.
   ``exercises``: all of them, a folder for each lesson.
3. ``checking``: from what was observed to a verdict, in words. ``locating``: the place in the learner's code.
4. ``workspace``: the learner's folder. ``lesson``: what a lesson imports, and what it remembers. ``practice``:
   exercises and questions from memory. ``home``: the home page in JupyterLab.
5. ``plots``: curves, maps and histograms. ``diagrams``: drawings of structure. ``views``: pictures with a handle.
   ``clinic``: models with a bug each, for lesson 12, and what finds it. ``stored_models``: trained before, for the
   learner's own classes. They need the model library alone.
6. ``grading``: notebooks in, gradebook and feedback out. ``interrupts``: Ctrl-C. ``commands``: what is typed in a
   terminal.

A lesson imports ``check``, ``hint``, ``solution``, ``parts``, ``compare`` and ``tally`` from here, and that begins its
session.
"""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_course.lesson.notebook import check as check
    from transformer_course.lesson.notebook import compare as compare
    from transformer_course.lesson.notebook import hint as hint
    from transformer_course.lesson.notebook import parts as parts
    from transformer_course.lesson.notebook import solution as solution
    from transformer_course.lesson.notebook import tally as tally

__all__ = ["check", "compare", "hint", "parts", "solution", "tally"]

if os.environ.get("TRANSFORMER_LAB_CHECK_SHAPES") == "1":
    from transformer_lab import shape_checks

    shape_checks.install(*(f"{__name__}.{package}" for package in ("plots", "diagrams", "views")))


def __getattr__(name: str) -> Any:
    """Import what a lesson uses when it is asked for: the packages that run beside a learner's code need none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from transformer_course.lesson import notebook

    notebook.current_session()
    return getattr(notebook, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
