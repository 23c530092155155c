"""Decide whether a message about a generated mistake fits the learner's code.

An attempt is recognized by its behavior, and several generated mistakes may behave the same. A message that quotes a
number, a function or an argument should be shown only if the learner's code contains it.
"""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from transformer_course.generated_mistakes.code_differences import function_of, operands_of

if TYPE_CHECKING:
    from transformer_course.generated_mistakes.generated_mistake import AnswerEdit

TRANSPOSITIONS = r"\.m?T\b|\.t\(|transpose|permute|swapaxes|movedim|rearrange|einsum|reshape|view|unflatten"
FUNCTIONS = {
    "amax": "max", "amin": "min", "maximum": "max", "minimum": "min", "clip": "clamp", "mean": r"mean|/",
    "sum": r"sum|\+",
    "square": r"square|\*\*|\*|pow", "sqrt": r"sqrt|\*\*|pow", "norm": r"norm|sqrt|\*\*", "softmax": "softmax|exp",
    "log_softmax": "log_softmax|log", "logsumexp": "logsumexp|log", "abs": "abs", "relu": r"relu|clamp|max|where",
    "silu": "silu|sigmoid|swish", "cumsum": r"cumsum|\+=|accumulate", "repeat": "repeat|tile|expand|cat",
    "repeat_interleave": "repeat_interleave|expand|repeat", "prod": r"prod|\*", "reciprocal": "reciprocal|/",
}  # fmt: skip
"""Patterns for functions that can be written in several ways, so that searching for the name alone is not enough."""
CALLS = {
    "absolute": r"abs|norm", "rounded": r"round|int\(|trunc|//", "largest_only": r"argmax|max|sort",
    "reversed": r"flip|\[::-1\]|reversed|-1, -1", "nan_hidden": r"nan|isfinite|where",
    "complement": r"\b1(?:\.0?)? *-|sub", "inverse": r"/|reciprocal|\*\* *-|pow",
}  # fmt: skip
"""For a kind of edit that adds an operation, a pattern for the ways to write the operation."""
OPERATORS = {
    "Add": r"\+|add", "Sub": r"-|sub", "Mult": r"\*|mul|prod", "Div": r"/|div", "FloorDiv": r"//|div", "Mod": r"%|mod",
    "MatMult": r"@|matmul|einsum|mm|dot|inner", "Pow": r"\*\*|pow|sqrt|square|exp",
    "BitAnd": r"&|and|all|where|\*", "BitOr": r"\||or\b|any",
}  # fmt: skip


def is_in_code(edit: "AnswerEdit", arguments: Collection[str], code: str) -> bool:
    """Return whether the learner's code contains the number, function, operator or argument that a message quotes.

    Args:
        edit: The generated mistake.
        arguments: Names of the exercise's arguments.
        code: The learner's code, without the signature.
    """
    match edit.kind:
        case "number" | "fixed":
            number = edit.new.removeprefix("-").removeprefix("0") if "." in edit.new else edit.new.removeprefix("-")
            return (
                re.search(rf"(?<![\w.]){'0?' if '.' in number else ''}{re.escape(number)}(?![\w.])", code) is not None
            )
        case "argument_for_another" | "values_exchanged" | "wrong_input" | "inputs_exchanged" | "taken_for":
            return edit.new not in arguments or re.search(rf"\b{edit.new}\b", code) is not None
        case "not_transposed":
            method = r"\.(?:m?T\b|t\(|transpose\(|permute\(|swapaxes\(|movedim\()"
            return re.search(rf"\b{re.escape(edit.new)}{method}|transpose\({re.escape(edit.new)}\b", code) is None
        case "transposed" | "other_axes":
            return re.search(TRANSPOSITIONS, code) is not None
        case "sibling":
            name = function_of(edit.new, edit.old)
            return re.search(FUNCTIONS.get(name, rf"\b{name}\b"), code) is not None
        case "function":
            name = next(iter(re.findall(r"\.(\w+)\(", edit.new)), "sqrt" if "0.5" in edit.new else "square")
            return re.search(FUNCTIONS.get(name, rf"\b{name}\b"), code) is not None
        case kind if kind in CALLS:
            return re.search(CALLS[kind], code) is not None
        case "operator":
            return re.search(OPERATORS.get(operands_of(edit.new)[0], ""), code) is not None
    return True
