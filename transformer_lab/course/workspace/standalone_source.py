"""Write a function or class of a notebook out as plain Python that needs nothing else of the notebook."""

import ast
import builtins
import dis
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import NamedTuple


class NotStandalone(ValueError):
    """Something it needs was not written in any cell."""


class _Statement(NamedTuple):
    number: int
    node: ast.stmt
    text: str


def standalone_source(name: str, cells: Sequence[str]) -> str:
    """Collect the statement that made a name, and those that made whatever it needs, in an order in which they run.

    Args:
        name: Such as that of a function.
        cells: The sources of the cells that were run, in that order. Where a name was made more than once, the last
            time counts.

    Raises:
        NotStandalone: The name, or another one that it needs, was made in no other way than by ``def``, ``class``,
            ``import`` or ``=`` on a line of a cell.
    """
    made = _statements(cells)
    needed: dict[int, str] = {}
    begun: set[int] = set()

    def collect(name: str, before: int) -> None:
        by = next((s for s in reversed(made[:before]) if name in _names_made(s.node)), None)
        if by is None:
            raise NotStandalone(name)
        if by.number in begun:
            return
        begun.add(by.number)
        # A function looks names up when it is called, an assignment when it is made: `f = faster(f)`.
        until = len(made) if isinstance(by.node, ast.FunctionDef | ast.ClassDef) else by.number
        for other in dict.fromkeys(_names_read(compile(by.text, "cell", "exec"))):
            if not hasattr(builtins, other) or any(other in _names_made(s.node) for s in made[:until]):
                collect(other, until)
        needed[by.number] = by.text

    collect(name, len(made))
    imports = {n: text for n, text in needed.items() if isinstance(made[n].node, ast.Import | ast.ImportFrom)}
    others = [text for n, text in needed.items() if n not in imports]
    return "\n\n\n".join(filter(None, ["\n".join(sorted(imports.values())), *others]))


def _statements(cells: Sequence[str]) -> list[_Statement]:
    """List the statements of all cells that Python can read."""
    found: list[_Statement] = []
    for cell in cells:
        try:
            body = ast.parse(cell).body
        except (SyntaxError, ValueError):
            continue
        for node in body:
            decorators = [f"@{ast.unparse(decorator)}\n" for decorator in getattr(node, "decorator_list", [])]
            text = "".join(decorators) + (ast.get_source_segment(cell, node) or "")
            found.append(_Statement(len(found), node, text))
    return found


def _names_made(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Import() | ast.ImportFrom():
            return {alias.asname or alias.name.split(".")[0] for alias in node.names}
        case ast.Assign() | ast.AnnAssign(value=ast.expr()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inside = (inner for target in targets for inner in ast.walk(target))
            return {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return set()


def _names_read(code: CodeType) -> Iterator[str]:
    """Name what is looked up outside of all functions, what a class body makes for itself left out."""
    steps = list(dis.get_instructions(code))
    own = {step.argval for step in steps if step.opname == "STORE_NAME"} if code.co_name != "<module>" else set()
    for step in steps:
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in own and step.argval[:2] != "__":
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_read(constant)
