"""Fill in the exercise cells of lessons with right answers or known mistakes."""

import copy
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from types import CodeType, ModuleType
from typing import Any

import nbformat
from nbformat import NotebookNode

from tests.notebooks.lesson import Lesson
from tests.notebooks.rules.exercises import bug_hunted
from transformer_course.exercise import Exercise, Mistake
from transformer_course.steps import Variant
from transformer_course.workspace import parts_file
from transformer_course.workspace.standalone_source import standalone_source

FORGET = """\
import os
os.environ["TRANSFORMER_LAB_STRICT"] = "0"
get_ipython().reset(new_session=False)"""
"""Code that deletes all variables, and makes a failed check print its message instead of raising an error."""


def source_of(exercise: Exercise, mistake: Mistake, number: int) -> str:
    """Return the source of one variant of a mistake, as a learner would submit it."""
    variant = mistake.variants[number]
    if not isinstance(variant, Variant) and _is_written_out(variant):
        return as_attempt(variant, exercise.name)
    return (
        "from transformer_course.exercises import every_exercise\n\n"
        f'variants = {{mistake.name: mistake.attempts for mistake in every_exercise()["{exercise.name}"].mistakes}}\n'
        f'{exercise.name} = variants["{mistake.name}"][{number}]'
    )


def _is_written_out(variant: Callable[..., Any]) -> bool:
    """Return whether a function or class is defined in its module's source, rather than created at run time."""
    name = getattr(variant, "__qualname__", "<none>")
    return "<" not in name and vars(inspect.getmodule(variant)).get(name) is variant


def as_attempt(function: Callable[..., Any], name: str) -> str:
    """Return a function's source as a learner would submit it, renamed after the exercise. The source imports the
    helpers of the function's module, which a learner would write out.
    """
    source = textwrap.dedent(inspect.getsource(function))
    scope = vars(inspect.getmodule(function))
    used = sorted((_names(compile(source, "attempt", "exec")) & scope.keys()) - {function.__name__})
    own = [n for n in used if not isinstance(scope[n], ModuleType)]
    # A mistake may call the right answer, whose name is now the name of the attempt.
    source = renamed(re.sub(rf"(?<![.\w]){name}\b", "answer", source), function.__name__, name)
    imports = ", ".join(f"{n} as answer" if n == name else n for n in own)
    return (f"from {function.__module__} import {imports}\n\n\n" if own else "") + source


def renamed(source: str, old: str, new: str) -> str:
    """Rename the first function or class that a source defines."""
    return re.sub(rf"^(def|class) {old}\b", rf"\1 {new}", source, count=1, flags=re.MULTILINE)


def with_attempts(lesson: Lesson, attempts: Mapping[str, str]) -> NotebookNode:
    """Return a copy of a lesson in which these sources, keyed by cell id, replace the cells' sources."""
    book = copy.deepcopy(lesson.book)
    for cell in book.cells:
        cell.source = attempts.get(cell.id, cell.source)
    return book


def solutions(lesson: Lesson) -> dict[str, str]:
    """Return an answer for each exercise cell and a fix for each bug hunt, keyed by cell id."""
    answers = {name: exercise.solution for name, exercise in lesson.exercises.items()}
    for cell in lesson.tagged("bug-hunt"):
        if hunted := bug_hunted(lesson, cell):
            fix_cell, fixed_name, name, check = hunted
            if name in lesson.exercises:
                answers[fix_cell.id] = renamed(lesson.exercises[name].solution, name, fixed_name)
            else:
                answers[fix_cell.id] = _code_in(lesson.after(check))
    return answers


def _code_in(solution: NotebookNode | None) -> str:
    """Return the code in a collapsed solution, for a bug hunt whose code is judged by the lesson's ``review``."""
    found = re.search(r"```python\n(.*?)```", solution.source if solution else "", re.DOTALL)
    if found is None:
        raise ValueError("a solution with code must follow the review of a bug hunt")
    return found[1]


def saved_answers(lesson: Lesson) -> str:
    """Return the file that a lesson saves for later lessons when all its exercises are solved."""
    imports, answers = lesson.code[0].source, solutions(lesson)
    sections = {name: standalone_source(name, [imports, answers[name]]) for name in lesson.exercises}
    written = (f"# %% {name}\n{source}\n\n\n" for name, source in sections.items())
    return parts_file.HEAD.format(lesson=lesson.name) + "".join(written)


def first_mistakes(lesson: Lesson) -> dict[str, str]:
    """Return the first known mistake for each exercise cell, keyed by cell id."""
    return {name: source_of(e, e.mistakes[0], 0) for name, e in lesson.exercises.items()}


def each_attempt_checked(lesson: Lesson) -> tuple[list[NotebookNode], dict[str, str]]:
    """Return cells that delete all variables, import, and check right answers and known mistakes.

    Returns:
        The cells, and the expected output of each check, keyed by cell id.
    """
    cells = [nbformat.v4.new_code_cell(source) for source in (FORGET, lesson.code[0].source)]
    expected = {}
    for name, exercise in lesson.exercises.items():
        tries = [
            (source_of(exercise, mistake, number), f"{name}: a known mistake\n{mistake.message}")
            for place, mistake in enumerate(exercise.mistakes)
            for number, variant in enumerate(mistake.variants)
            if _is_written_out(variant) or place == number == 0  # other tests cover variants created at run time
        ]
        for number, (source, verdict) in enumerate([*tries, (exercise.solution, f"{name}: passed")]):
            expected[f"attempt-{name}-{number}"] = verdict
            cells.append(nbformat.v4.new_code_cell(f"{source}\n\n\ncheck({name})", id=f"attempt-{name}-{number}"))
    return cells, expected


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))
