"""Find how two pieces of code differ, for example in their operands or in the bounds of a range."""

import ast
import re


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def parts_of(code: str) -> list[str]:
    """Return the elements in a tuple or in the list passed to ``cat`` or ``stack``."""
    node = _parsed(code)
    node = node.args[0] if isinstance(node, ast.Call) and node.args else node
    return [ast.unparse(one) for one in node.elts] if isinstance(node, ast.Tuple | ast.List) else []


def operands_of(code: str) -> tuple[str, str, str]:
    """Return the name of a binary operation and its two operands."""
    node = _parsed(code)
    if not isinstance(node, ast.BinOp):
        return "", "", ""
    return type(node.op).__name__, ast.unparse(node.left), ast.unparse(node.right)


def compared_in(code: str) -> str:
    """Return the left side of a comparison."""
    node = _parsed(code)
    return ast.unparse(node.left) if isinstance(node, ast.Compare) else ""


def length_of(code: str) -> tuple[str, str]:
    """Split code such as ``x.shape[-1]`` into the tensor and the index into its shape."""
    tensor, _, place = code.partition(".shape")
    return tensor, place


def missing_argument(old: str, new: str) -> str:
    """Return the argument that the new call lacks, or "" unless exactly one argument is missing."""
    before, after = _parsed(old), _parsed(new)
    if not isinstance(before, ast.Call) or not isinstance(after, ast.Call):
        return ""
    missing = [ast.unparse(one) for one in before.args[len(after.args) :]]
    return missing[0] if len(missing) == 1 else ""


def range_difference(old: str, new: str) -> str:
    """Describe the difference between two ranges in their start, end or step."""
    should, is_ = _bounds(old), _bounds(new)
    if should[2] != is_[2]:
        return "has the wrong step"
    differs = [end for end, one, two in zip(("starts", "ends"), should, is_, strict=False) if one != two]
    if not differs or not (should[0].isdigit() and is_[0].isdigit()):
        return "starts or ends one too early or too late"
    late = int(is_[0]) > int(should[0]) if "starts" in differs else "-" not in is_[1].removeprefix(should[1])
    return f"{' and '.join(differs)} one too {'late' if late else 'early'}"


def _bounds(code: str) -> tuple[str, str, str]:
    node = _parsed(code)
    bounds = [ast.unparse(one) for one in node.args] if isinstance(node, ast.Call) else []
    start, stop, step = bounds if len(bounds) == 3 else (*bounds, "1") if len(bounds) == 2 else ("0", *bounds[:1], "1")
    return start, stop, step


def new_axes_of(code: str) -> list[int]:
    """Return the positions at which the outermost index inserts a dimension with ``None``."""
    node = _parsed(code)
    if not isinstance(node, ast.Subscript):
        return []
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [place for place, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is None]


def has_minus(number: str, old: str, new: str) -> bool:
    """Return whether the old code negates a number more often than the new code does."""
    negative = re.compile(rf"(?<![\w)\]-])-{re.escape(number)}(?![\w.])")
    return len(negative.findall(old)) > len(negative.findall(new))


def function_of(code: str, other_code: str) -> str:
    """Return the first function that ``code`` calls and ``other_code`` does not, or "" if there is none."""
    others = set(re.findall(r"(\w+)\(", other_code))
    return next((name for name in re.findall(r"(\w+)\(", code) if name not in others), "")


def comparison_of(code: str) -> str:
    """Return the operator of a comparison."""
    found = re.search(r"<=|>=|==|!=|<|>| is not | is ", code)
    return found[0] if found else ""
