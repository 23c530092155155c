"""Find the names that a piece of code needs and the names that it binds.

Names are read from compiled code, so Python itself has applied the rules of scope. The same function works for a
statement of a cell and for an existing function whose source may be gone, and gives the same result to the grader, the
lesson and the saved parts.
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
_WATCHED = {dis.opmap[name]: name for name in (*LOOKUPS, *STORES) if name in dis.opmap}
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Names of comprehensions, which are compiled like functions but run immediately."""


@dataclass(frozen=True)
class Names:
    """The global names of a piece of code, each listed once, in the order of the code.

    Attributes:
        binds: Names that it binds when executed; ``*`` for a star import.
        needs_at_once: Names that it looks up when executed, such as decorators and default values.
        needs_later: Names that the functions it defines look up when called.
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
        """The names that it binds."""
        return frozenset(self.names.binds)

    @cached_property
    def needs(self) -> frozenset[str]:
        """The names that must be bound before it is executed or before the functions it defines are called."""
        return frozenset({**self.names.needs_at_once, **self.names.needs_later})

    @cached_property
    def changes(self) -> frozenset[str]:
        """The names whose values it changes, by assigning to an attribute or element or as a decorator's argument."""
        targets = getattr(self.node, "targets", None) or [getattr(self.node, "target", None)]
        names = [_root(target) for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]
        for decorator in getattr(self.node, "decorator_list", []):
            names += [one.id for one in getattr(decorator, "args", []) if isinstance(one, ast.Name)]
        return frozenset(names)

    @property
    def text(self) -> str:
        """Its source with decorators and comments."""
        decorators = [f"@{ast.unparse(decorator)}\n" for decorator in getattr(self.node, "decorator_list", [])]
        return "".join(decorators) + (ast.get_source_segment(self.source, self.node) or "")


def definitions(cell: int, source: str, nodes: Iterable[ast.stmt], also: Collection[ast.stmt] = ()) -> list[Statement]:
    """List the statements of a cell that may define something. Bare expressions, such as plots, do not.

    Statements that exit the process are kept, because nothing after them is defined, and so are the statements in
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
    """Return the names that a statement needs and binds, or none if it does not compile, as with a top-level
    ``return``.
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
    steps = list(names_in(code))
    in_class = not is_called and code.co_name != "<module>" and not _is_function(code)
    own = {name for summary, name in steps if summary == "STORE_NAME"} if code.co_name != "<module>" else set()
    for summary, name in steps:
        if summary in LOOKUPS and name not in own and not _is_dunder(name):
            (names.needs_later if is_called else names.needs_at_once)[name] = None
        elif not is_called and (summary == "STORE_GLOBAL" or (summary == "STORE_NAME" and not in_class)):
            names.binds[name] = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _collect(constant, names, is_called or _is_function(constant))


def names_in(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the instructions that look up or bind a name, with the name.

    ``dis`` decodes more information, which takes ten times as long.
    """
    high, words = 0, iter(code.co_code)
    for operation, low in zip(words, words, strict=True):
        number = high | low
        high = number << 8 if operation == dis.EXTENDED_ARG else 0
        if (summary := _WATCHED.get(operation)) is not None:
            yield (
                summary,
                code.co_names[number >> 1 if summary == "LOAD_GLOBAL" else number],
            )  # the lowest bit marks a following call


def _is_function(code: CodeType) -> bool:
    """Return whether a code object runs when called, unlike a module, a class body or a comprehension."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_name not in COMPREHENSIONS


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
