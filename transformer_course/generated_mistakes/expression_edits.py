"""Make small edits to the syntax tree of an expression.

Each rule takes a node and yields replacements with their kind and weight. No rule is specific to an exercise.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from transformer_course.generated_mistakes.call_edits import Change, call_edits
from transformer_course.generated_mistakes.confusable_code import COMPARISONS, INDEX_ENDINGS, OPERATORS
from transformer_course.generated_mistakes.expression_syntax import number_of, operator_symbol, parsed


class Edit(NamedTuple):
    """An edit to a step.

    Attributes:
        at: Index of the edited node in ``ast.walk`` order.
        kind: The kind of edit.
        old: The node's code.
        new: The code that replaces it.
        code: The code of the step after the edit.
        weight: How far-fetched the edit is; 1 is likely.
    """

    at: int
    kind: str
    old: str
    new: str
    code: str
    weight: float

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is the same for equal edits to steps with the same structure."""
        return self.at, self.kind, self.new if self.kind in ("axis", "number", "length") else ""


def edits(body: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Yield all possible edits to a step's code that change one node."""
    module = ast.Module(body=list(body), type_ignores=[])
    original = ast.unparse(module)
    for at, node in enumerate(ast.walk(module)):
        rule = next((rule for kind, rule in RULES.items() if isinstance(node, kind)), None)
        for kind, new, weight in rule(node) if rule else ():
            code = ast.unparse(replaced(module, at, new))
            if code != original:
                yield Edit(at, kind, ast.unparse(node), new, code, weight)


def replaced(module: ast.Module, at: int, new: str) -> ast.AST:
    """Return a copy of a syntax tree in which ``new`` replaces the node with index ``at``."""
    changed = copy.deepcopy(module)
    target = next(node for number, node in enumerate(ast.walk(changed)) if number == at)

    class NodeReplacer(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return parsed(new) if node is target else super().generic_visit(node)

    return NodeReplacer().visit(changed)


def _operation_edits(node: ast.BinOp) -> Iterator[Change]:
    a, b = ast.unparse(node.left), ast.unparse(node.right)
    is_sum = isinstance(node.op, ast.Add | ast.Sub)
    for other in OPERATORS.get(type(node.op), ()):
        yield "operator", f"({a}) {other} ({b})", 1
    if not isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        yield "order", f"({b}) {operator_symbol(node.op)} ({a})", 1
    yield "part_left_out", a, 1
    yield "part_left_out", f"-({b})" if isinstance(node.op, ast.Sub) else b, 1.4
    if isinstance(node.op, ast.Sub):
        yield "part_left_out", b, 2
        yield "absolute", f"abs(({a}) - ({b}))", 1.8
    yield from _bracket_edits(node)
    if is_sum:
        yield from _term_edits(node)
    if isinstance(node.op, ast.Pow):
        yield from _power_edits(a, b, number_of(node.right))
    if isinstance(node.op, ast.MatMult):
        yield from _matrix_product_edits(a, b)
    if isinstance(node.op, ast.Add):
        yield "clamped", f"({a}).clamp(min={b})", 2
        yield "operand_squared", f"({a}) + ({b}) ** 2", 2


def _bracket_edits(node: ast.BinOp) -> Iterator[Change]:
    """Yield edits that drop parentheses: x - y / z for (x - y) / z, and x / y * z for x / (y * z)."""
    if isinstance(node.op, ast.Add | ast.Sub):
        return
    outer = operator_symbol(node.op)
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            x, y, inner = ast.unparse(side.left), ast.unparse(side.right), operator_symbol(side.op)
            if side is node.left:
                yield "brackets", f"({x}) {inner} ({y}) {outer} ({ast.unparse(node.right)})", 1
            else:
                yield "brackets", f"({ast.unparse(node.left)}) {outer} ({x}) {inner} ({y})", 1


def _term_edits(node: ast.BinOp) -> Iterator[Change]:
    """Yield wrong combinations of the factors in a sum of two products, as in a complex product or a rotation."""
    if not isinstance(node.left, ast.BinOp) or not isinstance(node.right, ast.BinOp):
        return
    x, y = ast.unparse(node.left.left), ast.unparse(node.left.right)
    v, w = ast.unparse(node.right.left), ast.unparse(node.right.right)
    sign, other = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
    yield "terms", f"{x} * {w} {sign} {v} * {y}", 1.6
    yield "terms", f"{x} * {w} {other} {v} * {y}", 1.6
    yield "terms", f"{v} * {w} {other} {x} * {y}", 1.6


def _matrix_product_edits(a: str, b: str) -> Iterator[Change]:
    yield "product", f"({a}).mT @ ({b})", 1.0
    yield "product", f"({a}) @ ({b}).mT", 1.0
    yield "product", f"({b}).mT @ ({a})", 1.6
    yield "product", f"({b}).mT @ ({a}).mT", 1.6
    yield "product", f"({a}) * ({b}).mT", 2.2
    yield "product", f"(({a}) * ({b})).sum(dim=-1, keepdim=True)", 2.2
    yield "product", f"(({a}) * ({b})).sum(dim=-1)", 2.2


def _power_edits(base: str, exponent: str, number: float | int | None) -> Iterator[Change]:
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


def _unary_edits(node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.Invert | ast.Not):
        yield "not_inverted", ast.unparse(node.operand), 1
    elif isinstance(node.op, ast.USub) and number_of(node) is None:
        yield "sign", ast.unparse(node.operand), 1
    elif isinstance(node.op, ast.USub):
        yield from _number_edits(node)


def _comparison_edits(node: ast.Compare) -> Iterator[Change]:
    if len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield "comparison", f"({ast.unparse(node.left)}) {other} ({ast.unparse(node.comparators[0])})", 1


def _conditional_edits(node: ast.IfExp) -> Iterator[Change]:
    yes, no, test = ast.unparse(node.body), ast.unparse(node.orelse), ast.unparse(node.test)
    yield "always_one", yes, 1.4
    yield "always_one", no, 1
    yield "condition", f"({no}) if ({test}) else ({yes})", 1.8


def _pair_edits(node: ast.Tuple) -> Iterator[Change]:
    if isinstance(node.ctx, ast.Load) and len(node.elts) == 2 and not any(isinstance(e, ast.Slice) for e in node.elts):
        a, b = map(ast.unparse, node.elts)
        for new, weight in ((f"({b}, {a})", 1.0), (f"({a}, {a})", 1.5), (f"({b}, {b})", 1.5)):
            yield "parts_exchanged", new, weight
        yield "part_left_out", a, 1.5
        yield "part_left_out", b, 2


def _attribute_edits(node: ast.Attribute) -> Iterator[Change]:
    if node.attr in ("mT", "T"):
        x = ast.unparse(node.value)
        yield "not_transposed", x, 1
        for new, weight in ((f"{x}.T", 1.5), (f"{x}.transpose(0, 1)", 1.4), (f"{x}.transpose(1, 2)", 1.6)):
            yield "other_axes", new, weight
    elif node.attr in ("values", "indices") and isinstance(node.value, ast.Call):
        yield "other_part", f"{ast.unparse(node.value)}.{'indices' if node.attr == 'values' else 'values'}", 1.2


def _number_edits(node: ast.expr) -> Iterator[Change]:
    value = number_of(node)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "turned_off", repr(not node.value), 1
    if value is None:
        return
    half = value / 2 if type(value) is float else value // 2
    others = (value + 1, value - 1, value * 2, half, -value, 0, 1)
    for other in dict.fromkeys(repr(other) for other in others if other != value):
        yield "number", other, 1.5
    if type(value) is int:
        yield "number", repr(value + 2), 2.4
        yield "number", repr(value - 2), 2.4


def _index_edits(node: ast.Subscript) -> Iterator[Change]:
    x, text, number = ast.unparse(node.value), ast.unparse(node.slice).strip("()"), number_of(node.slice)
    if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        for index in ("-1", "-2", "0", "1", "-3"):
            if index != text:
                yield "length", f"{x}[{index}]", 1 if index in ("-1", "-2") else 1.5
        return
    if type(number) is int:
        for near in sorted({0, 1, -1, number + 1, number - 1} - {number}):
            yield "index", f"{x}[{near}]", 1.4
    elif isinstance(node.slice, ast.Tuple | ast.Slice):
        end = next((end for end in INDEX_ENDINGS if text.endswith(end)), "")
        for other in INDEX_ENDINGS.get(end, ()):
            yield "slice", f"{x}[{text.removesuffix(end)}{other}]", 1
        if isinstance(node.slice, ast.Slice) and node.slice.step is None:
            yield from _slice_edits(x, node.slice)
    yield "not_indexed", x, 1.5


def _slice_edits(x: str, cut: ast.Slice) -> Iterator[Change]:
    low, high = (ast.unparse(one) if one else "" for one in (cut.lower, cut.upper))
    yield "slice", f"{x}[:{low}]" if low and not high else f"{x}[{high}:]", 1.2
    for bound in filter(None, (low, high)):
        for new in (f"({bound}) + 1", f"({bound}) - 1"):
            yield "slice", f"{x}[{new}:{high}]" if bound == low else f"{x}[{low}:{new}]", 1.5


RULES: dict[type[ast.AST], Callable[..., Iterator[Change]]] = {
    ast.BinOp: _operation_edits,
    ast.UnaryOp: _unary_edits,
    ast.Compare: _comparison_edits,
    ast.IfExp: _conditional_edits,
    ast.Tuple: _pair_edits,
    ast.Attribute: _attribute_edits,
    ast.Constant: _number_edits,
    ast.Subscript: _index_edits,
    ast.Call: call_edits,
}
"""The rule for each type of node."""
