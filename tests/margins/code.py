"""Analyze a lesson's code: find each cell's dependencies, and instrument it to record comparisons and prints."""

import ast
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeGuard

from nbformat import NotebookNode

from notebooks.build import FOLDER, SKIP_TAG, read_source
from transformer_course.published_models.in_lesson import TAG as NEEDS_MODEL

WATCH = "__watch__"
ORDERINGS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
UNMEASURED = {"exercise", "bug-hunt", "prediction", SKIP_TAG}
"""Tags of cells that a learner fills in. Their code does not affect the measurements."""


@cache
def book(lesson: str) -> NotebookNode:
    """Read a lesson's source."""
    return read_source(FOLDER / "source" / f"{lesson}.py")


def code_cells(lesson: NotebookNode) -> list[NotebookNode]:
    """Return the code cells that a lesson executes, without cells that need a published model, because they never
    train.
    """
    excluded = {SKIP_TAG, NEEDS_MODEL}
    return [c for c in lesson.cells if c.cell_type == "code" and not excluded & {*c.metadata.get("tags", [])}]


def is_compared(cell: NotebookNode) -> bool:
    """Return whether nbval compares the cell's output."""
    return "nbval-ignore-output" not in cell.metadata.get("tags", [])


def fingerprints(lesson: NotebookNode) -> dict[str, str]:
    """Return a hash for each cell, keyed by id. The hash covers the cell's code and all code that it depends on.

    Comments and printed words are ignored, because they do not affect any number.
    """
    definitions = dict[str, set[str]]()  # the fingerprints of the cells that define a name
    result = dict[str, str]()
    for cell in code_cells(lesson):
        tree = _Wordless().visit(ast.parse(cell.source))
        reads, binds = names(tree, ast.Load), {*names(tree, ast.Store), *_defined(tree)}
        own = "" if UNMEASURED & {*cell.metadata.get("tags", [])} else _outline(tree)
        sources = sorted(set[str]().union(*(definitions.get(name, ()) for name in reads | binds)))
        result[cell.id] = hashlib.sha256("\n".join([own, *sources]).encode()).hexdigest()[:12]
        for name in binds:
            definitions[name] = {result[cell.id]}
        for name in (reads - binds) & {*_changed(tree)}:
            definitions.setdefault(name, set()).add(result[cell.id])
    return result


def _outline(node: object) -> str:
    """Return a representation of a syntax tree that, unlike ``ast.dump``, is the same in every Python version."""
    if isinstance(node, ast.AST):
        fields = (f"{name}={_outline(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({', '.join(fields)})"
    return f"[{', '.join(map(_outline, node))}]" if isinstance(node, list) else repr(node)


def names(tree: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names that code reads (``ast.Load``) or assigns (``ast.Store``), at any nesting depth."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]


def _changed(tree: ast.Module) -> Iterator[str]:
    """Yield the names of objects that code changes in place, as in ``rows[name] = …`` and ``model.mask = …``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            root: ast.expr = node
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name):
                yield root.id


class _Wordless(ast.NodeTransformer):
    """Removes words that are only displayed, that is, literal parts of f-strings and printed strings."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        node.values = [value for value in node.values if not isinstance(value, ast.Constant)]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.visit(node.value)  # keep the format specification, because it determines the printed digits
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            node.args = [a for a in node.args if not (isinstance(a, ast.Constant) and isinstance(a.value, str))]
            node.keywords = []
        return node


class Instrumenter(ast.NodeTransformer):
    """Instruments code to report comparisons, rounding and formatting to ``__watch__``, without changing its behavior.

    For example, ``a < b`` becomes ``__watch__.compare("a < b", "<", (a, b))``.
    """

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        text, ordered = ast.unparse(node), _is_ordering(node)
        self.generic_visit(node)
        return _call("compare", text, *_sides(node)) if ordered else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                text = ast.unparse(value.value)
                inner = self.visit(value.value)
                if value.format_spec is not None and value.conversion == -1:
                    value.value, value.format_spec = _call("formatted", text, inner, value.format_spec), None
                else:
                    value.value = inner
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        text, function = ast.unparse(node), node.func
        measured = "".join(ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "measured")
        is_reduced = measured.startswith(("round(", "min(", "max("))
        first = node.args[0] if node.args else None
        if isinstance(function, ast.Attribute):
            inside = function.value
            if function.attr in ("all", "any") and _is_ordering(inside):
                self.generic_visit(inside)
                function.value = _call("each", ast.unparse(node), ast.Constant(function.attr), *_sides(inside))
                return node
            self.generic_visit(node)
            if function.attr == "round" and len(node.args) <= 1 and not node.keywords:
                return _call("round_all", text, function.value, *node.args)
            return node
        if not isinstance(function, ast.Name):
            self.generic_visit(node)
            return node
        if function.id in ("all", "any") and isinstance(first, ast.GeneratorExp) and _is_ordering(first.elt):
            self.generic_visit(first.elt)
            operators, values = _sides(first.elt)
            for generator in first.generators:
                self.visit(generator)
            first.elt = values
            return _call("every", text, ast.Constant(function.id), operators, first)
        self.generic_visit(node)
        if function.id == "round" and len(node.args) <= 2:
            return _call("round", text, *node.args)
        if function.id in ("min", "max") and any(keyword.arg == "key" for keyword in node.keywords):
            best = _call("best", text, function, *node.args)
            best.keywords = node.keywords
            return best
        if function.id == "compare":
            for keyword in node.keywords:
                if keyword.arg == "measured" and not is_reduced:
                    keyword.value = _call("measured", measured, keyword.value)
        return node


def instrumented(tree: ast.Module) -> ast.Module:
    """Return instrumented code."""
    return ast.fix_missing_locations(Instrumenter().visit(tree))


def _is_ordering(node: ast.expr) -> TypeGuard[ast.Compare]:
    return isinstance(node, ast.Compare) and all(type(op) in ORDERINGS for op in node.ops)


def _sides(node: ast.Compare) -> Sequence[ast.expr]:
    """Return the operators and the operands of a comparison, as code."""
    operators = ast.Constant(" ".join(ORDERINGS[type(op)] for op in node.ops))
    return operators, ast.Tuple([node.left, *node.comparators], ast.Load())


def _call(method: str, text: str, *arguments: ast.expr) -> ast.Call:
    watch = ast.Attribute(ast.Name(WATCH, ast.Load()), method, ast.Load())
    return ast.Call(watch, [ast.Constant(text), *arguments], [])
