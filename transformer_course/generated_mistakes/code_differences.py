"""Extract what differs between two pieces of code: elements of a pair, operands, bounds of a range."""

import ast
import re


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def parts_of(code: str) -> list[str]:
    """Return the elements of a tuple, or of the list that is concatenated or stacked."""
    made = _parsed(code)
    made = made.args[0] if isinstance(made, ast.Call) and made.args else made
    return [ast.unparse(one) for one in made.elts] if isinstance(made, ast.Tuple | ast.List) else []


def operands_of(code: str) -> tuple[str, str, str]:
    """Return the name of an operation and its two operands."""
    made = _parsed(code)
    if not isinstance(made, ast.BinOp):
        return "", "", ""
    return type(made.op).__name__, ast.unparse(made.left), ast.unparse(made.right)


def compared_in(code: str) -> str:
    """Return the left side of a comparison."""
    made = _parsed(code)
    return ast.unparse(made.left) if isinstance(made, ast.Compare) else ""


def length_of(code: str) -> tuple[str, str]:
    """Return the tensor and the dimension whose length is read."""
    tensor, _, place = code.partition(".shape")
    return tensor, place


def missing_argument(old: str, new: str) -> str:
    """Return the only argument that one call has and the other lacks, or "" if there is not exactly one."""
    made, left = _parsed(old), _parsed(new)
    if not isinstance(made, ast.Call) or not isinstance(left, ast.Call):
        return ""
    missing = [ast.unparse(one) for one in made.args[len(left.args) :]]
    return missing[0] if len(missing) == 1 else ""


def counts_of(old: str, new: str) -> str:
    """Return how one range differs from another: in its step, its start or its end."""
    should, is_ = _bounds(old), _bounds(new)
    if should[2] != is_[2]:
        return "has the wrong step"
    differs = [end for end, one, two in zip(("starts", "ends"), should, is_, strict=False) if one != two]
    if not differs or not (should[0].isdigit() and is_[0].isdigit()):
        return "starts or ends one too early or too late"
    late = int(is_[0]) > int(should[0]) if "starts" in differs else "-" not in is_[1].removeprefix(should[1])
    return f"{' and '.join(differs)} one too {'late' if late else 'early'}"


def _bounds(code: str) -> tuple[str, str, str]:
    made = _parsed(code)
    bounds = [ast.unparse(one) for one in made.args] if isinstance(made, ast.Call) else []
    start, stop, step = bounds if len(bounds) == 3 else (*bounds, "1") if len(bounds) == 2 else ("0", *bounds[:1], "1")
    return start, stop, step


def new_axes_of(code: str) -> list[int]:
    """Return the positions at which the outermost index inserts a dimension with None."""
    made = _parsed(code)
    if not isinstance(made, ast.Subscript):
        return []
    parts = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
    return [place for place, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is None]


def has_minus(number: str, old: str, new: str) -> bool:
    """Return whether the number that appears in only one piece of code is preceded by a minus sign."""
    negative = re.compile(rf"(?<![\w)\]-])-{re.escape(number)}(?![\w.])")
    return len(negative.findall(old)) > len(negative.findall(new))


def function_of(code: str, than: str) -> str:
    """Return the function that one piece of code calls and the other does not."""
    others = set(re.findall(r"(\w+)\(", than))
    return next((name for name in re.findall(r"(\w+)\(", code) if name not in others), "")


def comparison_of(code: str) -> str:
    """Return the operator of a comparison."""
    found = re.search(r"<=|>=|==|!=|<|>| is not | is ", code)
    return found[0] if found else ""
