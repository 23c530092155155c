"""A course in which learners build the Transformer cell by cell and receive explanations of their mistakes.

The course imports the model library, ``transformer_lab``, which never imports the course. The packages and modules are
listed in reading order. Each of them may import the packages and modules listed before it.

1. ``running`` runs a learner's code and records what it does. ``sandbox`` isolates submissions. Neither package
   contains solutions.
2. ``steps`` represents an answer as steps, so that a mistake is one changed step. ``exercise`` defines the parts of an
   exercise, and ``exercises`` contains all exercises, with a folder for each lesson.
3. ``generated_mistakes`` contains wrong answers that are generated from the steps. ``checking`` turns observations into
   a verdict, and ``locating`` finds the wrong expression.
4. ``workspace`` manages the learner's folder. ``lesson`` contains the functions that lessons import. ``practice`` has
   learners repeat exercises and answer questions from memory, and ``home`` is the home page in JupyterLab.
5. ``plots`` draws curves, heat maps and histograms, ``diagrams`` draws structures, and ``views`` contains interactive
   displays. ``clinic`` contains the broken models of lesson 12 and the instruments for diagnosing them.
   ``stored_models`` and ``published_models`` provide trained models for the lessons. These packages need only the model
   library.
6. ``grading`` turns notebooks into a gradebook and feedback. ``commands`` is the command line, and ``interrupts``
   handles Ctrl-C.

A lesson imports ``check``, ``hint``, ``solution``, ``parts``, ``compare`` and ``tally`` from this package. Importing
any of these names starts a session.
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
    """Import the names for lessons on first use, because the packages that run a learner's code do not need them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from transformer_course.lesson import notebook

    notebook.current_session()
    return getattr(notebook, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
