"""Every exercise has a stub and a check, and there are no others."""

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from notebooks.verdict_fold import START
from tests.notebooks.lesson import Lesson, calls, displayed, syntax

Function = ast.FunctionDef
WORDS_IN_COMMON = 3
REVIEW = "review"
"""A lesson's own function that tests the code of a bug hunt, if no exercise matches it."""


def every_exercise_has_a_stub_and_then_its_check(lesson: Lesson) -> Iterator[str]:
    for name in lesson.exercises:
        cells = [cell for cell in lesson.cells if cell.id == name]
        if len(cells) != 1 or cells[0] not in lesson.tagged("exercise"):
            yield f"{name} needs one cell of that id, tagged exercise; found {len(cells)}"
            continue
        check = lesson.after(cells[0])
        if check is None or (check.id, check.source) != (f"check-{name}", f"check({name})"):
            yield f"{name} is not followed by the cell check-{name} with check({name})"


def every_exercise_cell_and_check_belongs_to_an_exercise(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.tagged("exercise"):
        if cell.id not in lesson.exercises:
            yield f"{cell.id} is tagged exercise, and the lesson has no such exercise"
    known = {
        f"check-{cell}"
        for cell in (*lesson.exercises, *(cell.id for cell in lesson.cells if cell.id.startswith("mend-")))
    }
    for cell in lesson.code:
        is_check = any(list(calls(cell, name)) for name in ("check", REVIEW))
        if is_check != (cell.id in known):
            yield f"{cell.id} {'checks no exercise' if is_check else 'does not check anything'}"


def stubs_look_like_the_answers(lesson: Lesson) -> Iterator[str]:
    for name, exercise in lesson.exercises.items():
        answer = dict(_functions(ast.parse(exercise.solution)))
        for cell in (cell for cell in lesson.cells if cell.id == name):
            stub = dict(_functions(syntax(cell)))
            tops = [getattr(node, "name", type(node).__name__) for node in syntax(cell).body]
            if tops != [name]:
                yield f"{name}: its cell should define {name} and nothing else; it holds {', '.join(tops)}"
                continue
            if not ast.get_docstring(syntax(cell).body[0]):  # type: ignore[arg-type]
                yield f"{name}: the stub has no docstring"
            if not any(map(_is_open, stub.values())):
                yield f"{name}: nothing in the stub raises NotImplementedError"
            for inner, function in stub.items():
                yield from _compare(inner, function, answer.get(inner))


def _compare(name: str, stub: Function, answer: Function | None) -> Iterator[str]:
    if answer is None:
        yield f"{name}: the answer has no such function"
    elif _signature(stub) != _signature(answer):
        yield f"{name}: the signature is {_signature(stub)}, that of the answer {_signature(answer)}"
    elif not _is_open(stub) and list(map(ast.dump, _body(stub))) != list(map(ast.dump, _body(answer))):
        yield f"{name}: the body should be nothing but `raise NotImplementedError`, or what the answer has"


def no_exercise_is_started(lesson: Lesson) -> Iterator[str]:
    for name in lesson.exercises:
        for cell in lesson.cells:
            if cell.id == f"check-{name}" and displayed(cell) != f"{name}\nNot started yet.":
                yield f"the check of {name} should say that it is not started; it says: {displayed(cell)}"


def each_bug_hunt_is_wrong_without_a_name(lesson: Lesson) -> Iterator[str]:
    """Yield bug hunts in which the check names the mistake, because the reader should find it first."""
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
            yield f"{check.id} should find {name} wrong, and name no mistake; it says: {displayed(check)}"


def each_bug_hunt_keeps_its_verdict_folded(lesson: Lesson) -> Iterator[str]:
    """Yield the hunts whose stored verdict is open: on GitHub and nbviewer, it is on the same page as the code."""
    for cell in lesson.tagged("bug-hunt"):
        if (hunted := bug_hunted(lesson, cell)) is None:
            continue
        if not displayed(hunted[3], "text/html").startswith(START):
            yield f"{hunted[3].id} shows its verdict: build the lesson, which folds it"


def no_case_of_a_bug_hunt_gives_it_away(lesson: Lesson) -> Iterator[str]:
    """Yield the names of failing cases of a bug hunt that contain words of the collapsed solution after it."""
    for cell in lesson.tagged("bug-hunt"):
        if (hunted := bug_hunted(lesson, cell)) is None or (solution := lesson.after(hunted[3])) is None:
            continue
        for called in re.findall(r"^Case \d+ of \d+ \((.*)\):", displayed(hunted[3]), re.MULTILINE):
            for words in sorted(_runs_of_words(called) & _runs_of_words(solution.source)):
                yield f"{hunted[3].id} shows a case called {called!r}, and {' '.join(words)!r} is in the solution"


def _runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return set(zip(*(words[i:] for i in range(WORDS_IN_COMMON)), strict=False))


def bug_hunted(lesson: Lesson, cell: NotebookNode) -> tuple[NotebookNode, str, str, NotebookNode] | None:
    """Return the cell that fixes the code of a bug hunt, the name it defines, the broken answer, and the checking cell.

    The broken code keeps its own name for the cells below; the learner redefines its second name. The broken answer is
    the name of an exercise if ``check`` judges it, or of the broken code if the lesson reviews it.
    """
    defined = {getattr(node, "name", None) for node in syntax(cell).body}
    mend = lesson.after(cell)
    check = mend and lesson.after(mend)
    if mend is None or check is None or check.id != f"check-{mend.id}":
        return None
    match syntax(mend).body:
        case [ast.Assign([ast.Name(mended)], ast.Name(broken))] if broken in defined:
            pass
        case _:
            return None
    for call in [*calls(check, "check"), *calls(check, REVIEW)]:
        match call:
            case ast.Call(
                args=[ast.Name(attempt), ast.Constant(str(name))], keywords=[ast.keyword("save", ast.Constant(False))]
            ) if attempt == mended and name in lesson.exercises:
                return mend, mended, name, check
            case ast.Call(func=ast.Name(function), args=[ast.Name(attempt)], keywords=[]) if (
                function == REVIEW and attempt == mended
            ):
                return mend, mended, broken, check
    return None


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Return the functions of a module and the methods of its classes."""
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
    every_exercise_has_a_stub_and_then_its_check,
    every_exercise_cell_and_check_belongs_to_an_exercise,
    stubs_look_like_the_answers,
    no_exercise_is_started,
    each_bug_hunt_is_wrong_without_a_name,
    each_bug_hunt_keeps_its_verdict_folded,
    no_case_of_a_bug_hunt_gives_it_away,
]
