"""What may be done otherwise in one expression: small edits of its syntax tree, by kind and by how likely they are.

Nothing here knows an exercise. A rule takes a node and yields what a generated mistake puts in its place, as code.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Change = tuple[str, str, float]
"""The kind of an edit, the code that it puts in the place of a node, and how far-fetched that is: 1 is likely."""

REDUCTIONS = ("sum", "mean", "amax", "amin", "prod", "norm", "std", "cumsum")
SIBLINGS: dict[str, Sequence[str]] = {
    **{name: [other for other in REDUCTIONS if other != name] for name in REDUCTIONS},
    "exp": ("exp2", "expm1", "relu", "sigmoid", "abs", "square", "log"),
    "square": ("abs", "exp", "sqrt"),
    "abs": ("square", "relu"),
    "sqrt": ("square", "rsqrt", "log"),
    "rsqrt": ("sqrt", "reciprocal"),
    "softmax": ("log_softmax", "sigmoid", "cumsum"),
    "log_softmax": ("softmax", "logsigmoid"),
    "logsumexp": ("sum", "amax", "mean"),
    "sigmoid": ("tanh", "relu", "softmax"),
    "logsigmoid": ("sigmoid", "log_softmax"),
    "tanh": ("sigmoid", "relu"),
    "relu": ("gelu", "sigmoid", "tanh", "silu", "abs"),
    "gelu": ("relu", "silu", "tanh"),
    "silu": ("sigmoid", "relu", "gelu", "tanh"),
    "log": ("log2", "log10", "log1p", "exp"),
    "log2": ("log", "log10"),
    "tril": ("triu",),
    "triu": ("tril",),
    "cos": ("sin",),
    "sin": ("cos",),
    "outer": ("dot",),
    "ones": ("zeros",),
    "zeros": ("ones",),
    "ones_like": ("zeros_like",),
    "zeros_like": ("ones_like",),
    "min": ("max",),
    "max": ("min",),
    "minimum": ("maximum",),
    "maximum": ("minimum",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "all": ("any",),
    "any": ("all",),
    "stack": ("cat",),
    "cat": ("stack",),
    "var": ("std",),
    "repeat_interleave": ("repeat",),
    "repeat": ("repeat_interleave",),
    "ceil": ("floor",),
    "floor": ("ceil",),
    "floor_divide": ("divide",),
    "sort": ("argsort",),
    "argsort": ("argmax",),
    "expand": ("repeat",),
}
FAMILIAR = ("mean", "sum", "amax", "amin", "triu", "tril", "sin", "cos", "log_softmax", "max", "min", "any", "all")
"""Siblings that are easily taken for each other."""
FUNCTIONAL = ("relu", "gelu", "silu", "logsigmoid", "softmax", "log_softmax")
"""Siblings that not every tensor has as a method, or not ``torch``."""
ELEMENTWISE = ("exp", "square", "abs", "sqrt", "cos", "sin", "relu", "gelu", "silu", "sigmoid", "tanh", "log")
OPERATORS: dict[type[ast.operator], Sequence[str]] = {
    ast.Add: "-*/",
    ast.Sub: "+*/",
    ast.Mult: ("/", "+", "-"),
    ast.Div: ("*", "//", "-", "+"),
    ast.FloorDiv: "/*%",
    ast.Mod: ("//",),
    ast.Pow: "*/",
    ast.MatMult: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
COMPARISONS: dict[type[ast.cmpop], Sequence[str]] = {
    ast.Lt: ("<=", ">", ">="),
    ast.LtE: ("<", ">", ">="),
    ast.Gt: (">=", "<", "<="),
    ast.GtE: (">", "<", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
MODULES = ("torch", "math", "F", "functional", "nn", "np")


class Edit(NamedTuple):
    """One edit of a step: which node, of what kind, what stood there, what stands there, and the whole code with it."""

    at: int
    kind: str
    old: str
    new: str
    code: str
    weight: float

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for the same edit of a step of the same form."""
        return self.at, self.kind, self.new if self.kind in ("axis", "number", "length") else ""


