"""Rules about exercises: every exercise must have a stub and a check, and there must be no further stubs or checks."""

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from notebooks.verdict_fold import START
from tests.notebooks.lesson import Lesson, calls, displayed, syntax

Function = ast.FunctionDef
MAX_COMMON_WORDS = 3
REVIEW = "review"
"""Name of the function with which a lesson tests a bug hunt that corresponds to no exercise."""


def every_exercise_has_stub_and_check(lesson: Lesson) -> Iterator[str]:
    for name in lesson.exercises:
        cells = [cell for cell in lesson.cells if cell.id == name]
        if len(cells) != 1 or cells[0] not in lesson.tagged("exercise"):
            yield f"{name} needs one cell with this id and the tag exercise; found {len(cells)}"
            continue
        check = lesson.after(cells[0])
        if check is None or (check.id, check.source) != (f"check-{name}", f"check({name})"):
            yield f"{name} is not followed by the cell check-{name} with check({name})"


def every_exercise_cell_belongs_to_an_exercise(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.tagged("exercise"):
        if cell.id not in lesson.exercises:
            yield f"{cell.id} is tagged exercise, but the lesson has no such exercise"
    known = {
        f"check-{cell}"
        for cell in (*lesson.exercises, *(cell.id for cell in lesson.cells if cell.id.startswith("mend-")))
    }
    for cell in lesson.code:
        is_check = any(list(calls(cell, name)) for name in ("check", REVIEW))
        if is_check != (cell.id in known):
            yield f"{cell.id} {'checks no exercise' if is_check else 'does not check anything'}"


def stubs_match_the_answers(lesson: Lesson) -> Iterator[str]:
    for name, exercise in lesson.exercises.items():
        answer = dict(_functions(ast.parse(exercise.solution)))
        for cell in (cell for cell in lesson.cells if cell.id == name):
            stub = dict(_functions(syntax(cell)))
            tops = [getattr(node, "name", type(node).__name__) for node in syntax(cell).body]
            if tops != [name]:
                yield f"{name}: the cell should define only {name}; it defines {', '.join(tops)}"
                continue
            if not ast.get_docstring(syntax(cell).body[0]):  # type: ignore[arg-type]
                yield f"{name}: the stub has no docstring"
            if not any(map(_is_open, stub.values())):
                yield f"{name}: the stub does not raise NotImplementedError"
            for inner, function in stub.items():
                yield from _compare(inner, function, answer.get(inner))


def _compare(name: str, stub: Function, answer: Function | None) -> Iterator[str]:
    if answer is None:
        yield f"{name}: the answer has no such function"
    elif _signature(stub) != _signature(answer):
        yield f"{name}: the signature is {_signature(stub)}, but the answer's signature is {_signature(answer)}"
    elif not _is_open(stub) and list(map(ast.dump, _body(stub))) != list(map(ast.dump, _body(answer))):
        yield f"{name}: the body should be only `raise NotImplementedError`, or equal the answer's body"


def no_exercise_is_started(lesson: Lesson) -> Iterator[str]:
    for name in lesson.exercises:
        for cell in lesson.cells:
            if cell.id == f"check-{name}" and displayed(cell) != f"{name}\nNot started yet.":
                yield f"the check of {name} should show that it is not started; it shows: {displayed(cell)}"


def bug_hunt_checks_do_not_name_the_mistake(lesson: Lesson) -> Iterator[str]:
    """Check that a bug hunt's stored check does not name the mistake, because the reader should find it first."""
    for cell in lesson.tagged("bug-hunt"):
        hunted = bug_hunted(lesson, cell)
        if hunted is None:
            yield (
                f"{cell.id} is not followed by `mended = …` and check(mended, the exercise, save=False) or "
                "review(mended)"
            )
            continue
        _, _, name, check = hunted
        if not displayed(check).startswith(f"{name}: not right yet\n"):
            yield f"{check.id} should find {name} wrong without naming the mistake; it shows: {displayed(check)}"


def bug_hunt_verdicts_are_folded(lesson: Lesson) -> Iterator[str]:
    """Check that a bug hunt's stored verdict is collapsed, because GitHub shows it on the same page as the code."""
    for cell in lesson.tagged("bug-hunt"):
        if (hunted := bug_hunted(lesson, cell)) is None:
            continue
        if not displayed(hunted[3], "text/html").startswith(START):
            yield f"{hunted[3].id} shows its verdict: build the lesson again, which folds the verdict"


def bug_hunt_cases_do_not_reveal_the_solution(lesson: Lesson) -> Iterator[str]:
    """Check that the labels of a bug hunt's failing cases share no phrases with the collapsed solution below."""
    for cell in lesson.tagged("bug-hunt"):
        if (hunted := bug_hunted(lesson, cell)) is None or (solution := lesson.after(hunted[3])) is None:
            continue
        for label in re.findall(r"^Case \d+ of \d+ \((.*)\):", displayed(hunted[3]), re.MULTILINE):
            for words in sorted(_word_sequences(label) & _word_sequences(solution.source)):
                yield f"{hunted[3].id} shows the case {label!r}, but {' '.join(words)!r} is in the solution"


def _word_sequences(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return set(zip(*(words[i:] for i in range(MAX_COMMON_WORDS)), strict=False))


def bug_hunted(lesson: Lesson, cell: NotebookNode) -> tuple[NotebookNode, str, str, NotebookNode] | None:
    """Return the cell for the learner's fix, the fixed name, the judged name, and the cell with the check. The broken
    code keeps its name, because later cells use it. The learner fixes the code under a second name. The judged name is
    the exercise's name if ``check`` judges the fix, or the broken code's name if ``review`` does.
    """
    defined = {getattr(node, "name", None) for node in syntax(cell).body}
    fix_cell = lesson.after(cell)
    check = fix_cell and lesson.after(fix_cell)
    if fix_cell is None or check is None or check.id != f"check-{fix_cell.id}":
        return None
    match syntax(fix_cell).body:
        case [ast.Assign([ast.Name(fixed_name)], ast.Name(broken))] if broken in defined:
            pass
        case _:
            return None
    for call in [*calls(check, "check"), *calls(check, REVIEW)]:
        match call:
            case ast.Call(
                args=[ast.Name(attempt), ast.Constant(str(name))], keywords=[ast.keyword("save", ast.Constant(False))]
            ) if attempt == fixed_name and name in lesson.exercises:
                return fix_cell, fixed_name, name, check
            case ast.Call(func=ast.Name(function), args=[ast.Name(attempt)], keywords=[]) if (
                function == REVIEW and attempt == fixed_name
            ):
                return fix_cell, fixed_name, broken, check
    return None


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and the methods of its classes, with their qualified names."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, Function))


def _signature(function: Function) -> str:
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({ast.unparse(function.args)}){returns}"


def _body(function: Function) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) else function.body


def _is_open(function: Function) -> bool:
    return [ast.unparse(statement) for statement in _body(function)] == ["raise NotImplementedError"]


RULES = [
    every_exercise_has_stub_and_check,
    every_exercise_cell_belongs_to_an_exercise,
    stubs_match_the_answers,
    no_exercise_is_started,
    bug_hunt_checks_do_not_name_the_mistake,
    bug_hunt_verdicts_are_folded,
    bug_hunt_cases_do_not_reveal_the_solution,
]
