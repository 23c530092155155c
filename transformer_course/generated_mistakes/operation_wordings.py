"""Templates that depend on the replaced code: what is computed, from which values, and in which order."""

import ast
import re

from transformer_course.generated_mistakes import dimension_wordings
from transformer_course.generated_mistakes.code_differences import (
    compared_in,
    comparison_of,
    function_of,
    operands_of,
    parts_of,
)
from transformer_course.generated_mistakes.phrases import GERUNDS, called, operand, parse, with_instead
from transformer_course.generated_mistakes.step_words import is_plural
from transformer_course.generated_mistakes.template_slots import MAX_WORDS_OF_A_CLAUSE, NAMES_OF_OPERATIONS, Slots
from transformer_course.steps import InSteps, needs

TAKEN = {
    "sum": "sum", "mean": "mean", "amax": "maximum", "amin": "minimum", "max": "maximum", "min": "minimum",
    "maximum": "maximum", "minimum": "minimum", "prod": "product", "norm": "norm", "std": "standard deviation",
    "var": "variance", "cumsum": "running sum", "softmax": "softmax", "log_softmax": "log-softmax",
    "sigmoid": "sigmoid", "square": "square", "abs": "absolute value", "sqrt": "square root",
    "rsqrt": "reciprocal square root", "exp": "exponential", "exp2": "power of 2", "expm1": "exponential minus 1",
    "log": "natural logarithm", "log2": "base-2 logarithm", "log10": "base-10 logarithm", "log1p": "log of 1 + x",
    "tril": "lower triangle", "triu": "upper triangle", "sin": "sine", "cos": "cosine", "argmax": "argmax",
    "argmin": "argmin", "logsumexp": "logsumexp", "relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "tanh": "tanh",
    "logsigmoid": "log-sigmoid", "reciprocal": "reciprocal",
}  # fmt: skip
"""The value that a function returns, as a noun without its article."""
SWAPPED_CALLS = {
    ("stack", "cat"): "use `stack`, which adds a dimension, instead of `cat`",
    ("cat", "stack"): "use `cat` instead of `stack`, so a dimension is missing",
    ("all", "any"): "use `all` instead of `any`",
    ("any", "all"): "use `any` instead of `all`",
    ("ones", "zeros"): "start from ones instead of zeros",
    ("ceil", "floor"): "round up instead of down",
    ("floor", "ceil"): "round down instead of up",
    ("repeat", "repeat_interleave"): "repeat the whole instead of each entry",
    ("repeat_interleave", "repeat"): "repeat each entry instead of the whole",
    ("argsort", "sort"): "use the order (`argsort`) instead of the sorted values",
    ("argmax", "argsort"): "use `argmax` instead of `argsort`",
    ("dot", "outer"): "take the dot product instead of the outer product",
}
"""What is done with one function instead of another, as an imperative."""
SYMBOLS = {
    "Mult": "*", "Div": "/", "Add": "+", "Sub": "-", "FloorDiv": "//", "Mod": "%", "MatMult": "@", "BitAnd": "&",
    "BitOr": "|", "Pow": "**",
}  # fmt: skip
NOT_DONE = {
    "transpose": "transpose", "mT": "transpose", "unsqueeze": "add a dimension", "flatten": "flatten",
    "reshape": "reshape", "masked_fill": "mask anything out", "clamp": "clamp", "squeeze": "squeeze",
    "encode": "encode the text", "decode": "decode the bytes",
}  # fmt: skip
"""What is not done if a call is left out, as an imperative."""
MAX_LENGTH_OF_CODE = 30
"""Number of characters of code that a clause quotes."""
TERMS = {"Add": "terms", "Sub": "terms", "Mult": "factors", "MatMult": "factors", "Div": "sides", "FloorDiv": "sides"}


def left_out(s: Slots) -> str:
    """A whole step is left out."""
    code = s.code
    sign, first, second = operands_of(code)
    if sign in ("Add", "BitAnd", "BitOr") and s.edit.new in (first, second):
        lost = _noun_of(s, second if s.edit.new == first else first)
        if lost:
            return f"you never add {lost}" if sign == "Add" else f"you leave out {lost}"
    uses = [need for need in needs(s.steps.steps[s.name]) if need != "self"]
    is_one_operation = not any(isinstance(node, ast.BinOp) for node in _inner(code))
    is_other_side = sign in ("Sub", "Div", "FloorDiv") and s.edit.new != re.split(r"[\[.]", first)[0]
    is_other_input = s.edit.new not in uses[:1] and len(uses) != 1
    if not is_one_operation or is_other_side or is_other_input or re.fullmatch(r"1 - \w+", code):
        return "you {use} {new} instead of {thing}"
    return _never(s)


