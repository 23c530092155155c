"""Find the names that a piece of code needs and the names that it binds.

Names are read from compiled code, so Python itself has applied its scoping rules. This works both for a statement of a
cell and for an existing function whose source may not be available, so the grader, the lesson and the saved parts agree
on the names.
"""

import ast
import dis
import inspect
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import CodeType

LOOKUPS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
"""Instructions that look up a global name."""
STORES = ("STORE_NAME", "STORE_GLOBAL")
"""Instructions that bind a global name."""
_NAME_OPERATIONS = {dis.opmap[name]: name for name in (*LOOKUPS, *STORES) if name in dis.opmap}
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Names of comprehensions, which are compiled like functions but run immediately."""


@dataclass(frozen=True)
class Names:
    """The global names in a piece of code, in source order. The values of the dicts are not used.

    Attributes:
        binds: Names that the code binds when it is executed; ``*`` for a star import.
        needs_at_once: Names that the code looks up when it is executed, such as decorators and default values.
        needs_later: Names that the functions defined by the code look up when they are called.
    """

    binds: dict[str, None] = field(default_factory=dict)
    needs_at_once: dict[str, None] = field(default_factory=dict)
    needs_later: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a cell.

    Args:
        cell: Index of the cell.
        node: The parsed statement.
        source: Source of the cell.
        names: Names that the statement needs and binds.
    """

    cell: int
    node: ast.stmt
    source: str
    names: Names

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names that the statement binds."""
        return frozenset(self.names.binds)

    @cached_property
    def needs(self) -> frozenset[str]:
        """The names that must be bound before the statement is executed or the functions it defines are called."""
        return frozenset({**self.names.needs_at_once, **self.names.needs_later})

    @cached_property
    def changes(self) -> frozenset[str]:
        """The names whose values the statement changes, by assigning to an attribute or element or in a decorator."""
        targets = getattr(self.node, "targets", None) or [getattr(self.node, "target", None)]
        names = [_root(target) for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]
        for decorator in getattr(self.node, "decorator_list", []):
            names += [argument.id for argument in getattr(decorator, "args", []) if isinstance(argument, ast.Name)]
        return frozenset(names)

    @property
    def text(self) -> str:
        """The statement's source, including decorators and comments."""
        decorators = [f"@{ast.unparse(decorator)}\n" for decorator in getattr(self.node, "decorator_list", [])]
        return "".join(decorators) + (ast.get_source_segment(self.source, self.node) or "")


def definitions(cell: int, source: str, nodes: Iterable[ast.stmt], also: Collection[ast.stmt] = ()) -> list[Statement]:
    """List the statements of a cell that may define something, unlike bare expressions such as plots.

    The list includes statements that exit the process, because nothing after them is defined, and the statements in
    ``also``.
    """
    return [
        Statement(cell, node, source, names_of_statement(node))
        for node in nodes
        if not isinstance(node, ast.Expr | ast.Delete | ast.Pass) or _ends_process(node) or node in also
    ]


def _root(target: ast.expr) -> str:
    """Return the name at the root of an attribute or element access."""
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Call):
        target = target.func if isinstance(target, ast.Call) else target.value
    return getattr(target, "id", "")


def _ends_process(node: ast.stmt) -> bool:
    call = getattr(node, "value", None)
    return isinstance(call, ast.Call) and ast.unparse(call.func) in ("os._exit", "os.abort")


def names_of_statement(node: ast.stmt) -> Names:
    """Return the names that a statement needs and binds.

    A statement that does not compile, such as a top-level ``return``, has no names.
    """
    names = Names()
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        names.binds["*"] = None
        return names
    try:
        code = compile(ast.Module([node], []), "<statement>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return names
    _collect(code, names, is_called=False)
    return names


@lru_cache(maxsize=1024)  # called with the same arguments for every case of an attempt
def names_of_function(code: CodeType) -> tuple[str, ...]:
    """Return the global names that a function and its inner functions look up."""
    names = Names()
    _collect(code, names, is_called=True)
    return tuple(names.needs_later)


def _collect(code: CodeType, names: Names, is_called: bool) -> None:
    """Add the names of a code object, and of the code objects inside it, to ``names``.

    Args:
        code: The code object.
        names: The names found so far.
        is_called: Whether the code runs only when a function is called.
    """
    instructions = list(names_in(code))
    in_class = not is_called and code.co_name != "<module>" and not _is_function(code)
    own: set[str] = set()
    if code.co_name != "<module>":
        own = {name for operation, name in instructions if operation == "STORE_NAME"}
    for operation, name in instructions:
        if operation in LOOKUPS and name not in own and not _is_dunder(name):
            (names.needs_later if is_called else names.needs_at_once)[name] = None
        elif not is_called and (operation == "STORE_GLOBAL" or (operation == "STORE_NAME" and not in_class)):
            names.binds[name] = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _collect(constant, names, is_called or _is_function(constant))


def names_in(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the instructions that look up or bind a name, each with the name.

    ``dis`` would decode much more information and take ten times as long.
    """
    high, code_units = 0, iter(code.co_code)
    for opcode, low in zip(code_units, code_units, strict=True):
        number = high | low
        high = number << 8 if opcode == dis.EXTENDED_ARG else 0
        operation = _NAME_OPERATIONS.get(opcode)
        if operation is not None:
            index = number >> 1 if operation == "LOAD_GLOBAL" else number  # the lowest bit marks a following call
            yield operation, code.co_names[index]


def _is_function(code: CodeType) -> bool:
    """Return whether a code object runs only when called, unlike a module, a class body or a comprehension."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_name not in COMPREHENSIONS


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
