"""Translate a line of code into English: ``total / count`` becomes "divide the total by the count"."""

import ast
import re
from collections.abc import Callable

Noun = Callable[[str], str]
"""Function that returns the noun for a name in the code, or "" if there is no noun."""

BINARY = {
    "Add": "add {b} to {a}", "Sub": "subtract {b} from {a}", "Mult": "multiply {a} by {b}", "Div": "divide {a} by {b}",
    "FloorDiv": "divide {a} by {b} and round down", "Mod": "take the remainder of {a} divided by {b}",
    "MatMult": "multiply {a} by {b}", "BitAnd": "combine {a} and {b} with *and*",
    "BitOr": "combine {a} and {b} with *or*",
}  # fmt: skip
"""Imperatives for binary operations."""
GERUNDS = {
    "Add": "adding", "Sub": "subtracting", "Mult": "multiplying", "Div": "dividing", "Pow": "raising to a power",
    "FloorDiv": "dividing and rounding down", "Mod": "taking the remainder", "MatMult": "taking the matrix product",
    "BitAnd": "combining with *and*", "BitOr": "combining with *or*",
}  # fmt: skip
"""Gerunds for binary operations."""
CALLS = {
    "sum": "add up {a}", "mean": "average {a}", "amax": "take the maximum of {a}", "amin": "take the minimum of {a}",
    "exp": "take `exp` of {a}", "log": "take the logarithm of {a}", "sqrt": "take the square root of {a}",
    "square": "square {a}", "abs": "take the absolute value of {a}", "tanh": "take the tanh of {a}",
    "sigmoid": "take the sigmoid of {a}", "relu": "apply the ReLU to {a}", "softmax": "take the softmax of {a}",
    "log_softmax": "take the log-softmax of {a}", "cumsum": "take the running sum of {a}", "round": "round {a}",
    "mT": "transpose {a}", "T": "transpose {a}", "transpose": "swap two dimensions of {a}", "flatten": "flatten {a}",
    "reshape": "reshape {a}", "unsqueeze": "add a dimension to {a}", "squeeze": "squeeze {a}", "clamp": "clamp {a}",
    "float": "convert {a} to floats", "any": "reduce {a} with `any`", "all": "reduce {a} with `all`",
    "argmax": "take the argmax of {a}", "sin": "take the sine of {a}", "cos": "take the cosine of {a}",
    "logsigmoid": "take the log-sigmoid of {a}", "silu": "apply SiLU to {a}", "norm": "take the norm of {a}",
    "tril": "take the lower triangle of {a}", "detach": "detach {a}", "outer": "take the outer product of {a}",
}  # fmt: skip
"""Imperatives for functions and methods, applied to their first argument or their object."""
FUNCTIONS = {"sqrt": "the square root of", "exp": "`exp` of", "log": "the logarithm of", "len": "the length of"}
"""Nouns for the results of functions."""
_MODULES = ("torch", "math", "F", "nn", "functional")
_ADDS_A_DIMENSION = re.compile(r"\(?(?:(?::|\.\.\.),)*None(?:,(?::|\.\.\.|None))*\)?")
_REFERS_BACK = re.compile(
    r"^\w+$|^do so\b|^(?:take|count) its\b|^\w+ (?:up |out |in )?(?:it|them|those|both|that)\b|\b(?:this|these)\b"
    r"|\b(?:by|to|with|on|from|of|at|along) (?:it|them|that)(?! of each\b)(?=$|[ ,]|:)|\bthe two\b(?! \w+s\b)"
    r"|\bthe one by the other\b|\b(?:of|from) those\b| is$"
)


def parse(code: str) -> ast.expr | None:
    """Return the syntax tree of an expression, or None if the code is not an expression."""
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def action(node: ast.AST | None, noun: Noun) -> str:
    """Describe an expression with an imperative, or return "" if the expression has more than one operation."""
    match node:
        case ast.Lambda(body=body):
            return action(body, noun)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(type(op).__name__, operand(left, noun), operand(right, noun), right)
        case ast.UnaryOp(op=op, operand=inner):
            verbs = {"USub": "flip the sign of {}", "Invert": "invert {}", "Not": "negate {}"}
            value = operand(inner, noun)
            return verbs[type(op).__name__].format(value) if value and type(op).__name__ in verbs else ""
        case ast.Attribute(value=inner, attr="mT" | "T"):
            value = operand(inner, noun)
            return f"transpose {value}" if value else ""
        case ast.Call():
            return _call(node, noun)
    return ""