def _inner(code: str) -> list[ast.AST]:
    """Return what is calculated inside the outermost operation of an expression, indices aside."""
    outer = parse(code)
    values = (
        [outer.left, outer.right] if isinstance(outer, ast.BinOp) else outer.args if isinstance(outer, ast.Call) else []
    )
    return [node for value in values if not isinstance(value, ast.Subscript) for node in ast.walk(value)]


def _never(s: Slots) -> str:
    if each := re.match(r"call each (\w+) with ", s.do):
        return f"you never call the {each[1]}s"
    return f"you {s.use} {s.target or s.new} instead of {s.thing}" if s.hands_on else "you never {do}"


def part_left_out(s: Slots) -> str:
    """One operand of a step is left out."""
    sign, first, second = operands_of(s.edit.old)
    is_whole = s.edit.old == s.code
    if sign == "Pow":
        does = s.action(s.edit.old) or f"raise anything to the power {second}"
        return _never(s) if is_whole else f"you never {does}" + ("" if _is_said(s, does) else f" {s.when_not('Pow')}")
    is_first_left = is_whole and s.edit.new == first
    if is_first_left and first in s.steps.known and sign in ("Sub", "Div", "FloorDiv", "Mod"):
        return _never(s)
    if is_first_left and sign in ("Add", "Sub") and s.do.startswith(("add ", "subtract ")):
        return _never(s)
    if parts_of(s.edit.old):
        return _part_of_several(s, is_whole=is_whole)
    lost = second if s.edit.new == first else first if s.edit.new in (second, f"-{second}", f"-({second})") else ""
    noun = _noun_of(s, lost)
    if noun:
        return _without(s, sign, noun, is_whole=is_whole, is_right=lost == second)
    if lost and len(lost) <= MAX_LENGTH_OF_CODE:
        return f"you leave out `{lost}` {s.when_not(sign)}"
    return (
        f"you leave out one of the two {TERMS[sign]} {s.when_not(sign)}"
        if sign in TERMS
        else "you leave out a part {when}"
    )


def _noun_of(s: Slots, code: str) -> str:
    """Return the noun of an operand: a number, an argument, a step or the size of one; "" if it has none."""
    return operand(parse(code), s.noun) if code else ""


def _is_said(s: Slots, does: str) -> bool:
    """Return whether the step does no more than this."""
    return s.do.startswith(does) or does.startswith(s.do)


def _part_of_several(s: Slots, *, is_whole: bool) -> str:
    """Return the template for one of several values that are joined or returned."""
    parts, kept = parts_of(s.edit.old), parts_of(s.edit.new)
    nouns = [_noun_of(s, part) for part in parts]
    if len(kept) == len(parts) and len(set(kept)) == 1:
        noun = _noun_of(s, kept[0])
        return f"you use {noun} twice {s.when}" if noun else "you use one value twice {when}"
    left = next((one for one, part in zip(nouns, parts, strict=True) if part == s.edit.new), "")
    if is_whole and left:
        return f"you {s.use} only {left}. You should {s.do}"
    lost = [one for one, part in zip(nouns, parts, strict=True) if part != s.edit.new]
    if len(lost) == 1 and lost[0]:
        return f"you leave out {lost[0]} {s.when_not('Add')}"
    if s.do.startswith("append "):
        return _never(s)
    return f"you leave out one of the values {s.when_not('Add')}"


