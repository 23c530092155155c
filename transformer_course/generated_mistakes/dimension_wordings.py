"""Message templates for wrong dimensions, sizes, indices, numbers and options."""

import ast
import re
from collections.abc import Sequence

from transformer_course.generated_mistakes.code_differences import (
    has_minus,
    length_of,
    missing_argument,
    new_axes_of,
    range_difference,
)
from transformer_course.generated_mistakes.phrases import called, minus, operand, parse, with_instead
from transformer_course.generated_mistakes.template_slots import NUMBER_PATTERNS, Slots
from transformer_course.steps import needs

PARTS = {
    ":": "everything", ":-1": "all but the last", "1:": "all but the first", "2:": "all but the first two",
    ":-2": "all but the last two", "-1:": "the last", ":1": "the first", "-2:": "the last two", "-1": "the last",
    "0": "the first", "1": "the second", "2": "the third", "-2": "the second-to-last", "-3": "the third from the end",
    "0::2": "the even entries", "::2": "the even entries", "1::2": "the odd entries", "::1": "all of them",
}  # fmt: skip
"""English phrases for the entries that an index or a slice selects."""
KEEPDIM = "you drop a dimension {when}. With `keepdim=True` it stays, and the shapes line up"


def axis(s: Slots) -> str:
    """Describe applying a function along the wrong dimension or along all dimensions."""
    new, old = _dim(s.edit.new), _dim(s.edit.old)
    if not old and (chosen := re.search(r"(?:dim|axis)=(\w+)", s.edit.old)):
        old = _dim(s.steps.expression(chosen[1]) or "") if chosen[1] in s.steps.steps else ""
    if re.search(r"cum(?:sum|prod)\(\)", s.edit.new):
        return "you leave out `dim` {when}"
    if s.edit.kind == "all_axes" or not new:
        return "you reduce over all dimensions at once {when}"
    return s.along(new, old) if old else f"you use dim {new} {s.when}"


def _dim(code: str) -> str:
    found = re.search(r"(?:dim|axis)=(\([^)]*\)|-?\d+)", code)
    return found[1] if found else code if re.fullmatch(r"-?\d", code) else ""


def length(s: Slots) -> str:
    """Describe reading the size of the wrong dimension or tensor, or using a fixed number instead."""
    if s.edit.kind == "fixed":
        size = operand(parse(s.edit.old), s.noun)
        return (
            f"you use a fixed number instead of {size}"
            if size
            else f"you use a fixed number instead of a size {s.when}"
        )
    (tensor, place), (should, should_place) = length_of(s.edit.new), length_of(s.edit.old)
    if ":" in should_place:
        return f"you use `{s.edit.new}` instead of `{s.edit.old}` {s.when}"
    if place == should_place and tensor != should:
        return s.size_of(s.noun(tensor) or tensor, s.noun(should) or should)
    of = "" if tensor == should else f" of {s.noun(tensor) or tensor}"
    place = place if of else _counted_alike(s, tensor, place, should_place)
    right = f"{should_place.strip('[]')}{f' of {s.noun(should) or should}' if of else ''}"
    return f"you {s.read} the size of dim {place.strip('[]')}{of} instead of dim {right} {s.when}"


def _counted_alike(s: Slots, tensor: str, place: str, should_place: str) -> str:
    """Number the wrong dimension from the same end as the correct dimension, if the number of dimensions is known."""
    dims = getattr(getattr(s.steps.arguments.parameters.get(tensor), "annotation", None), "dim_str", "").split()
    is_known = bool(dims) and not any(re.match(r"[*.]", dim) for dim in dims)
    is_alike = ("-" in place) == ("-" in should_place)
    if not is_known or is_alike or not re.fullmatch(r"\[-?\d\]", place):
        return place
    index = int(place.strip("[]"))
    other = index + len(dims) if index < 0 else index - len(dims)
    exists = (other < 0) != (index < 0)
    return f"[{other}]" if exists else place


