"""Find a learner's answers among the cells of a notebook, and the statements of other cells that each answer needs.

For submitted notebooks, this module runs only in the sandbox, because even parsing untrusted code can crash a process
or exhaust its memory.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from transformer_course.running.dependencies import Statement, definitions
from transformer_course.running.ipython_syntax import parse

MAX_ANSWERS = 4
"""Maximum number of answers to an exercise that are graded in one notebook. Grading more answers would reward
guessing."""
IMPORTS = (ast.Import, ast.ImportFrom)
CHECK_ALIAS = re.compile(r"\bcheck +as +(\w+)")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise.

    Args:
        cell: Index of the cell that defines the answer.
        error: The error that parsing the cell raised, if any.
        target: The statement that binds the exercise's name or calls ``check``.
        is_check: Whether the target calls ``check``.
        statements: The statements to execute, in the order of the notebook, including the target.
        later: Statements after the target, which may bind only names that are still unbound.
    """

    cell: int
    error: Exception | None = None
    target: Statement | None = None
    is_check: bool = False
    statements: Sequence[Statement] = field(default_factory=list)
    later: Sequence[Statement] = field(default_factory=list)


def find_answers(cells: Sequence[Mapping[str, Any]], name: str) -> list[Answer]:
    """Return up to ``MAX_ANSWERS`` answers to an exercise in a notebook, likeliest first.

    The answers are listed in this order:

    1. The object that each check of the exercise receives if the notebook runs from the top, last check first. A check
       with ``save=False`` belongs to a bug hunt and does not count.
    2. Each definition, last definition first, with its helpers as they are at the end of the definition's cell.
    3. The last definition, with its helpers as they are at the end of the notebook.

    Equal answers are listed once.

    Each answer includes the statements of other cells on which it depends, directly or indirectly: imports, helpers and
    constants, but no unrelated experiments. Unused imports in the answer's own cell are also left out, because
    importing a plotting library takes longer than running all cases.
    """
    sources = [cell["source"] for cell in cells]
    called = {"check", *(alias for source in sources for alias in CHECK_ALIAS.findall(source))}
    statements: list[Statement] = []
    broken: dict[int, Answer] = {}
    for i, source in enumerate(sources):
        parsed = _parse(i, source, name, called)
        if not isinstance(parsed, Exception):
            statements += parsed
        elif _begins_to_define(source, name):
            broken[i] = Answer(i, parsed)
    found: dict[Any, Answer] = {}
    for answer in _in_order(_Notebook(statements, name, called), broken):
        found.setdefault(_content(answer), answer)
    return list(found.values())[:MAX_ANSWERS]


def cell_filename(cell: int) -> str:
    """Return the file name of a cell in tracebacks."""
    return f"<cell {cell + 1}>"


def _parse(cell: int, source: str, name: str, called: Set[str]) -> list[Statement] | Exception:
    """Return the statements of a cell that may define something or check the exercise."""
    try:
        python, nodes = parse(source, cell_filename(cell))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return error
    checks = [node for node in nodes if _is_check(node, name, called)] if name in source else []
    return definitions(cell, python, nodes, also=checks)


def _begins_to_define(source: str, name: str) -> bool:
    return bool(re.search(rf"^((async +)?def|class) +{name}\b|^{name} *=(?!=)", source, flags=re.MULTILINE))


def _is_check(node: ast.stmt, name: str, called: Set[str]) -> bool:
    """Return whether a statement may check an answer to the exercise; only running it would show for certain.

    Args:
        node: The statement.
        name: The name of the exercise.
        called: The names under which ``check`` is imported.
    """
    if isinstance(node, (*DEFINITIONS, *IMPORTS)):
        return False
    parts = list(ast.walk(node))
    is_about = any(isinstance(part, ast.Name) and part.id == name for part in parts)
    is_about |= any(isinstance(part, ast.Constant) and part.value == name for part in parts)
    return is_about and any(isinstance(part, ast.Call) and _may_be_check(part, called) for part in parts)


def _may_be_check(call: ast.Call, called: Set[str]) -> bool:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    save_values = [*call.args[2:3], *(keyword.value for keyword in call.keywords if keyword.arg == "save")]
    return function in called and not any(isinstance(v, ast.Constant) and v.value is False for v in save_values)


