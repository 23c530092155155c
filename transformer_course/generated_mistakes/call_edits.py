"""Edit a function call: call a different function, change the arguments, or skip the call."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from transformer_course.generated_mistakes.confusable_code import ELEMENTWISE, FUNCTIONAL, LIKELY_SIBLINGS, SIBLINGS
from transformer_course.generated_mistakes.expression_syntax import as_operand, input_of, is_self, name_of

Change = tuple[str, str, float]
"""An edit: its kind, the code that replaces the node, and how far-fetched the edit is (1 is likely)."""


def call_edits(node: ast.Call) -> Iterator[Change]:
    """Yield all possible edits to a call."""
    name, main = name_of(node), input_of(node)
    yield from _keyword_edits(node, name, main)
    if main is not None and not (isinstance(node.func, ast.Name) and node.func.id[:1].isupper()):
        yield "call_left_out", ast.unparse(main), 1
        if name in (*ELEMENTWISE, "softmax", "round"):
            yield "twice", _applied_to(node, main, ast.unparse(node)), 2
    for other in SIBLINGS.get(name, ()):
        yield "sibling", _renamed(node, name, other, main), 1 if other in LIKELY_SIBLINGS else 2
    if len(node.args) == 2 and not any(isinstance(one, ast.Starred) for one in node.args):
        a, b = map(ast.unparse, node.args)
        yield "order", f"{ast.unparse(node.func)}({', '.join([b, a, *map(ast.unparse, node.keywords)])})", 1.2
    if len(node.args) > 1 and not is_self(getattr(node.func, "value", node)):
        kept = ", ".join(map(ast.unparse, [*node.args[:-1], *node.keywords]))
        yield "option_left_out", f"{ast.unparse(node.func)}({kept})", 1.6
    if main is not None:
        yield from _function_edits(node, name, as_operand(main))


def _keyword_edits(node: ast.Call, name: str, main: ast.expr | None) -> Iterator[Change]:
    func, arguments = ast.unparse(node.func), [*map(ast.unparse, node.args)]

    def call(*keywords: str) -> str:
        return f"{func}({', '.join([*arguments, *keywords])})"

    for one in node.keywords:
        rest = [ast.unparse(other) for other in node.keywords if other is not one]
        value = ast.unparse(one.value)
        if one.arg == "keepdim":
            yield "keepdim", call(*rest), 1
        elif one.arg in ("dim", "axis"):
            bare = [other for other in rest if not other.startswith("keepdim")]
            if main is not None and name not in ("softmax", "log_softmax", "cat", "stack", "cumsum"):
                yield "all_axes", call(*bare), 1.4
            for axis in ("-2", "0", "1", "-1", "-3", "(-2, -1)"):
                if axis != value:
                    yield "axis", call(f"dim={axis}", *rest), 1 if axis in ("-2", "0", "1") else 2
                    if axis in ("-2", "0") and bare != rest:
                        yield "axis", call(f"dim={axis}", *bare), 2
        elif one.arg is not None and value in ("True", "False"):
            yield "turned_off", call(f"{one.arg}={value == 'False'}", *rest), 1
            yield "turned_off", call(*rest), 1
        elif one.arg is not None:
            yield "option_left_out", call(*rest), 1


def _function_edits(node: ast.Call, name: str, x: str) -> Iterator[Change]:
    """Yield edits that apply only to certain functions."""
    arguments, keywords = [ast.unparse(one) for one in node.args], [ast.unparse(one) for one in node.keywords]
    if name in FUNCTION_RULES and (keywords or name != "sum"):
        yield from FUNCTION_RULES[name](x, arguments, ", ".join(keywords))
    joined = node.args[0] if name in ("cat", "stack") and node.args else None
    if isinstance(joined, ast.List) and len(joined.elts) == 2:
        first, second = map(ast.unparse, joined.elts)
        join, options = ast.unparse(node.func), ", ".join(keywords)
        yield "parts_exchanged", f"{join}([{second}, {first}], {options})", 1.0
        yield "part_left_out", f"{join}([{first}, {first}], {options})", 1.8
        yield "part_left_out", first, 1
        yield "part_left_out", second, 1
    if isinstance(node.func, ast.Attribute) and is_self(node.func.value) and arguments:
        layer = ast.unparse(node.func)
        yield "no_bias", f"torch.nn.functional.linear({arguments[0]}, {layer}.weight)", 2
        yield "untransposed_weight", f"({arguments[0]}) @ {layer}.weight + {layer}.bias", 2


def _sum_edits(x: str, arguments: Sequence[str], keywords: str, name: str = "sum") -> Iterator[Change]:
    yield "all_axes", f"{x}.{name}()", 1.4
    yield "absolute", f"{x}.abs().{name}({keywords})", 2.2


def _mean_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    for length in (f"len({x})", f"({x}.shape[-1] - 1)", f"{x}.shape[-2]"):
        yield "mean_by", f"{x}.sum({keywords}) / {length}", 1.5
    yield from _sum_edits(x, arguments, keywords, "mean")


def _softmax_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    for new, weight in (
        (f"({x}).sigmoid()", 1.6),
        (f"({x}).exp()", 1.5),
        (f"({x}) / ({x}).sum(dim=-1, keepdim=True)", 1.5),
        (f"({x}).exp() / ({x}).exp().sum()", 1.7),
        (f"({x}).exp() / ({x}).exp().sum(dim=-1, keepdim=True)", 1.7),
        (f"torch.nn.functional.one_hot(({x}).argmax(dim=-1), ({x}).shape[-1]).to(({x}).dtype)", 1.8),
        (f"({x}).flatten(-2).softmax(dim=-1).reshape(({x}).shape)", 1.8),
        (f"torch.full_like({x}, 1 / ({x}).shape[-1])", 2.2),
    ):
        yield "no_softmax", new, weight


def _masked_fill_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    if len(arguments) != 2:
        return
    mask, fill = arguments
    yield "not_inverted", f"{x}.masked_fill(~({mask}), {fill})", 1
    yield "times_mask", f"({x}) * ~({mask})", 1.6
    yield "mask_added", f"({x}) + ({mask})", 1.8
    yield "mask_added", f"({x}) + ~({mask})", 1.8
    numbers = (("0.0", 1.0), ("-1.0", 2.2), ("1e-9", 1.6), ("-1e9", 1.8), ("-1e4", 2.2), ("torch.inf", 1.5))
    for number, weight in numbers:
        yield "filled_with", f"{x}.masked_fill({mask}, {number})", weight


def _multinomial_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield "draw", f"{arguments[0]}.argmax(dim=-1, keepdim=True)", 1
    yield "draw", f"torch.multinomial({arguments[0]}, 1, generator=torch.Generator().manual_seed(0))", 2


def _axes_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield "other_axes", f"{x}.mT", 1.6
    yield "other_axes", f"{x}.squeeze()", 1.8


def _transpose_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield from _axes_edits(x, arguments, keywords)
    for axes in ("0, 1", "1, 2", "-2, -1", "0, 2"):
        yield "other_axes", f"{x}.transpose({axes})", 1.4


def _unflatten_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield from _axes_edits(x, arguments, keywords)
    if len(arguments) == 2 and (parts := re.fullmatch(r"\((.+), (.+)\)", arguments[1])):
        yield "other_axes", f"{x}.unflatten({arguments[0]}, ({parts[2]}, {parts[1]}))", 1


def _arange_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    first, *others = arguments
    if not others:
        for new in (f"1, {first} + 1", f"{first} + 1", f"{first} - 1", f"1, {first}"):
            yield "range", f"torch.arange({new})", 1.2
    elif len(others) == 2:
        for new in (others[0], f"{others[0]} // {others[1]}", f"1, {others[0]} + 1, {others[1]}"):
            yield "range", f"torch.arange({new})", 1.2


def _range_edits(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    *before, last = arguments
    for new in (f"{last} - 1", f"{last} + 1"):
        yield "range", f"range({', '.join([*before, new])})", 1.2


def _elementwise_edits(name: str) -> Callable[..., Iterator[Change]]:
    def rule(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
        yield "of_numbers", f"math.{name}({x})", 1.5

    return rule


FUNCTION_RULES: dict[str, Callable[..., Iterator[Change]]] = {
    **{name: _elementwise_edits(name) for name in ("sqrt", "exp", "log", "cos", "sin")},
    **dict.fromkeys(("permute", "flatten", "squeeze", "unsqueeze", "reshape", "view"), _axes_edits),
    "sum": _sum_edits,
    "mean": _mean_edits,
    "softmax": _softmax_edits,
    "masked_fill": _masked_fill_edits,
    "multinomial": _multinomial_edits,
    "transpose": _transpose_edits,
    "unflatten": _unflatten_edits,
    "arange": _arange_edits,
    "range": _range_edits,
}
"""Rules for certain functions. Each rule receives the input, the other arguments and the keywords as code."""


def _renamed(node: ast.Call, name: str, other: str, main: ast.expr | None) -> str:
    """Return a call to another function, written as a method or as a function, whichever torch provides."""
    keywords = [ast.unparse(one) for one in node.keywords]
    if other == "cumsum":  # requires dim and has no keepdim
        keywords = [one for one in keywords if not one.startswith("keepdim")] or ["dim=-1"]
    # elementwise functions don't take dim
    if name in ("softmax", "log_softmax", "cumsum") and other not in ("softmax", "log_softmax", "cumsum"):
        keywords = []
    if main is not None and other in FUNCTIONAL:
        own = [ast.unparse(one) for one in node.args if one is not main]
        return f"torch.nn.functional.{other}({', '.join([ast.unparse(main), *own, *keywords])})"
    if main is not None and name in FUNCTIONAL and other in ELEMENTWISE:
        return f"torch.{other}({ast.unparse(main)})"
    func = f"{ast.unparse(node.func.value)}.{other}" if isinstance(node.func, ast.Attribute) else other
    return f"{func}({', '.join([*map(ast.unparse, node.args), *keywords])})"


def _applied_to(node: ast.Call, main: ast.expr, new: str) -> str:
    """Return a call to the same function with a different input."""
    rest = [ast.unparse(one) for one in [*node.args, *node.keywords] if one is not main]
    if isinstance(node.func, ast.Attribute) and node.func.value is main:
        return f"({new}).{node.func.attr}({', '.join(rest)})"
    return f"{ast.unparse(node.func)}({', '.join([new, *rest])})"