def number(s: Slots) -> str:
    """Describe using the wrong number."""
    new, old = s.edit.new, s.edit.old
    code = s.edit.code.get(s.name, "")
    right = s.steps.expression(s.name) or (s.steps.code(s.name) if s.name in s.steps.steps else "")
    if has_minus(old, right, code):
        new, old = new.removeprefix("-") if new.startswith("-") or new == "0" else f"-{new}", f"-{old}"
    if _n_dims(code, new) > _n_dims(right, new) and _n_dims(code, old) < _n_dims(right, old):
        function = _in_function(code, right, new, old)
        return f"you use dim {new} instead of dim {old}{function} {s.when}" if function else s.along(new, old)
    if f".shape[{new}]" in code and code.count(f".shape[{old}]") < right.count(f".shape[{old}]"):
        return f"you {s.read} the size of dim {new} instead of dim {old} {s.when}"
    if _n_places(code, new) > _n_places(right, new) and _n_places(code, old) < _n_places(right, old):
        return f"you use the index {new} instead of {old} {s.when}"
    new, old = _plain(new), _plain(old)
    if s.thing.startswith("the axis") or s.thing in ("dim", "the dim", "the dimension"):
        return f"you use dim {new} instead of dim {old} as {s.thing}"
    if isinstance(s.right, ast.Constant | ast.UnaryOp) and not needs(s.steps.steps[s.name]):
        return f"you use {new} instead of {old} as {s.thing}"
    if f"** {new}" in code or f"** ({new}" in code:
        known = {"0.5": "square root", "2": "square"}.get(old)
        if known:
            return f"you use the exponent {new}. A {known} has the exponent {old}"
        if raised := re.fullmatch(r"(raise .+ to the power) \S+", s.do):
            return f"you {raised[1]} {new} instead of {old}"
        return f"you use the exponent {new} instead of {old} {s.when}"
    named = rf"(?<![\w.−`-]){re.escape(minus(old))}(?![\w.`])"
    literal = rf"(?<![\w.]){re.escape(s.edit.old.removeprefix('-'))}(?![\w.])"
    if len(re.findall(named, minus(s.do))) == 1 and len(re.findall(literal, right)) == 1:
        return f"you {with_instead(re.sub(named, '§', minus(s.do)), new, old)}"
    pattern = "|".join(filter(None, (named, NUMBER_PATTERNS.get(old))))
    return f"you use {new} instead of {old} {s.where(pattern)}"


def _n_dims(code: str, number: str) -> int:
    """Count how often code uses a number as a dimension."""
    one = re.escape(number) + r"(?![\w.])"
    first = (
        rf"\b(?:gather|squeeze|unsqueeze|flatten|unflatten|index_select|scatter|chunk|diff|flip|softmax|cumsum)\({one}"
    )
    several = rf"\b(?:dim\d?=\(?(?:-?\d, ?)*|(?:transpose|flatten|permute|movedim|swapaxes)\((?:-?\d, ?)*){one}"
    return len(re.findall(first, code)) + len(re.findall(several, code))


def _in_function(code: str, right: str, new: str, old: str) -> str:
    """Name the function with the wrong dimension, as in " in `squeeze`", if other functions use the right dimension."""
    takes = r"(\w+)\((?:dim=)?{}(?![\w.])"
    should, does = re.findall(takes.format(re.escape(old)), right), re.findall(takes.format(re.escape(new)), code)
    wrong = [name for name in does if name in should]
    return f" in `{wrong[0]}`" if len(should) > 1 and len(wrong) == 1 and should.count(wrong[0]) == 1 else ""


def _n_places(code: str, number: str) -> int:
    """Count how often code uses a number as its only index."""
    return len(re.findall(rf"(?:\[|, ){re.escape(number)}\]", code))


