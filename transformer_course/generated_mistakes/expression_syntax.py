"""Parse expressions and format them as code."""

import ast

MODULES = ("torch", "math", "F", "functional", "nn", "np")


def parsed(code: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    return ast.parse(code, mode="eval").body


def name_of(call: ast.Call) -> str:
    """Return the last part of the called function's name."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def input_of(call: ast.Call) -> ast.expr | None:
    """Return the main input of a call: the object of a method or the first argument."""
    if isinstance(call.func, ast.Attribute) and not _is_module(call.func.value) and not is_self(call.func.value):
        return call.func.value
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).partition(".")[0] in MODULES


def is_self(node: ast.expr) -> bool:
    """Return whether an expression is ``self``."""
    return isinstance(node, ast.Name) and node.id == "self"


def as_operand(node: ast.expr) -> str:
    """Format a node so that a method call or an index can follow, with parentheses if necessary."""
    needs_parentheses = isinstance(
        node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda | ast.Constant
    )
    return f"({ast.unparse(node)})" if needs_parentheses else ast.unparse(node)


def operator_symbol(op: ast.operator) -> str:
    """Return the symbol of a binary operator, such as ``+``."""
    return ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b"))).removeprefix("a ").removesuffix(" b")


def number_of(node: ast.expr) -> float | int | None:
    """Return the value of a literal number, or None for any other expression."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if type(value) in (int, float) else None
