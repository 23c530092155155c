"""Find a learner's answers among the cells of a notebook, and what each needs of the other cells.

Of a notebook that was handed in, this runs in the sandbox only: even parsing such code can exhaust or crash a process.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from transformer_course.running.dependencies import Statement, definitions
from transformer_course.running.ipython_syntax import parse

MAX_ANSWERS = 4
"""Number of answers to an exercise that a notebook may have: with more, guessing would pay."""
IMPORTS = (ast.Import, ast.ImportFrom)
CHECK_ALIAS = re.compile(r"\bcheck +as +(\w+)")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise.

    Args:
        cell: The index of the cell that defines it.
        error: Why this cell cannot be parsed, if it cannot.
        target: The statement that gives the answer: it gives the name a value, or calls ``check``.
        is_check: Whether the target calls ``check``.
        statements: The statements to execute, in the order of the notebook; the target is one of them.
        later: Statements further down. They only add names that have no value by then.
    """

    cell: int
    error: Exception | None = None
    target: Statement | None = None
    is_check: bool = False
    statements: Sequence[Statement] = field(default_factory=list)
    later: Sequence[Statement] = field(default_factory=list)


def find_answers(cells: Sequence[Mapping[str, Any]], name: str) -> list[Answer]:
    """Return up to ``MAX_ANSWERS`` answers to an exercise that a notebook has, the one most likely to count first.

    First comes what each check of the exercise is given when the notebook runs from the top, from the last check to the
    first. Then comes each definition, from the last to the first, with its helpers as they are below its own cell, and
    the last one with helpers as they are at the end of the notebook. Equal answers are listed once. A check with
    ``save=False`` is part of a bug hunt and does not count.

    An answer comes with the statements of other cells that it needs, by name, and the ones that these need: its own
    imports, helpers and constants, and no long experiment that happens to stand in between. Of its own cell, imports
    that it does not need stay out, too: a library for drawing takes longer to import than all cases together.
    """
    sources = [cell["source"] for cell in cells]
    called = {"check", *(alias for source in sources for alias in CHECK_ALIAS.findall(source))}
    parsed = [_parse(i, source, name, called) for i, source in enumerate(sources)]
    statements = [one for cell in parsed if not isinstance(cell, Exception) for one in cell]
    broken = {
        i: Answer(i, cell)
        for i, cell in enumerate(parsed)
        if isinstance(cell, Exception) and _begins_to_define(sources[i], name)
    }
    found: dict[Any, Answer] = {}
    for answer in _in_order(_Notebook(statements, name, called), broken):
        found.setdefault(_content(answer), answer)
    return list(found.values())[:MAX_ANSWERS]


def cell_filename(cell: int) -> str:
    """Return the file name of a cell in tracebacks."""
    return f"<cell {cell + 1}>"


def _parse(cell: int, source: str, name: str, called: Set[str]) -> list[Statement] | Exception:
    """Return the statements of a cell that may define something, and those that check the exercise."""
    try:
        python, nodes = parse(source, cell_filename(cell))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return error
    checks = [node for node in nodes if _is_check(node, name, called)] if name in source else []
    return definitions(cell, python, nodes, also=checks)


def _begins_to_define(source: str, name: str) -> bool:
    return bool(re.search(rf"^((async +)?def|class) +{name}\b|^{name} *=(?!=)", source, flags=re.MULTILINE))


def _is_check(node: ast.stmt, name: str, called: Set[str]) -> bool:
    """Return whether a statement may check an answer to an exercise; what is checked shows when it is executed.

    Args:
        node: The statement.
        name: The name of the exercise.
        called: The names by which ``check`` is called.
    """
    if isinstance(node, (*DEFINITIONS, *IMPORTS)):
        return False
    parts = list(ast.walk(node))
    is_about = any(isinstance(part, ast.Name) and part.id == name for part in parts)
    is_about |= any(isinstance(part, ast.Constant) and part.value == name for part in parts)
    return is_about and any(isinstance(part, ast.Call) and _may_be_check(part, called) for part in parts)


def _may_be_check(call: ast.Call, called: Set[str]) -> bool:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    saves = [*call.args[2:3], *(keyword.value for keyword in call.keywords if keyword.arg == "save")]
    return function in called and not any(isinstance(one, ast.Constant) and one.value is False for one in saves)