def _plain(number: str) -> str:
    """Format a number as people write it: 2 for 2.0, 0.00001 for 1e-05."""
    if re.fullmatch(r"-?\d+\.0", number):
        return number[:-2]
    return f"{float(number):.10f}".rstrip("0") if re.fullmatch(r"-?\d+e-0?\d", number) else number


def place(s: Slots) -> str:
    """Describe an index, slice or range that selects the wrong entries."""
    old, new, kind = s.edit.old, s.edit.new, s.edit.kind
    if kind == "range":
        counts = range_difference(old, new)
        if counts == "starts and ends one too late" and re.match(r"(?:range|torch\.arange|arange)\(1, ", new):
            if re.search(" from 0( in a row)?$", s.do):
                return f"you {s.do.replace(' from 0', ' from 1 instead of 0')}"
            return f"you {'start' if s.do.startswith('count ') else 'count'} from 1 instead of 0 {s.when}"
        return f"your range {counts} {s.when}"
    if kind == "other_part":
        wrong, right = ("values", "indices") if new.endswith("values") else ("indices", "values")
        return f"you use the `{wrong}` instead of the `{right}` {s.when}"
    if old.replace("-1:]", "-1]") == new:
        return "you use the index −1, which drops a dimension. The slice `-1:` keeps it"
    if new_axes_of(old) != new_axes_of(new):
        is_missing = len(new_axes_of(old)) > len(new_axes_of(new))
        missing = "you don't add a dimension {when}" if not new_axes_of(new) else "you add too few dimensions {when}"
        return missing if is_missing else misplaced_new_axis(s)
    index, should = _last_index(new), _last_index(old)
    if kind == "not_indexed":
        if re.fullmatch(r"-?\d", should):
            return f"you leave out the index {should} {s.when}"
        if should in PARTS:
            return f"you use everything instead of only {PARTS[should]} {s.when}"
        return f"you use all of {s.noun(new) or f'`{new}`'}. You should {s.do}"
    if index in PARTS and should in PARTS:
        return f"you {'keep' if ':' in should else 'pick'} {PARTS[index]} instead of {PARTS[should]} {s.when}"
    if should == "::-1" and index in (":", "::"):
        return "you don't reverse the order {when}"
    return f"you {_cut(index, should)} {s.when}"


def misplaced_new_axis(s: Slots) -> str:
    """Describe adding a new dimension in the wrong position."""
    old, new = new_axes_of(s.edit.old), new_axes_of(s.edit.new)
    # the pattern excludes "..." and integer indices, because they shift the dimensions
    only_new = re.compile(r".*\[[:, ]*(?:None[:, ]*)+\]")
    if len(old) != len(new) or not (only_new.fullmatch(s.edit.old) and only_new.fullmatch(s.edit.new)):
        return "you add the new dimension in the wrong place {when}"
    places = f"{_dims(new)} instead of {_dims(old)}"
    if re.match(r"add (?:a |a third |new )?dimensions? ", s.do):
        return f"you {s.do} as {places}"
    return f"you add the new {'dimension' if len(new) == 1 else 'dimensions'} as {places} {s.when}"


def _dims(places: Sequence[int]) -> str:
    """Format dimensions as "dim 1" or "dims 1 and 3"."""
    return f"dim {places[0]}" if len(places) == 1 else f"dims {' and '.join(map(str, places))}"


def _cut(index: str, should: str) -> str:
    """Describe how a slice is wrong."""
    if moved := re.fullmatch(r"\(.+\) ([+-]) 1(:.*)|(?:.*:)\(.+\) ([+-]) 1", index):
        end, direction = ("start", moved[1]) if moved[1] else ("end", moved[3])
        return f"{end} your slice one position too {'late' if direction == '+' else 'early'}"
    if should.strip(":") and should.strip(":") == index.strip(":"):
        return f"keep what comes {'before' if index.startswith(':') else 'after'} `{should.strip(':')}`, not the rest,"
    return "cut in the wrong place"