def _without(s: Slots, sign: str, lost: str, *, is_whole: bool, is_right: bool) -> str:
    """Return the template for a named operand that is left out; ``is_right`` if it is the right one of the two."""
    verb = {"Add": "add", "Sub": "subtract", "Mult": "multiply by"}.get(sign)
    if sign in ("Div", "FloorDiv") and is_right:
        verb = "divide by"
    if verb and (sign != "Sub" or is_right):
        clause = f"you never {verb} {lost}"
        is_clear = is_whole or s.do.startswith(verb.partition(" ")[0])
        return clause if is_clear or len(f"{clause} {s.when}".split()) > MAX_WORDS_OF_A_CLAUSE else f"{clause} {s.when}"
    new = re.sub(r"^-\((\w+)\)$", r"-\1", s.edit.new)
    kept = s.noun(new) or (f"`{new}`" if len(new) <= MAX_LENGTH_OF_CODE else "")
    if is_whole and kept:
        return f"you {s.use} only {kept}. You should {s.do}"
    return f"you leave out {lost} {s.when_not(sign)}"


def call_left_out(s: Slots) -> str:
    """A function is not called."""
    old, new = parse(s.edit.old), s.edit.new
    name, given = called(old), s.noun(new)
    is_whole = s.edit.old == s.code or _is_all_of_it(s)
    is_step = name in s.steps.steps and isinstance(old, ast.Call) and isinstance(old.func, ast.Name)
    if is_step and not is_whole:
        is_choice = re.match(r"choose|say|name", s.imperative(name))
        return f"you don't use {s.noun(name)} {s.when}" if is_choice else f"you never {s.imperative(name)}"
    if name == "len" and given:
        return f"you use {given} itself instead of its length {s.when}"
    if name in ("range", "arange"):
        number = given if given.startswith("the number") else f"the number {given or f'`{new}`'}"
        return f"you use {number} instead of a range {s.when}"
    is_all_of_it = (
        new in s.steps.known or isinstance(parse(new), ast.Name) or re.search(NAMES_OF_OPERATIONS.get(name, "$^"), s.do)
    )
    if is_whole and is_all_of_it:
        return _never(s)
    if does := s.action(s.edit.old):
        return f"you never {does}"
    return _call_of_a_step(s, name)


def _call_of_a_step(s: Slots, name: str) -> str:
    """Return the template for a function that is not called and that is only a part of the step."""
    where = s.when_not(name)
    if name in NOT_DONE:
        return f"you never {NOT_DONE[name]} {where}"
    if name in TAKEN:
        return f"you leave out the {TAKEN[name]} {where}"
    return f"you don't call `{name}` {where}" if name else "you leave out a call {when}"


def _is_all_of_it(s: Slots) -> bool:
    """Return whether the code that is left out is the whole step, so that its input is its result."""
    found = re.search(r"(?:^|return )(?:lambda ([\w, ]*): )?(\w+)$", s.edit.code.get(s.name, ""))
    return found is not None and (found[2] in s.steps.known or found[2] in (found[1] or "").split(", "))


def wrong_input(s: Slots) -> str:
    """A step uses one value instead of another."""
    code = s.code
    if s.edit.old in s.steps.arguments.parameters and _is_constant(s.steps, s.edit.new):
        return f"you don't use {s.old} {s.when}"
    n_sizes = len(re.findall(rf"\b{s.edit.old}\.shape\[", code))
    if n_sizes and n_sizes == len(re.findall(rf"\b{s.edit.old}\b", code)):
        return f"you {s.read} a size of {s.new} instead of {s.old} {s.when}"
    if s.hands_on:
        return f"you {s.use} {s.new} instead of {s.old}"
    return s.instead(code, s.edit.old, s.edit.new)


def _is_constant(steps: InSteps, name: str) -> bool:
    return name in steps.steps and not needs(steps.steps[name])


def inputs_exchanged(s: Slots) -> str:
    """Two inputs of a step are swapped."""
    is_short = len(s.do.split()) < 9 and "the result of " not in s.do
    return f"you swap {s.old} and {s.new}" + (f" {s.when}" if is_short else "")


def moved(s: Slots) -> str:
    """A step is taken too early or too late."""
    code = s.code
    order = list(s.steps.steps)
    target = s.edit.new if s.edit.new in s.steps.known else s.edit.other
    served = [name for name in order if s.name in needs(s.steps.steps[name])]
    if target in served and len(served) > 1 and s.edit.new != target:
        return f"you {s.do} only for {s.noun(target)}"
    is_late = order.index(s.edit.other) > order.index(s.name)
    clause = s.action(code, {s.edit.old: "§"}) if len(re.findall(rf"\b{s.edit.old}\b", code)) == 1 else ""
    woven = with_instead(clause, s.noun(target), s.noun(s.edit.old))
    if woven and len(woven.split()) <= 22 and target != s.steps.last:
        return f"you {woven}"
    first, second = (s.imperative(s.edit.other), s.do) if is_late else (s.do, s.imperative(s.edit.other))
    return f"you {first} before you {second}. Reverse that order"


