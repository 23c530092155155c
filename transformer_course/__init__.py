"""A course that builds the Transformer, cell by cell, and explains the mistakes that learners make.

The course imports the model library, ``transformer_lab``; the library never imports the course. The packages and
modules, in reading order (each may import the ones before it):

1. ``running`` runs a learner's code and records what it does, and ``sandbox`` isolates submissions. Neither contains an
   answer.
2. ``steps`` represents an answer as steps, so that a mistake is one changed step. ``exercise`` defines what an exercise
   consists of, and ``exercises`` contains all of them, in a folder for each lesson.
3. ``generated_mistakes`` are wrong answers built from the steps. ``checking`` turns observations into a verdict, and
   ``locating`` finds the wrong expression.
4. ``workspace`` manages the learner's folder. ``lesson`` is what a lesson imports. ``practice`` repeats exercises and
   questions from memory, and ``home`` is the home page in JupyterLab.
5. ``plots`` draws curves, heat maps and histograms, ``diagrams`` draws structures, and ``views`` are interactive.
   ``clinic`` has the broken models of lesson 12 and the instruments that diagnose them. ``stored_models`` and
   ``published_models`` are trained models for the lessons. These packages need only the model library.
6. ``grading`` turns notebooks into a gradebook and feedback. ``commands`` is the command line, and ``interrupts``
   handles Ctrl-C.

A lesson imports ``check``, ``hint``, ``solution``, ``parts``, ``compare`` and ``tally`` from here, which starts its
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
    """Import a lesson's names on first use: the packages that run a learner's code need none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from transformer_course.lesson import notebook

    notebook.current_session()
    return getattr(notebook, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
