"""Find a piece of code by its structure, and put another in its place.

What is looked for, and what takes its place, is written as Python. In it

- a name that begins with an underscore stands for any expression, and for the same one wherever it stands again:
  ``_q @ _k`` is found in ``(query / 8) @ keys``; ``_`` alone stands for anything, each time anew;
- ``...`` as the last positional argument of a call stands for all further arguments, named ones too; keywords may come
  in any order;
- ``...`` as the body of a statement stands for any body.

So names of local variables, line breaks, comments and the order of functions do not matter. Names of functions,
attributes and keywords do. Trees are never changed in place, so that one may be read once and rewritten often.
"""

import ast
import builtins
import copy
from collections.abc import Iterable, Iterator
from typing import Any

Bound = dict[str, Any]
"""What the placeholders of a pattern stand for."""

ARGUMENTS, BODY = "further arguments", "body"


def rewrite(module: ast.Module, where: str, old: str, new: str) -> ast.Module:
    """Replace one piece of code in a function, a method or a class.

    Args:
        module: The code of the module.
        where: Name of the function or class, such as ``MultiHeadAttention.forward``; "" is the whole module.
        old: What is replaced: an expression, or statements that follow each other.
        new: What takes its place; ``pass`` if nothing does.

    Raises:
        ValueError: There is no ``where``, ``old`` is not found in it exactly once, or ``new`` uses a name that neither
            ``where`` nor the module knows.

    >>> module = ast.parse("def f(x):\\n    y = x @ x.mT\\n    return y / 2")
    >>> print(ast.unparse(rewrite(module, "f", "_a @ _a.mT", "_a.mT @ _a")))
    def f(x):
        y = x.mT @ x
        return y / 2
    """
    scope = _definition(module, where)
    pattern, replacement = ast.parse(old).body, ast.parse(new).body
    if _is_expression(pattern) and _is_expression(replacement):
        pattern, replacement = [pattern[0].value], [replacement[0].value]
        candidates: Iterable[list[Any]] = ([node] for node in ast.walk(scope) if isinstance(node, ast.expr))
    else:
        candidates = _sequences(scope, len(pattern))
    places = [(nodes, bound) for nodes in candidates if _matches(pattern, nodes, bound := {})]
    if len(places) != 1:
        raise ValueError(f"expected one place in {where or 'the module'}, found {len(places)}, that matches: {old}")
    [(nodes, bound)] = places
    filled = _fill(replacement, bound)
    known = _names(scope) | _top_level_names(module) | set(dir(builtins))
    if unknown := set().union(*map(_names, filled)) - set().union(*map(_assigned, filled)) - known:
        raise ValueError(f"{where or 'the module'} does not know {', '.join(sorted(unknown))}, as used in: {new}")
    return _replace(module, nodes, filled)


def _is_expression(code: list[Any]) -> bool:
    return len(code) == 1 and isinstance(code[0], ast.Expr)


def _is_ellipsis(node: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_any_body(code: object) -> bool:
    return isinstance(code, list) and len(code) == 1 and isinstance(code[0], ast.Expr) and _is_ellipsis(code[0].value)


def _definition(module: ast.Module, where: str) -> ast.AST:
    """Find a function, method or class by its qualified name."""
    scope: Any = module
    for name in filter(None, where.split(".")):
        found = [node for node in scope.body if getattr(node, "name", None) == name]
        if len(found) != 1:
            raise ValueError(f"expected one definition of {where}, found {len(found)}")
        [scope] = found
    return scope


def _sequences(scope: ast.AST, length: int) -> Iterator[list[ast.stmt]]:
    """List all statements, or all runs of several, that follow each other in one block."""
    for node in ast.walk(scope):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield from (block[start : start + length] for start in range(len(block) - length + 1))


def _matches(pattern: Any, code: Any, bound: Bound) -> bool:
    """Whether code has the shape of a pattern; if so, ``bound`` holds what its placeholders stand for."""
    if isinstance(pattern, ast.Name) and pattern.id.startswith("_"):
        if pattern.id == "_":
            return True
        known = bound.setdefault(pattern.id, code)
        return known is code or ast.unparse(known) == ast.unparse(code)
    if type(pattern) is not type(code):
        return False
    if _is_any_body(pattern):
        bound[BODY] = code
        return True
    if isinstance(pattern, ast.Call):
        return _matches_call(pattern, code, bound)
    if isinstance(pattern, list):
        return len(pattern) == len(code) and all(_matches(p, c, bound) for p, c in zip(pattern, code, strict=True))
    if isinstance(pattern, ast.AST):
        fields = [name for name in pattern._fields if name not in ("ctx", "type_comment", "kind")]
        return all(_matches(getattr(pattern, name), getattr(code, name), bound) for name in fields)
    return pattern == code


def _matches_call(pattern: ast.Call, call: ast.Call, bound: Bound) -> bool:
    named = {keyword.arg for keyword in pattern.keywords}
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    open_ended = bool(pattern.args) and _is_ellipsis(pattern.args[-1])
    arguments = pattern.args[:-1] if open_ended else pattern.args
    further = call.args[len(arguments) :], [keyword for keyword in call.keywords if keyword.arg not in named]
    if open_ended:
        bound[ARGUMENTS] = further
    return (
        (open_ended or not any(further))
        and _matches(pattern.func, call.func, bound)
        and _matches(arguments, call.args[: len(arguments)], bound)
        and all(k.arg in keywords and _matches(k.value, keywords[k.arg], bound) for k in pattern.keywords)
    )


def _fill(replacement: Any, bound: Bound) -> Any:
    """Put what they stand for in place of the placeholders."""
    if isinstance(replacement, ast.Name) and replacement.id in bound:
        return bound[replacement.id]
    if _is_any_body(replacement):
        return bound[BODY]
    if isinstance(replacement, list):
        return [_fill(part, bound) for part in replacement]
    if not isinstance(replacement, ast.AST):
        return replacement
    result = copy.copy(replacement)
    for name, value in ast.iter_fields(replacement):
        setattr(result, name, _fill(value, bound))
    if isinstance(result, ast.Call) and result.args and _is_ellipsis(result.args[-1]):
        rest, further = bound[ARGUMENTS]
        result.args, result.keywords = [*result.args[:-1], *rest], [*result.keywords, *further]
    return result


def _names(code: ast.AST) -> set[str]:
    """List all names of variables in a piece of code, and of arguments."""
    names = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)}


def _assigned(code: ast.AST) -> set[str]:
    stored = {node.id for node in ast.walk(code) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)}


def _top_level_names(module: ast.Module) -> set[str]:
    names = set()
    for node in module.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            names |= {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else _assigned(node)
    return names


def _replace(tree: Any, old: list[Any], new: list[Any]) -> Any:
    """Copy a tree, but for some nodes that follow each other in it, in whose place others are put."""
    result = copy.copy(tree)
    for name, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            setattr(result, name, new[0] if value is old[0] else _replace(value, old, new))
        elif isinstance(value, list):
            at = next((i for i, item in enumerate(value) if item is old[0]), None)
            if at is not None:
                items = [*value[:at], *new, *value[at + len(old) :]]
            else:
                items = [_replace(item, old, new) if isinstance(item, ast.AST) else item for item in value]
            setattr(result, name, items)
    return result