def done_again(s: Slots) -> str:
    """A step is taken twice."""
    clause = s.action(s.code, {s.edit.old: s.target})
    if clause:
        return f"you also {clause}. Once is enough"
    again = "do it again" if s.edit.new == s.edit.old else f"do the same to {s.target}"
    return f"you {s.do}, then {again}. Once is enough"


def twice(s: Slots) -> str:
    """A function is applied to its own result."""
    is_all = s.edit.old == s.code and " and " not in s.do
    if is_all and not any(isinstance(node, ast.BinOp | ast.Call) for node in _inner(s.code)):
        return f"you {s.do} twice"
    name = called(parse(s.edit.old))
    return f"you apply `{name}` twice {s.when}" if name else f"you {s.do} twice"


def times_mask(s: Slots) -> str:
    """A mask is multiplied instead of filled in."""
    if not _hides_scores(s):
        return "you multiply by the mask {when}"
    return "you multiply the scores by the mask, which sets them to 0. A score of 0 still gets weight: use −∞"


def mask_added(s: Slots) -> str:
    """A mask is added instead of filled in."""
    if not _hides_scores(s):
        return "you add the mask as zeros and ones {when}"
    return "you add the mask as zeros and ones, which hides nothing. Hidden scores should be −∞"


def _hides_scores(s: Slots) -> bool:
    """Return whether a mask sets scores to −∞, not weights to 0 or labels to the padding."""
    return "inf" in s.edit.old or "∞" in s.do


def one_case(s: Slots) -> str:
    """A condition is missing, so that one case is treated as the other."""
    places = [node for code in (parse(s.edit.old), s.right) if code for node in ast.walk(code)]
    choice = next((node for node in places if isinstance(node, ast.IfExp)), None)
    test = ast.unparse(choice.test) if choice else ""
    takes_other = choice is not None and s.edit.new == ast.unparse(choice.orelse)
    if test in s.steps.arguments.parameters:
        return f"you act as if `{test}` were always {not takes_other}"
    if given := re.fullmatch(r"(\w+) is None", test):
        name = s.noun(given[1])
        is_ = "are" if is_plural(name) else "is"
        return f"you don't handle the case that {name} {is_} None" if takes_other else f"you never use {name}"
    never = set(re.findall(r"\w+", s.edit.old)) - set(re.findall(r"\w+", s.edit.new)) - {test}
    if len(unused := [name for name in s.steps.arguments.parameters if name in never]) == 1:
        return f"you never use `{unused[0]}`"
    kept = operand(parse(s.edit.new), s.noun)
    return f"you always use {kept} {s.when}" if kept else "you do the same in both cases {when}"


def operator(s: Slots) -> str:
    """One operator is used instead of another."""
    (new, *_), (old, _, right) = operands_of(s.edit.new), operands_of(s.edit.old)
    does = s.action(s.edit.new)
    if new == "Pow" or not does or old not in GERUNDS:
        return f"you use `{SYMBOLS.get(new, new)}` instead of `{SYMBOLS.get(old, old)}` {s.when_not(old)}"
    noun = operand(parse(right), s.plain_noun)
    many = is_plural(noun) or re.search(r"(?<!s)(?<!bia)s`$", noun) is not None
    if (new, old) == ("FloorDiv", "Div"):
        return f"you {does}. Don't round here: use `/`"
    if (new, old) == ("Div", "FloorDiv"):
        return f"you {does} without rounding down. Use `//` here"
    if (new, old) == ("Mult", "MatMult"):
        return f"you {does} element by element. Use a matrix product here"
    if {new, old} == {"BitAnd", "BitOr"}:
        return f"you {does} instead of {'*or*' if old == 'BitOr' else '*and*'}"
    return f"you {does} instead of {_right_operation(old, new, right, is_many=many)}"