def edits(body: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Yield all single edits of a step's code, without those that change nothing."""
    module = ast.Module(body=list(body), type_ignores=[])
    right = ast.unparse(module)
    for at, node in enumerate(ast.walk(module)):
        rule = next((rule for kind, rule in RULES.items() if isinstance(node, kind)), None)
        for kind, new, weight in rule(node) if rule else ():
            code = ast.unparse(replaced(module, at, new))
            if code != right:
                yield Edit(at, kind, ast.unparse(node), new, code, weight)


def replaced(module: ast.Module, at: int, new: str) -> ast.AST:
    """Return a syntax tree with other code in the place of its node of a number."""
    changed = copy.deepcopy(module)
    target = next(node for number, node in enumerate(ast.walk(changed)) if number == at)

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return parsed(new) if node is target else super().generic_visit(node)

    return Put().visit(changed)


def parsed(code: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    return ast.parse(code, mode="eval").body


def name_of(call: ast.Call) -> str:
    """Return the last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def input_of(call: ast.Call) -> ast.expr | None:
    """Return what a call works on: what it is a method of, or its first argument."""
    if isinstance(call.func, ast.Attribute) and not _is_module(call.func.value) and not _is_self(call.func.value):
        return call.func.value
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).partition(".")[0] in MODULES


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _of_operation(node: ast.BinOp) -> Iterator[Change]:
    a, b = ast.unparse(node.left), ast.unparse(node.right)
    is_sum = isinstance(node.op, ast.Add | ast.Sub)
    for other in OPERATORS.get(type(node.op), ()):
        yield "operator", f"({a}) {other} ({b})", 1
    if not isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        yield "order", f"({b}) {_sign(node.op)} ({a})", 1
    yield "part_left_out", a, 1
    yield "part_left_out", f"-({b})" if isinstance(node.op, ast.Sub) else b, 1.4
    if isinstance(node.op, ast.Sub):
        yield "part_left_out", b, 2
        yield "absolute", f"abs(({a}) - ({b}))", 1.8
    for side, rest in ((node.left, b), (node.right, a)):  # (x - y) / z read as x - y / z, x / (y * z) as x / y * z
        if isinstance(side, ast.BinOp) and not is_sum and isinstance(side.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            x, y, sign = ast.unparse(side.left), ast.unparse(side.right), _sign(side.op)
            if side is node.left:
                yield "brackets", f"({x}) {sign} ({y}) {_sign(node.op)} ({rest})", 1
            else:
                yield "brackets", f"({rest}) {_sign(node.op)} ({x}) {sign} ({y})", 1
    if is_sum and isinstance(node.left, ast.BinOp) and isinstance(node.right, ast.BinOp):
        x, y, v, w = (ast.unparse(one) for side in (node.left, node.right) for one in (side.left, side.right))
        sign, other = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
        for new in (f"{x} * {w} {sign} {v} * {y}", f"{x} * {w} {other} {v} * {y}", f"{v} * {w} {other} {x} * {y}"):
            yield "terms", new, 1.6
    if isinstance(node.op, ast.Pow):
        yield from _of_power(a, b, _number(node.right))
    if isinstance(node.op, ast.MatMult):
        for new, weight in (
            (f"({a}).mT @ ({b})", 1.0),
            (f"({a}) @ ({b}).mT", 1.0),
            (f"({b}).mT @ ({a})", 1.6),
            (f"({b}).mT @ ({a}).mT", 1.6),
            (f"({a}) * ({b}).mT", 2.2),
            (f"(({a}) * ({b})).sum(dim=-1, keepdim=True)", 2.2),
            (f"(({a}) * ({b})).sum(dim=-1)", 2.2),
        ):
            yield "product", new, weight
    if isinstance(node.op, ast.Add):
        yield "clamped", f"({a}).clamp(min={b})", 2
        yield "operand_squared", f"({a}) + ({b}) ** 2", 2


def _of_power(base: str, exponent: str, number: float | int | None) -> Iterator[Change]:
    yield "power", f"({base}) ** (-({exponent}))", 1
    if number in (0.5, -0.5):
        yield "power", f"({base}) ** {number * 2:g}", 1
        yield "power", f"({base}) ** {number / 2}", 2
        yield "power", f"({base}) ** {1 if number > 0 else -1} / 2", 1.2
        yield "power", f"math.isqrt(int({base}))", 2.2
        yield "power", f"math.log({base})", 2.5
    elif number is not None:
        yield "power", f"({base}) ** {number + 1}", 1.8
        yield "power", f"({base}) ** {number - 1}", 1.8
    yield "power", f"math.e ** ({exponent})", 2.2


def _of_sign(node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.Invert | ast.Not):
        yield "not_inverted", ast.unparse(node.operand), 1
    elif isinstance(node.op, ast.USub) and _number(node) is None:
        yield "sign", ast.unparse(node.operand), 1
    elif isinstance(node.op, ast.USub):
        yield from _of_number(node)


def _of_comparison(node: ast.Compare) -> Iterator[Change]:
    if len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield "comparison", f"({ast.unparse(node.left)}) {other} ({ast.unparse(node.comparators[0])})", 1


def _of_choice(node: ast.IfExp) -> Iterator[Change]:
    yes, no, test = ast.unparse(node.body), ast.unparse(node.orelse), ast.unparse(node.test)
    yield "always_one", yes, 1.4
    yield "always_one", no, 1
    yield "condition", f"({no}) if ({test}) else ({yes})", 1.8


def _of_pair(node: ast.Tuple) -> Iterator[Change]:
    if isinstance(node.ctx, ast.Load) and len(node.elts) == 2 and not any(isinstance(e, ast.Slice) for e in node.elts):
        a, b = map(ast.unparse, node.elts)
        for new, weight in ((f"({b}, {a})", 1.0), (f"({a}, {a})", 1.5), (f"({b}, {b})", 1.5)):
            yield "parts_exchanged", new, weight
        yield "part_left_out", a, 1.5
        yield "part_left_out", b, 2


def _of_attribute(node: ast.Attribute) -> Iterator[Change]:
    if node.attr in ("mT", "T"):
        x = ast.unparse(node.value)
        yield "not_transposed", x, 1
        for new, weight in ((f"{x}.T", 1.5), (f"{x}.transpose(0, 1)", 1.4), (f"{x}.transpose(1, 2)", 1.6)):
            yield "other_axes", new, weight
    elif node.attr in ("values", "indices") and isinstance(node.value, ast.Call):
        yield "other_part", f"{ast.unparse(node.value)}.{'indices' if node.attr == 'values' else 'values'}", 1.2


def _of_number(node: ast.expr) -> Iterator[Change]:
    value = _number(node)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "turned_off", repr(not node.value), 1
    if value is None:
        return
    half = value / 2 if type(value) is float else value // 2
    for near in dict.fromkeys(
        repr(new) for new in (value + 1, value - 1, value * 2, half, -value, 0, 1) if new != value
    ):
        yield "number", near, 1.5
    if type(value) is int:
        yield "number", repr(value + 2), 2.4
        yield "number", repr(value - 2), 2.4


ENDS = {
    **{"0::2": ("1::2", "::1"), "1::2": ("0::2",), "::2": ("1::2",), "-1:": ("-1", ":1", "-2:"), ":1": ("-1:", ":")},
    **{":-1": (":", "1:", ":-2"), "1:": (":", ":-1", "2:"), ":, None": ("None, :",), "None, :": (":, None",)},
    **{"None": (":",), "-1": ("0",), "0": ("-1", "1")},
}
"""What an index may end with in place of this."""


def _of_index(node: ast.Subscript) -> Iterator[Change]:
    x, text, number = ast.unparse(node.value), ast.unparse(node.slice).strip("()"), _number(node.slice)
    if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        for index in ("-1", "-2", "0", "1", "-3"):
            if index != text:
                yield "length", f"{x}[{index}]", 1 if index in ("-1", "-2") else 1.5
        return
    if type(number) is int:
        for near in sorted({0, 1, -1, number + 1, number - 1} - {number}):
            yield "index", f"{x}[{near}]", 1.4
    elif isinstance(node.slice, ast.Tuple | ast.Slice):
        end = next((end for end in ENDS if text.endswith(end)), "")
        for other in ENDS.get(end, ()):
            yield "slice", f"{x}[{text.removesuffix(end)}{other}]", 1
        if isinstance(node.slice, ast.Slice) and node.slice.step is None:
            yield from _of_slice(x, node.slice)
    yield "not_indexed", x, 1.5


def _of_slice(x: str, cut: ast.Slice) -> Iterator[Change]:
    low, high = (ast.unparse(one) if one else "" for one in (cut.lower, cut.upper))
    yield "slice", f"{x}[:{low}]" if low and not high else f"{x}[{high}:]", 1.2
    for bound in filter(None, (low, high)):
        for new in (f"({bound}) + 1", f"({bound}) - 1"):
            yield "slice", f"{x}[{new}:{high}]" if bound == low else f"{x}[{low}:{new}]", 1.5


def _of_call(node: ast.Call) -> Iterator[Change]:
    name, main = name_of(node), input_of(node)
    yield from _of_keywords(node, name, main)
    if main is not None and not (isinstance(node.func, ast.Name) and node.func.id[:1].isupper()):
        yield "call_left_out", ast.unparse(main), 1
        if name in (*ELEMENTWISE, "softmax", "round"):
            yield "twice", _on(node, main, ast.unparse(node)), 2
    for other in SIBLINGS.get(name, ()):
        yield "sibling", _renamed(node, name, other, main), 1 if other in FAMILIAR else 2
    if len(node.args) == 2 and not any(isinstance(one, ast.Starred) for one in node.args):
        a, b = map(ast.unparse, node.args)
        yield "order", f"{ast.unparse(node.func)}({', '.join([b, a, *map(ast.unparse, node.keywords)])})", 1.2
    if len(node.args) > 1 and not _is_self(getattr(node.func, "value", node)):
        kept = ", ".join(map(ast.unparse, [*node.args[:-1], *node.keywords]))
        yield "option_left_out", f"{ast.unparse(node.func)}({kept})", 1.6
    if main is not None:
        yield from _of_function(node, name, _closed(main))


def _of_keywords(node: ast.Call, name: str, main: ast.expr | None) -> Iterator[Change]:
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


def _of_function(node: ast.Call, name: str, x: str) -> Iterator[Change]:
    """Yield what is done in place of certain functions."""
    arguments, keywords = [ast.unparse(one) for one in node.args], [ast.unparse(one) for one in node.keywords]
    of_joined = name in ("cat", "stack") and node.args and isinstance(node.args[0], ast.List)
    if name in OF_FUNCTIONS and (keywords or name != "sum"):
        yield from OF_FUNCTIONS[name](x, arguments, ", ".join(keywords))
    if of_joined and len(parts := [ast.unparse(one) for one in node.args[0].elts]) == 2:  # type: ignore[attr-defined]
        for kind, several, weight in (("order", parts[::-1], 1.0), ("twice", [parts[0]] * 2, 1.8)):
            new = f"{ast.unparse(node.func)}([{', '.join(several)}], {', '.join(keywords)})"
            yield "parts_exchanged" if kind == "order" else "part_left_out", new, weight
        yield "part_left_out", parts[0], 1
        yield "part_left_out", parts[1], 1
    if isinstance(node.func, ast.Attribute) and _is_self(node.func.value) and arguments:
        layer = ast.unparse(node.func)
        yield "no_bias", f"torch.nn.functional.linear({arguments[0]}, {layer}.weight)", 2
        yield "untransposed_weight", f"({arguments[0]}) @ {layer}.weight + {layer}.bias", 2


def _of_sum(x: str, arguments: Sequence[str], keywords: str, name: str = "sum") -> Iterator[Change]:
    yield "all_axes", f"{x}.{name}()", 1.4
    yield "absolute", f"{x}.abs().{name}({keywords})", 2.2


def _of_mean(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    for length in (f"len({x})", f"({x}.shape[-1] - 1)", f"{x}.shape[-2]"):
        yield "mean_by", f"{x}.sum({keywords}) / {length}", 1.5
    yield from _of_sum(x, arguments, keywords, "mean")


def _of_softmax(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
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


def _of_masked_fill(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
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


def _of_multinomial(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield "draw", f"{arguments[0]}.argmax(dim=-1, keepdim=True)", 1
    yield "draw", f"torch.multinomial({arguments[0]}, 1, generator=torch.Generator().manual_seed(0))", 2


def _of_axes(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield "other_axes", f"{x}.mT", 1.6
    yield "other_axes", f"{x}.squeeze()", 1.8


def _of_transpose(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield from _of_axes(x, arguments, keywords)
    for axes in ("0, 1", "1, 2", "-2, -1", "0, 2"):
        yield "other_axes", f"{x}.transpose({axes})", 1.4


def _of_unflatten(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    yield from _of_axes(x, arguments, keywords)
    if len(arguments) == 2 and (parts := re.fullmatch(r"\((.+), (.+)\)", arguments[1])):
        yield "other_axes", f"{x}.unflatten({arguments[0]}, ({parts[2]}, {parts[1]}))", 1


def _of_arange(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    first, *others = arguments
    if not others:
        for new in (f"1, {first} + 1", f"{first} + 1", f"{first} - 1", f"1, {first}"):
            yield "range", f"torch.arange({new})", 1.2
    elif len(others) == 2:
        for new in (others[0], f"{others[0]} // {others[1]}", f"1, {others[0]} + 1, {others[1]}"):
            yield "range", f"torch.arange({new})", 1.2


def _of_range(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
    *before, last = arguments
    for new in (f"{last} - 1", f"{last} + 1"):
        yield "range", f"range({', '.join([*before, new])})", 1.2


def _of_elementwise(name: str) -> Callable[..., Iterator[Change]]:
    def rule(x: str, arguments: Sequence[str], keywords: str) -> Iterator[Change]:
        yield "of_numbers", f"math.{name}({x})", 1.5

    return rule


OF_FUNCTIONS: dict[str, Callable[..., Iterator[Change]]] = {
    **{name: _of_elementwise(name) for name in ("sqrt", "exp", "log", "cos", "sin")},
    **dict.fromkeys(("permute", "flatten", "squeeze", "unsqueeze", "reshape", "view"), _of_axes),
    "sum": _of_sum,
    "mean": _of_mean,
    "softmax": _of_softmax,
    "masked_fill": _of_masked_fill,
    "multinomial": _of_multinomial,
    "transpose": _of_transpose,
    "unflatten": _of_unflatten,
    "arange": _of_arange,
    "range": _of_range,
}
"""What is done in place of a function, from what it works on, its other arguments and its keywords, as code."""


def _closed(node: ast.expr) -> str:
    """Return code to which a method or an index may be added."""
    is_open = isinstance(
        node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda | ast.Constant
    )
    return f"({ast.unparse(node)})" if is_open else ast.unparse(node)


def _renamed(node: ast.Call, name: str, other: str, main: ast.expr | None) -> str:
    """Return a call of another function, in the form in which torch has it."""
    keywords = [ast.unparse(one) for one in node.keywords]
    if other == "cumsum":
        keywords = [one for one in keywords if not one.startswith("keepdim")] or ["dim=-1"]
    if name in ("softmax", "log_softmax", "cumsum") and other not in ("softmax", "log_softmax", "cumsum"):
        keywords = []
    if main is not None and other in FUNCTIONAL:
        own = [ast.unparse(one) for one in node.args if one is not main]
        return f"torch.nn.functional.{other}({', '.join([ast.unparse(main), *own, *keywords])})"
    if main is not None and name in FUNCTIONAL and other in ELEMENTWISE:
        return f"torch.{other}({ast.unparse(main)})"
    func = f"{ast.unparse(node.func.value)}.{other}" if isinstance(node.func, ast.Attribute) else other
    return f"{func}({', '.join([*map(ast.unparse, node.args), *keywords])})"


def _on(node: ast.Call, main: ast.expr, new: str) -> str:
    """Return a call that works on something else."""
    rest = [ast.unparse(one) for one in [*node.args, *node.keywords] if one is not main]
    if isinstance(node.func, ast.Attribute) and node.func.value is main:
        return f"({new}).{node.func.attr}({', '.join(rest)})"
    return f"{ast.unparse(node.func)}({', '.join([new, *rest])})"


def _sign(op: ast.operator) -> str:
    return ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b"))).removeprefix("a ").removesuffix(" b")


def _number(node: ast.expr) -> float | int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if type(value) in (int, float) else None


RULES: dict[type[ast.AST], Callable[..., Iterator[Change]]] = {
    ast.BinOp: _of_operation,
    ast.UnaryOp: _of_sign,
    ast.Compare: _of_comparison,
    ast.IfExp: _of_choice,
    ast.Tuple: _of_pair,
    ast.Attribute: _of_attribute,
    ast.Constant: _of_number,
    ast.Subscript: _of_index,
    ast.Call: _of_call,
}
"""What may stand in the place of a node, by its type."""
