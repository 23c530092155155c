"""List edits to a call: to its dimension, its function, the order of its arguments or the ends of a range."""

import ast
from collections.abc import Iterator

from transformer_course.running.tree_edit import Assignment, NodePosition, TreeEdit, is_integer, plus

OPPOSITES = (
    ("max", "min"), ("maximum", "minimum"), ("amax", "amin"), ("argmax", "argmin"), ("sum", "mean"), ("sin", "cos"),
    ("tril", "triu"), ("any", "all"), ("floor", "ceil"), ("std", "var"), ("zeros", "ones"), ("stack", "cat"),
    ("repeat", "repeat_interleave"), ("append", "extend"), ("log", "exp"), ("zeros_like", "ones_like"),
)  # fmt: skip
"""Functions, methods and keywords that learners confuse with each other."""
REDUCTIONS = ("sum", "mean", "norm", "max", "min", "std", "var", "amax", "amin", "prod", "logsumexp", "any", "all")
JOINING = ("stack", "cat", "concat")
WITH_DIM = (*JOINING, *REDUCTIONS, "softmax", "log_softmax", "cumsum")
"""Functions and methods that may take the dimension as their last positional argument."""
DIMS = (-1, -2, 0, 1)
"""The dimensions to try."""
MODULES = ("torch", "F", "nn", "math", "np", "parts", "functional")


def edits_of_call(position: NodePosition, node: ast.Call) -> Iterator[TreeEdit]:
    """Yield the possible edits to a call. Calls with unpacked arguments are not edited."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    name = _called_name(node)
    if name == "range":
        yield from _edits_of_range(node)
        return
    yield from _edits_of_dim(node)
    yield from _edits_of_function(node)
    for index in range(len(node.args) - 1):
        first, second = node.args[index : index + 2]
        swapped = [*node.args[:index], second, first, *node.args[index + 2 :]]
        new = ast.Call(node.func, swapped, node.keywords)
        yield TreeEdit("swapped", node, new, [Assignment(node, "args", swapped)])
    if _is_method(node) and isinstance(node.func, ast.Attribute) and name not in ("append", "extend"):
        yield position.edit("call", node.func.value, name)
    elif node.args and not _is_method(node) and all(map(is_integer, node.args[1:])):
        yield position.edit("call", node.args[0], name)


def _edits_of_dim(node: ast.Call) -> Iterator[TreeEdit]:
    """Yield the edits to a call's dimension, whether it is passed by keyword, by position or not at all."""
    name, position = _called_name(node), 0 if _is_method(node) else 1
    keyword = next((keyword for keyword in node.keywords if keyword.arg in ("dim", "axis")), None)
    if keyword:
        for dim in DIMS:
            if ast.unparse(keyword.value) != str(dim):
                yield TreeEdit("dim", node, str(dim), [Assignment(keyword, "value", ast.Constant(dim))])
    elif name in WITH_DIM and len(node.args) > position and is_integer(node.args[position]):
        for dim in DIMS:
            if ast.unparse(node.args[position]) != str(dim):
                yield TreeEdit("dim", node, str(dim), [Assignment(node.args, position, ast.Constant(dim))])
    elif name in JOINING and len(node.args) == position:
        for dim in (-1, 1, -2):
            yield _with_keywords(node, "no_joining_dim", dim=dim)
    elif name in REDUCTIONS and len(node.args) == position and not node.keywords:
        yield _with_keywords(node, "no_dim", dim=-1, keepdim=True)
        yield _with_keywords(node, "no_dim", dim=-1)


def _with_keywords(node: ast.Call, kind: str, **values: int | bool) -> TreeEdit:
    """Return the edit that adds keyword arguments to a call."""
    keywords = [*node.keywords, *(ast.keyword(name, ast.Constant(value)) for name, value in values.items())]
    new = ast.Call(node.func, node.args, keywords)
    return TreeEdit(kind, node, new, [Assignment(node, "keywords", keywords)], _called_name(node))


def _edits_of_function(node: ast.Call) -> Iterator[TreeEdit]:
    """Yield the edits that replace a function, method or keyword with its opposite."""
    function, name = node.func, _called_name(node)
    keyword_names = [keyword.arg for keyword in node.keywords]
    for old, new in (*OPPOSITES, *((new, old) for old, new in OPPOSITES)):
        if name == old:
            field = "attr" if isinstance(function, ast.Attribute) else "id"
            yield TreeEdit("function", node, new, [Assignment(function, field, new)], name)
        for keyword in node.keywords:
            if keyword.arg == old and new not in keyword_names:
                yield TreeEdit("function", node, f"{new}=", [Assignment(keyword, "arg", new)], f"{old}=")


def _edits_of_range(node: ast.Call) -> Iterator[TreeEdit]:
    """Yield the edits that start or end a range one number earlier or later."""
    if len(node.args) == 1:
        [stop] = node.args
        choices = [("range_stop", by, [plus(stop, by)]) for by in (1, -1)]
        choices.append(("range_start", 1, [ast.Constant(1), stop]))
    elif node.args:
        start, stop, *step = node.args
        choices = [("range_stop", by, [start, plus(stop, by), *step]) for by in (1, -1)]
        choices += [("range_start", by, [plus(start, by), stop, *step]) for by in (1, -1)]
    else:
        return
    for kind, by, arguments in choices:
        yield TreeEdit(kind, node, ast.Call(node.func, arguments, []), [Assignment(node, "args", arguments)], by=by)


def _called_name(node: ast.Call) -> str:
    """Return the name of the called function or method, or "" if it has none."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _is_method(node: ast.Call) -> bool:
    """Return whether a call is a method call, unlike a call to a module's function such as ``torch.sum``."""
    match node.func:
        case ast.Attribute(value=ast.Name(id=name)):
            return name not in MODULES
    return isinstance(node.func, ast.Attribute)