def _right_operation(old: str, new: str, right: str, *, is_many: bool) -> str:
    """Return the operation that should be there, as a gerund that points to the same two values."""
    if old == "Pow":
        return {"0.5": "taking the square root", "2": "squaring it"}.get(right, GERUNDS[old])
    if old in ("Div", "FloorDiv") and new in ("Add", "Sub"):
        return "dividing" if old == "Div" else GERUNDS[old]
    them = "them" if is_many else "the two"
    it = "them" if is_many else "it"
    gerunds = {
        "Mult": f"multiplying {them}",
        "Add": f"adding {them}",
        "Div": f"dividing by {it}",
        "Sub": f"subtracting {it}",
    }
    return gerunds.get(old, GERUNDS[old])


def order(s: Slots) -> str:
    """Two operands or arguments are swapped."""
    old = parse(s.edit.old)
    if isinstance(old, ast.Call):
        name = called(old)
        if name in ("cat", "stack"):
            return f"you concatenate the parts in the wrong order {s.when_not('Add')}"
        is_function = name and name not in s.steps.known
        return f"you swap the arguments of `{name}` {s.when}" if is_function else "you swap two arguments {when}"
    sign, first, second = operands_of(s.edit.new)
    one, two = (operand(parse(side), s.plain_noun) for side in (first, second))
    if sign == "Pow":
        return "you swap the base and the exponent {when}"
    if sign == "MatMult":
        return "you swap the two factors of the matrix product {when}"
    if sign in ("Sub", "Div", "FloorDiv", "Mod") and one and two and one != two:
        does = {"Sub": f"subtract {two} from {one}", "Mod": f"take the remainder of {one} divided by {two}"}
        return f"you {does.get(sign, f'divide {one} by {two}')} instead of the reverse"
    signs = {"Sub": "subtraction", "Div": "division", "FloorDiv": "division", "Mod": "`%`"}
    return f"you swap the two sides of the {signs[sign]} {s.when}" if sign in signs else "you swap the two sides {when}"


def product(s: Slots) -> str:
    """A matrix product pairs the wrong dimensions: a factor is transposed, or there is no product at all."""
    if ".sum(" in s.edit.new:
        return "you multiply element by element and sum each row. Use a matrix product here"
    (_, left, right), (_, first, second) = operands_of(s.edit.new), operands_of(s.edit.old)
    turned = [
        side.removesuffix(".mT") for side in (left, right) if side.endswith(".mT") and side not in (first, second)
    ]
    noun = _noun_of(s, turned[0]) if len(turned) == 1 else ""
    if (left, right) in ((f"{first}.mT", second), (first, f"{second}.mT")) and noun:
        return f"you transpose {noun} {s.when}"
    if noun and {left, right} in ({f"{first}.mT", second}, {first, f"{second}.mT"}):
        return f"you swap the two factors and transpose {noun} {s.when}"
    if len(turned) == 2:
        swapped = " and swap them" if left.startswith(second) and right.startswith(first) else ""
        return f"you transpose both factors{swapped} {s.when}"
    return "your matrix product pairs the wrong dimensions {when}"


def sibling(s: Slots) -> str:
    """One function is called instead of another."""
    new, old = function_of(s.edit.new, s.edit.old), function_of(s.edit.old, s.edit.new)
    if (new, old) in SWAPPED_CALLS:
        return f"you {SWAPPED_CALLS[new, old]} {s.when_not(old)}"
    if new not in TAKEN or old not in TAKEN:
        return f"you use `{new}` instead of `{old}` {s.when}" if new and old else "you call the wrong function {when}"
    code = parse(s.edit.old)
    is_pair = isinstance(code, ast.Call) and len(code.args) == 2
    if is_pair and {new, old} <= {"min", "max", "minimum", "maximum"}:
        larger = ("larger", "smaller")[:: 1 if new.startswith("max") else -1]
        return f"you take the {larger[0]} of the two instead of the {larger[1]} {s.when_not(old)}"
    given = _input(code, s)
    if given and TAKEN[old] not in given:
        return f"you take the {TAKEN[new]} of {given}, not the {TAKEN[old]}"
    where = s.when_not(old)
    instead = f" instead of the {TAKEN[old]}" if where == s.when else ""
    return f"you take the {TAKEN[new]}{instead} {where}"