def _binary(sign: str, a: str, b: str, right: ast.expr) -> str:
    if sign == "Pow" and a and isinstance(right, ast.Constant):
        roots = {"0.5": f"take the square root of {a}", "2": f"square {a}"}
        return roots.get(b, f"raise {a} to the power {b}")
    return BINARY[sign].format(a=a, b=b) if a and b and sign in BINARY else ""


def _call(node: ast.Call, noun: Noun) -> str:
    value, name = _argument(node, noun), called(node)
    if not value:
        return ""
    if _is_of_self(node.func):
        return f"apply `{name}` to {value}"
    function = noun(name) if isinstance(node.func, ast.Name) else ""
    if "layer" in function or "`" in function:
        return f"apply {function} to {value}" if len(node.args) == 1 else ""
    return CALLS[name].format(a=value) if name in CALLS and not function else ""


def operand(node: ast.AST | None, noun: Noun) -> str:
    """Describe a value with a noun, or return "" if there is no noun."""

    def of(inner: ast.expr, template: str = "{}") -> str:
        value = operand(inner, noun)
        return template.format(value) if value else ""

    match node:
        case ast.Name(id=name):
            return noun(name)
        case ast.Constant(value=int() | float()):
            return ast.unparse(node)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return minus(ast.unparse(node))
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"`{name}`"
        case ast.Attribute(value=inner, attr="mT" | "T"):
            return of(inner, "{}, transposed,")
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=0.5)):
            return of(left, "the square root of {}")
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
            return of(left, "the square of {}")
        case ast.Call() if called(node) in FUNCTIONS:
            value = _argument(node, noun)
            return f"{FUNCTIONS[called(node)]} {value}" if value else ""
        case ast.Subscript(value=ast.Attribute(value=inner, attr="shape"), slice=index):
            return of(inner, f"the size of dim {minus(ast.unparse(index))} of {{}}")
        case ast.Subscript(value=inner, slice=index) if _ADDS_A_DIMENSION.fullmatch(
            ast.unparse(index).replace(" ", "")
        ):
            return of(inner)
    return ""


def called(node: ast.AST | None) -> str:
    """Return the last part of the called function's name, or "" if the code is not a call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _argument(node: ast.Call, noun: Noun) -> str:
    """Return the noun for the main input of a call: the object of a method or the first argument."""
    func = node.func
    owner = func.value if isinstance(func, ast.Attribute) and not _is_of_self(func) else None
    if owner and ast.unparse(owner).rpartition(".")[2] not in _MODULES:
        return operand(owner, noun)
    return operand(node.args[0], noun) if node.args else ""


def minus(text: str) -> str:
    """Replace hyphens in front of numbers with minus signs."""
    return re.sub(r"(?<![A-Za-z])-(?=\d|∞)", "−", text)


def refers_back(imperative: str) -> bool:
    """Return whether an imperative refers to the sentence before it, as "subtract it" does."""
    return _REFERS_BACK.search(imperative) is not None


def gerund(imperative: str) -> str:
    """Turn an imperative into a gerund: "take the root" becomes "taking the root"."""
    verb, _, rest = imperative.partition(" ")
    comma = "," if verb.endswith(",") else ""
    verb = verb.removesuffix(",")
    if verb.endswith("e") and not verb.endswith(("ee", "be")):
        verb = verb[:-1]
    elif re.fullmatch(r"put|cut|set|let|run|stop|swap|drop|split|begin|get|fit", verb):
        verb += verb[-1]
    return f"{verb}ing{comma} {rest}".strip()


def with_instead(clause: str, new: str, old: str) -> str:
    """Replace § in a clause with the new value and mention the old value; return "" if the clause has no §."""
    if clause.endswith("§"):
        return clause[:-1] + f"{new} instead of {old}"
    head, mark, tail = clause.partition("§")
    return f"{head}{new}, not {old},{tail}" if mark else ""