class _Notebook:
    """The statements of a notebook, seen from one exercise.

    Args:
        statements: The statements, in the order of the notebook.
        name: The name of the exercise.
        called: The names by which ``check`` is called.
    """

    def __init__(self, statements: Sequence[Statement], name: str, called: Set[str]) -> None:
        self.statements, self.name = statements, name
        # A name that is only imported is not an answer.
        self.defining = [i for i, s in enumerate(statements) if name in s.binds and not isinstance(s.node, IMPORTS)]
        self.checks = [i for i, s in enumerate(statements) if self._may_check(s, called)]

    def _may_check(self, statement: Statement, called: Set[str]) -> bool:
        is_about = self.name in statement.source and self.name not in statement.binds  # to walk all others takes long
        return is_about and _is_check(statement.node, self.name, called)

    def definition_above(self, number: int) -> int | None:
        """Return the number of the last statement above another one that defines the exercise."""
        return max((i for i in self.defining if i < number), default=None)

    def end_of_cell(self, number: int) -> int:
        """Return the number of the last statement of a definition's cell, above the next definition in that cell."""
        cell = self.statements[number].cell
        below = [i for i in range(number + 1, len(self.statements)) if self.statements[i].cell == cell]
        return max([number, *(i for i in below if not any(number < d <= i for d in self.defining))])

    def answer(self, target: int, moment: int) -> Answer:
        """Return the answer that a statement gives, with helpers as they are when the notebook has run to a moment."""
        needed = sorted(self._needed(target, moment))
        early = [self.statements[i] for i in needed if i <= moment]
        statement, is_check = self.statements[target], target in self.checks
        cell = statement.cell
        if is_check:  # the answer was made further up
            made = [s for s in early if s.binds & {*statement.names.needs_at_once} and not isinstance(s.node, IMPORTS)]
            cell = made[-1].cell if made else cell
        late = [self.statements[i] for i in needed if i > moment]
        return Answer(cell, target=statement, is_check=is_check, statements=early, later=late)

    def _needed(self, target: int, moment: int) -> set[int]:
        """Return the numbers of the statements that bind or change what a statement needs, what these need, and so on.

        Of the other definitions of the exercise, these are only what a statement needs when it is executed.
        """
        needed = {i for i, s in enumerate(self.statements) if "*" in s.binds} | {target}
        bound = frozenset[str]().union(*(s.binds for s in self.statements[: moment + 1]))
        while True:
            above = {self.definition_above(i) for i in needed if self.name in self.statements[i].names.needs_at_once}
            more = {i for i in above if i is not None}
            cells = {self.statements[i].cell for i in needed | more if i in self.defining}
            names = frozenset[str]().union(*(self.statements[i].needs for i in needed)) - {self.name}
            for i, one in enumerate(self.statements):
                if self.name in one.binds or i in self.checks:
                    continue
                if i > moment:
                    is_needed = bool((names & one.binds) - bound)
                else:
                    is_beside = one.cell in cells and not isinstance(one.node, IMPORTS)
                    is_needed = is_beside or bool(names & one.binds) or bool((names | {self.name}) & one.changes)
                if is_needed:
                    more.add(i)
            if more <= needed:
                return needed
            needed |= more


def _in_order(notebook: _Notebook, broken: Mapping[int, Answer]) -> Iterator[Answer]:
    """Yield all answers; ``broken`` are the cells that begin to define one, and cannot be parsed."""
    statements = notebook.statements
    for check in reversed(notebook.checks):
        above = notebook.definition_above(check)
        if above is None and notebook.name in statements[check].needs:
            continue  # the check fails
        first = -1 if above is None else statements[above].cell
        yield from (broken[i] for i in sorted(broken, reverse=True) if first < i < statements[check].cell)
        yield notebook.answer(check, check)
    defined = [(statements[i].cell, i, notebook.answer(i, notebook.end_of_cell(i))) for i in notebook.defining]
    defined += [(i, 0, answer) for i, answer in broken.items()]
    yield from (answer for _, _, answer in sorted(defined, key=lambda one: one[:2], reverse=True))
    if notebook.defining:
        yield notebook.answer(notebook.defining[-1], len(statements))


def _content(answer: Answer) -> Any:
    """Return what two answers that do the same have in common."""
    if answer.error is not None:
        return answer.cell
    run = [one for one in answer.statements if not (answer.is_check and one is answer.target)]
    return tuple(tuple(one.text for one in part if not isinstance(one.node, IMPORTS)) for part in (run, answer.later))