def _input(code: ast.expr | None, s: Slots) -> str:
    """Return the noun of what a call works on."""
    if not isinstance(code, ast.Call):
        return ""
    given = operand(code.func.value, s.noun) if isinstance(code.func, ast.Attribute) else ""
    return given or (operand(code.args[0], s.noun) if code.args else "")


def comparison(s: Slots) -> str:
    """A comparison is inverted, or strict instead of not strict."""
    new, old = comparison_of(s.edit.new), comparison_of(s.edit.old)
    if " is " in new:
        return f"you swap the cases with and without {s.noun(compared_in(s.edit.old)) or 'a value'} {s.when}"
    if new.strip("=") == old.strip("=") and new != old and "!" not in new + old:
        return f"you compare with `{new}` instead of `{old}` {s.when}"
    return f"your comparison is inverted {s.when}: you use `{new}` instead of `{old}`"


def parts_exchanged(s: Slots) -> str:
    """Two values in a pair are swapped, or one of them is there twice."""
    old, new = parts_of(s.edit.old), parts_of(s.edit.new)
    if "None" in old or ("None" in s.edit.old.partition("[")[2] and not old):
        return dimension_wordings.new_axis_elsewhere(s)
    named = [s.noun(part) for part in old]
    is_one_twice = len(set(new)) == 1
    if len(named) == 2 and all(named):
        if is_one_twice:
            again = s.noun(new[0])
            return f"you use {again} twice and leave out {next((one for one in named if one != again), 'the other')}"
        return f"you swap {named[0]} and {named[1]}" + ("" if s.hands_on else f" {s.when}")
    if s.is_argument:
        return "you swap the two parts of {thing}"
    if called(parse(s.edit.old)) in ("cat", "stack", "join"):
        return f"you concatenate the parts in the wrong order {s.when_not('Add')}"
    if any(re.fullmatch(r"-?\d+", part) for part in old):
        return "you use the same number twice {when}" if is_one_twice else "you swap the two numbers {when}"
    if s.edit.new.endswith("[::-1]"):
        return "you reverse the order of the values that you return"
    return "you use one value twice {when}" if is_one_twice else "you swap the two parts {when}"


def layers(s: Slots) -> str:
    """One layer is used instead of another."""
    old, new = s.edit.old, s.edit.new
    if isinstance(s.right, ast.Attribute) and old not in s.thing:
        return f"you use `{new}` instead of `{old}` as {s.thing}"
    if isinstance(s.right, ast.Attribute):
        return f"you use `{new}` instead of `{old}`"
    return f"you use `{new}` instead of `{old}`" + ("" if old in s.do else f" {s.when}")


def sign(s: Slots) -> str:
    """A sign is lost or added."""
    term = s.noun(s.edit.old.removeprefix("-"))
    is_part = s.edit.old.startswith("-") and s.edit.old != s.code
    if is_part and "inf" in s.edit.old:
        return f"you {_set_to(s, '∞')}" if s.do.endswith(" to −∞") else "you use ∞ instead of −∞ {when}"
    if is_part:
        return f"you leave out the minus sign in front of {term or f'`{s.edit.old[1:]}`'}"
    return "{your} {has} the wrong sign" if s.is_short else "you {use} {thing} with the wrong sign"


def inverted(s: Slots) -> str:
    """True and False are swapped."""
    if s.is_short:
        return "{your} {is_} inverted: True and False are swapped"
    return "you {use} {thing} with True and False swapped"


def shifted(s: Slots) -> str:
    """A value is larger or smaller by 1."""
    is_larger = "+" in s.edit.new
    if s.is_short:
        return f"{{your}} {{is_}} too {'large' if is_larger else 'small'} by 1"
    return f"you {{use}} {{thing}} {'plus' if is_larger else 'minus'} 1"


def filled_with(s: Slots) -> str:
    """A mask fills in the wrong number."""
    new, old = (
        code.rpartition(", ")[2].rstrip(")").replace("torch.inf", "∞").replace("-", "−")
        for code in (s.edit.new, s.edit.old)
    )
    if old == "−∞" and s.do.endswith(" to −∞"):
        return f"you {_set_to(s, new)}"
    return f"you fill in {new} instead of {s.noun(old) or old} {s.when}"


def _set_to(s: Slots, number: str) -> str:
    """Return a step that sets something to −∞, as it is done with another number."""
    return f"{s.do.removesuffix('−∞')}{number} instead of −∞"