def _last_index(code: str) -> str:
    """Return the last index in the last brackets of code."""
    found = re.search(r"\[([^\[\]]*)\]$", code)
    return found[1].rpartition(",")[2].strip() if found else ""


def option(s: Slots) -> str:
    """Describe a missing or wrong option or argument of a call."""
    old, new = s.edit.old, s.edit.new
    written = s.edit.code.get(s.name, "")
    if ("keepdim=" in old and "keepdim=True" not in new) or (new == "False" and "keepdim=False" in written):
        return KEEPDIM
    if "dtype=" in old and "dtype=" not in new:
        return "you leave out `dtype` {when}. {should_be_bool}"
    if {new, old} == {"True", "False"} and f"={new}" not in written:
        return f"you use {new} instead of {old} {s.when}"
    if s.edit.kind == "option_left_out" and old.count("=") == new.count("="):
        missing = s.noun(missing_argument(old, new))
        if missing and re.search(rf"\b{missing_argument(old, new)}\b", new):
            return f"you pass {missing} only once {s.when}"
        name = called(parse(old))
        of = f" of `{name}`" if name and name not in s.steps.known else ""
        to = f" to `{name}`" if of else ""
        if missing and re.search(rf"\b{re.escape(_head(missing))}\b", s.do):
            return f"you don't pass {missing}{to}"
        return f"you don't pass {missing}{to} {s.when}" if missing else f"you leave out an argument{of} {s.when}"
    changed = [one for one in re.findall(r"(\w+)=", old) if f"{one}=True" in new or f"{one}=False" in new]
    gone = [one for one in re.findall(r"(\w+)=", old) if f"{one}=" not in new]
    if not (gone or changed):
        return "you set an option the wrong way {when}"
    return f"you leave out `{gone[0]}` {s.when}" if gone else f"you set `{changed[0]}` the wrong way {s.when}"


def _head(noun: str) -> str:
    """Return the head of a noun phrase: "mask" for "the mask of the cross-attention"."""
    return re.split(r" (?:of|that|in|for|from) ", noun)[0].split()[-1].strip("`")


def axes(s: Slots) -> str:
    """Describe dimensions that are swapped by mistake, or not swapped at all."""
    if s.edit.kind == "not_transposed":
        return "you don't transpose {new}" if s.noun(s.edit.new) else "you don't transpose {when}"
    if s.edit.kind == "transposed":
        short, long = (
            "{your} {is_} transposed: rows and columns are swapped",
            "you {use} {thing} with rows and columns swapped",
        )
        return short if s.is_short else long
    dims = re.search(r"\.transpose\((-?\d), (-?\d)\)$", s.edit.new)
    base = re.fullmatch(r"(\w+)\.(?:mT|T|transpose\(.*\)|squeeze\(\))", s.edit.new)
    x = s.plain_noun(base[1]) if base else ""
    where = f"of {x}" if x else s.when
    is_swap = re.search(r"\.(?:mT|T|transpose\([^()]*\))$", s.edit.old)
    last = ". Swap the last two instead" if s.edit.old.endswith(".mT") else f". You should {s.do}"
    if is_swap and not s.edit.old.endswith(".mT"):
        right = re.search(r"transpose\((-?\d), (-?\d)\)$", s.edit.old)
        last = f". Swap dims {right[1]} and {right[2]}" if right else ". Those are the wrong ones"
    if not is_swap:
        where = f"of {x}" if x else ""
    if dims:
        return minus(f"you swap dims {dims[1]} and {dims[2]} {where}{last}")
    if s.edit.new.endswith(".mT"):
        return minus(f"you swap the last two dims {where}{last}")
    if s.edit.new.endswith(".T"):
        return f"you use `.T` {s.when}, which reverses all dimensions{last}"
    if s.edit.new.endswith(".squeeze()"):
        return f"you only squeeze {x or 'the tensor'}. You should {s.do}"
    if ".unflatten(" in s.edit.new:
        return "you swap the two sizes {when}"
    return "you rearrange the wrong dimensions {when}"
