"""Find results that are computed but not used, such as ``scores.masked_fill(mask, 0)`` alone on a line."""

import re
from collections.abc import Sequence

from torch import Tensor

from transformer_course.running.instrumentation import Expression
from transformer_course.running.trace_recorder import Trace

METHODS = {
    "abs", "add", "addcdiv", "addcmul", "addmm", "all", "amax", "amin", "any", "argmax", "argmin", "argsort",
    "bfloat16", "bmm", "bool", "ceil", "chunk", "clamp", "clamp_max", "clamp_min", "clone", "contiguous",
    "copysign", "cos", "cumprod", "cumsum", "detach", "diag", "diagonal", "diff", "div", "divide", "double",
    "einsum", "eq", "exp", "expand", "expand_as", "flatten", "flip", "float", "floor", "fmod", "gather", "ge",
    "gt", "half", "index_add", "index_fill", "index_select", "int", "inverse", "isfinite", "isinf", "isnan",
    "item", "le", "log", "log1p", "log_softmax", "logical_and", "logical_not", "logical_or", "logsumexp",
    "long", "lt", "masked_fill", "masked_scatter", "masked_select", "matmul", "max", "maximum", "mean", "min",
    "minimum", "mm", "movedim", "mul", "multiply", "mv", "nan_to_num", "narrow", "ne", "neg", "norm", "numpy",
    "permute", "pow", "prod", "ravel", "reciprocal", "relu", "repeat", "repeat_interleave", "reshape", "roll",
    "round", "rsqrt", "scatter", "scatter_add", "select", "sigmoid", "sign", "sin", "softmax", "split",
    "sqrt", "square", "squeeze", "std", "sub", "subtract", "sum", "swapaxes", "swapdims", "t", "tanh", "to",
    "tolist", "topk", "transpose", "tril", "triu", "true_divide", "type", "unbind", "unflatten", "unfold",
    "unique", "unsqueeze", "var", "view", "view_as", "where",
}  # fmt: skip
"""torch methods and functions that return a new tensor and leave their arguments unchanged."""
MODULES = ("torch", "F", "nn", "functional", "np")
LIBRARY = "parts"
"""Name under which lessons import earlier solutions, which are functions that also return new values."""
OPERATIONS = ("BinOp", "Compare", "UnaryOp")


def first_discarded(expressions: Sequence[Expression], traces: Sequence[Trace]) -> tuple[Expression, str] | None:
    """Return the first expression whose result is a tensor or a list and is discarded, and a sentence about it."""
    for expression in expressions:
        if expression.inside or not _is_alone(expression):
            continue
        values = [value for trace in traces for value in trace.values(expression.number)]
        if any(isinstance(value, Tensor | list) for value in values) and (sentence := _sentence(expression)):
            return expression, sentence
    return None


def _is_alone(expression: Expression) -> bool:
    """Return whether an expression is alone on its line, apart from a comment."""
    before, after = expression.source_line[: expression.columns[0]], expression.source_line[expression.columns[1] :]
    return not before.strip() and (not after.strip() or after.strip().startswith("#"))


def _sentence(expression: Expression) -> str:
    """Describe a discarded result and the fix, or return "" if the call may have a side effect."""
    if expression.kind in OPERATIONS:
        return f"Your line {expression.line} computes a value, but you don't use it. Which name should it get?"
    if expression.kind != "Call":
        return ""
    receiver, method, arguments = _parts_of_call(expression.text)
    if method not in METHODS and receiver != LIBRARY:
        return ""
    is_function = receiver in (*MODULES, LIBRARY)
    name = re.split(r"[,)]", arguments)[0].strip() if is_function else receiver
    call = f"{receiver}.{method}(…)" if is_function or receiver.isidentifier() else f"….{method}(…)"
    if not name.isidentifier():
        return f"You don't use the result of `{call}`, which returns a new value. Which name should it get?"
    return (
        f"You don't use the result of `{call}`: it returns a new value and leaves `{name}` unchanged. "
        f"Assign the result: `{name} = {call}`."
    )


def _parts_of_call(text: str) -> tuple[str, str, str]:
    """Split the source of a method call into the object, the method's name and the arguments.

    >>> _parts_of_call("scores.masked_fill(~mask, f(0))")
    ('scores', 'masked_fill', '~mask, f(0)')
    """
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            receiver, _, method = text[:index].rpartition(".")
            return receiver, method, text[index + 1 : -1]
    return "", "", ""