class _Notebook:
    """The statements of a notebook, indexed for one exercise.

    Args:
        statements: The statements, in the order of the notebook.
        name: The name of the exercise.
        called: The names under which ``check`` is imported.
    """

    def __init__(self, statements: Sequence[Statement], name: str, called: Set[str]) -> None:
        self.statements, self.name = statements, name
        # A name that is only imported is not an answer.
        self.defining = [i for i, s in enumerate(statements) if name in s.binds and not isinstance(s.node, IMPORTS)]
        self.checks = [i for i, s in enumerate(statements) if self._may_check(s, called)]

    def _may_check(self, statement: Statement, called: Set[str]) -> bool:
        # Search the source first, because walking the syntax trees of all statements would be slow.
        is_about = self.name in statement.source and self.name not in statement.binds
        return is_about and _is_check(statement.node, self.name, called)

    def definition_above(self, number: int) -> int | None:
        """Return the index of the exercise's last definition before a statement, or None."""
        return max((i for i in self.defining if i < number), default=None)

    def end_of_cell(self, number: int) -> int:
        """Return the index of the last statement after a definition in the same cell, up to the next definition."""
        cell = self.statements[number].cell
        below = [i for i in range(number + 1, len(self.statements)) if self.statements[i].cell == cell]
        return max([number, *(i for i in below if not any(number < d <= i for d in self.defining))])

    def answer(self, target: int, moment: int) -> Answer:
        """Return the answer in a statement, with helpers as they are after statement number ``moment``."""
        needed = sorted(self._needed(target, moment))
        early = [self.statements[i] for i in needed if i <= moment]
        statement, is_check = self.statements[target], target in self.checks
        cell = statement.cell
        if is_check:  # the answer is defined in an earlier statement
            needs = {*statement.names.needs_at_once}
            defining = [s for s in early if s.binds & needs and not isinstance(s.node, IMPORTS)]
            cell = defining[-1].cell if defining else cell
        late = [self.statements[i] for i in needed if i > moment]
        return Answer(cell, target=statement, is_check=is_check, statements=early, later=late)

    def _needed(self, target: int, moment: int) -> set[int]:
        """Return the indices of all statements on which a statement depends, directly or indirectly.

        Other definitions of the exercise are included only if a statement needs such a definition when it is executed.
        """
        needed = {i for i, s in enumerate(self.statements) if "*" in s.binds} | {target}
        bound = frozenset[str]().union(*(s.binds for s in self.statements[: moment + 1]))
        while True:
            above = {self.definition_above(i) for i in needed if self.name in self.statements[i].names.needs_at_once}
            more = {i for i in above if i is not None}
            cells = {self.statements[i].cell for i in needed | more if i in self.defining}
            names = frozenset[str]().union(*(self.statements[i].needs for i in needed)) - {self.name}
            for i, other in enumerate(self.statements):
                if self.name in other.binds or i in self.checks:
                    continue
                if i > moment:
                    is_needed = bool((names & other.binds) - bound)
                else:
                    is_in_same_cell = other.cell in cells and not isinstance(other.node, IMPORTS)
                    changes = (names | {self.name}) & other.changes
                    is_needed = is_in_same_cell or bool(names & other.binds) or bool(changes)
                if is_needed:
                    more.add(i)
            if more <= needed:
                return needed
            needed |= more


def _in_order(notebook: _Notebook, broken: Mapping[int, Answer]) -> Iterator[Answer]:
    """Yield all answers. ``broken`` maps cells with an unparsable definition to answers."""
    statements = notebook.statements
    for check in reversed(notebook.checks):
        above = notebook.definition_above(check)
        if above is None and notebook.name in statements[check].needs:
            continue  # the check would fail
        first = -1 if above is None else statements[above].cell
        yield from (broken[i] for i in sorted(broken, reverse=True) if first < i < statements[check].cell)
        yield notebook.answer(check, check)
    defined = [(statements[i].cell, i, notebook.answer(i, notebook.end_of_cell(i))) for i in notebook.defining]
    defined += [(i, 0, answer) for i, answer in broken.items()]
    for _, _, answer in sorted(defined, key=lambda item: item[:2], reverse=True):
        yield answer
    if notebook.defining:
        yield notebook.answer(notebook.defining[-1], len(statements))


def _content(answer: Answer) -> Any:
    """Return a key that is equal for answers with the same content."""
    if answer.error is not None:
        return answer.cell
    executed = [s for s in answer.statements if not (answer.is_check and s is answer.target)]
    return _texts(executed), _texts(answer.later)


def _texts(statements: Sequence[Statement]) -> tuple[str, ...]:
    return tuple(s.text for s in statements if not isinstance(s.node, IMPORTS))
