"""Templates that depend on the replaced code: what is computed, from which values, and in which order."""

import ast
import re

from transformer_course.generated_mistakes.code_differences import (
    compared_in,
    comparison_of,
    function_of,
    operands_of,
    parts_of,
)
from transformer_course.generated_mistakes.phrases import GERUNDS, called, operand, parse, with_instead
from transformer_course.generated_mistakes.step_words import is_plural
from transformer_course.generated_mistakes.template_slots import Slots
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
OPERATIONS = {
    "Mult": "multiply", "Div": "divide", "Add": "add", "Sub": "subtract", "FloorDiv": "divide and round down",
    "Mod": "take the remainder", "MatMult": "take the matrix product", "BitAnd": "combine with *and*",
    "BitOr": "combine with *or*", "Pow": "raise to a power",
}  # fmt: skip
NOT_DONE = {
    "transpose": "transpose", "mT": "transpose", "unsqueeze": "add a dimension", "flatten": "flatten",
    "reshape": "reshape", "masked_fill": "mask anything out", "clamp": "clamp", "squeeze": "squeeze",
}  # fmt: skip
"""What is not done if a call is left out, as an imperative."""
TERMS = {"Add": "terms", "Sub": "terms", "Mult": "factors", "MatMult": "factors", "Div": "sides", "FloorDiv": "sides"}


def left_out(s: Slots) -> str:
    """A whole step is left out."""
    code = s.steps.expression(s.name) or ""
    if re.fullmatch(r"\w+ [+&|] \w+", code) and (lost := _missing(s, code)):
        return f"you never add {lost}" if "+" in code else f"you leave out {lost}"
    uses = [need for need in needs(s.steps.steps[s.name]) if need != "self"]
    if (s.edit.new not in uses[:1] and len(uses) != 1) or re.fullmatch(r"1 - \w+", code):
        return "you {use} {new} instead of {thing}"
    return _never(s)


def _never(s: Slots) -> str:
    return f"you {s.use} {s.target or s.new} instead of {s.thing}" if s.hands_on else "you never {do}"


def part_left_out(s: Slots) -> str:
    """One operand of a step is left out."""
    sign, first, second = operands_of(s.edit.old)
    is_whole = s.edit.old == s.steps.expression(s.name)
    if is_whole and s.edit.new == first in s.steps.known and sign in ("Sub", "Div", "FloorDiv", "Mod"):
        return _never(s)
    if sign != "Pow" and (lost := _missing(s, s.edit.old)):
        return _without(s, sign, lost, is_whole=is_whole, is_right=s.edit.new == first)
    if sign == "Pow" and s.edit.new == first:
        power = "square root" if second == "0.5" else "power"
        return _never(s) if is_whole else f"you never take the {power} {s.when}"
    if sign == "Pow" and s.edit.new == second:
        return "you {use} the exponent {raw_new} instead of {thing}"
    number = second if s.edit.new == first else first if s.edit.new == second else ""
    if re.fullmatch(r"\d[\d.]*", number):
        by = {"Add": "add", "Sub": "subtract", "Mult": "multiply by", "Div": "divide by", "FloorDiv": "divide by"}
        return f"you never {by[sign]} {number} {s.when}" if sign in by else f"you leave out the {number} {s.when}"
    if s.edit.new == "§[0]":
        return "you keep only the first part of {thing}"
    if len(set(parts_of(s.edit.new))) == 1:
        return "you use the same part twice {when}"
    if s.noun(s.edit.new):
        return "you use only {new} {when}"
    return f"you leave out one of the two {TERMS[sign]} {s.when}" if sign in TERMS else "you leave out a part {when}"


def _without(s: Slots, sign: str, lost: str, *, is_whole: bool, is_right: bool) -> str:
    """Return the template for a named operand that is left out; ``is_right`` if it is the right one of the two."""
    if verb := {"Add": "add", "Sub": "subtract"}.get(sign):
        return f"you never {verb} {lost}"
    if sign == "Mult" or (sign in ("Div", "FloorDiv") and is_right):
        verb = "multiply" if sign == "Mult" else "divide"
        return f"you never {verb} by {lost}" + ("" if is_whole or s.do.startswith(verb) else f" {s.when}")
    if parts_of(s.edit.old):
        return f"you leave out {lost}" + ("" if is_whole else f" {s.when}")
    if is_whole and s.noun(s.edit.new):
        return f"you {s.use} {s.noun(s.edit.new)} alone. You should {s.do}"
    return f"you leave out {lost} {s.when}"


def _missing(s: Slots, code: str) -> str:
    """Return the noun of the one of two operands that is left out; "" if it is not a single value."""
    sign, *sides = operands_of(code)
    sides = sides if sign else parts_of(code)
    left = [side for side in sides if side not in (s.edit.new, f"-({s.edit.new})")]
    if len(left) != 1 or len(sides) != 2:
        return ""
    names = dict.fromkeys(re.findall(r"(?<![.\w])[a-z_]\w*", left[0]))
    asked = [name for name in names if name in s.steps.known]
    return s.noun(asked[0]) if len(asked) == 1 and not re.search(rf"\b{asked[0]}\b", s.edit.new) else ""


def call_left_out(s: Slots) -> str:
    """A function is not called."""
    old, new = parse(s.edit.old), s.edit.new
    name, given = called(old), s.noun(new)
    is_whole = s.edit.old == s.steps.expression(s.name) or _is_all_of_it(s)
    is_step = name in s.steps.steps and isinstance(old, ast.Call) and isinstance(old.func, ast.Name)
    if is_step and not is_whole:
        is_choice = re.match(r"choose|say|name", s.imperative(name))
        return f"you don't use {s.noun(name)} {s.when}" if is_choice else f"you never {s.imperative(name)}"
    if name == "len" and given:
        return f"you use {given} itself instead of its length {s.when}"
    if name in ("range", "arange"):
        number = given if given.startswith("the number") else f"the number {given or new}"
        return f"you use {number} instead of a range {s.when}"
    if is_whole:
        return _never(s)
    if does := s.action(s.edit.old):
        return f"you never {does}"
    if name in TAKEN:
        return f"you leave out the {TAKEN[name]} {s.when}"
    if name in NOT_DONE:
        return f"you don't {NOT_DONE[name]} {s.when}"
    if given and len(given.split()) < 5:
        return f"you use {given} as {'they are' if is_plural(given) else 'it is'} {s.when}"
    return f"you leave out `{name}` {s.when}" if name else "you leave out a call {when}"


def _is_all_of_it(s: Slots) -> bool:
    """Return whether the code that is left out is the whole step, so that its input is its result."""
    found = re.search(r"(?:^|return )(?:lambda ([\w, ]*): )?(\w+)$", s.edit.code.get(s.name, ""))
    return found is not None and (found[2] in s.steps.known or found[2] in (found[1] or "").split(", "))


def wrong_input(s: Slots) -> str:
    """A step uses one value instead of another."""
    code = s.steps.expression(s.name) or ""
    if s.edit.old in s.steps.arguments.parameters and _is_constant(s.steps, s.edit.new):
        return f"you don't use {s.old} {s.when}"
    if f"{s.edit.old}.shape[" in code:
        return f"you read a size of {s.new} instead of {s.old} {s.when}"
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
    code = s.steps.expression(s.name) or ""
    order = list(s.steps.steps)
    target = s.edit.new if s.edit.new in s.steps.known else s.edit.other
    served = [name for name in order if s.name in needs(s.steps.steps[name])]
    if target in served and len(served) > 1:
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
    clause = s.action(s.steps.expression(s.name) or "", {s.edit.old: s.target})
    return f"you also {clause}. Once is enough" if clause else "you {do} a second time, on {target}. Once is enough"


def one_case(s: Slots) -> str:
    """A condition is missing, so that one case is treated as the other."""
    choice = s.right if isinstance(s.right, ast.IfExp) else None
    test = ast.unparse(choice.test) if choice else ""
    takes_other = choice is not None and s.edit.new == ast.unparse(choice.orelse)
    if test in s.steps.arguments.parameters:
        return f"you act as if `{test}` were always {not takes_other}"
    if given := re.fullmatch(r"(\w+) is None", test):
        name = s.noun(given[1])
        is_ = "are" if is_plural(name) else "is"
        return f"you don't handle the case that {name} {is_} None" if takes_other else f"you never use {name}"
    return "you do the same in both cases {when}"


def operator(s: Slots) -> str:
    """One operator is used instead of another."""
    (new, *_), (old, _, right) = operands_of(s.edit.new), operands_of(s.edit.old)
    does = s.action(s.edit.new)
    if new == "Pow" or not does or old not in GERUNDS:
        if new in OPERATIONS and old in GERUNDS:
            return f"you {OPERATIONS[new]} instead of {GERUNDS[old]} {s.when}"
        return "you use the wrong operator {when}"
    noun = operand(parse(right), s.plain_noun)
    it = noun if noun.startswith("`") else "them" if is_plural(noun) else "it"
    if (new, old) == ("FloorDiv", "Div"):
        return f"you {does}. Don't round here: use `/`"
    if (new, old) == ("Div", "FloorDiv"):
        return f"you {does} without rounding down. Use `//` here"
    if (new, old) == ("Mult", "MatMult"):
        return f"you {does} element by element. Use a matrix product here"
    if {new, old} == {"BitAnd", "BitOr"}:
        return f"you {does} instead of {'*or*' if old == 'BitOr' else '*and*'}"
    should = {"Mult": f"multiplying by {it}", "Div": f"dividing by {it}", "Add": f"adding {it}"}
    return f"you {does} instead of {should.get(old, f'subtracting {it}' if old == 'Sub' else GERUNDS[old])}"


def order(s: Slots) -> str:
    """Two operands or arguments are swapped."""
    if s.edit.old.endswith(")") and not s.edit.old.startswith("("):
        name = called(parse(s.edit.old))
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


def sibling(s: Slots) -> str:
    """One function is called instead of another."""
    new, old = function_of(s.edit.new, s.edit.old), function_of(s.edit.old, s.edit.new)
    if (new, old) in SWAPPED_CALLS:
        return f"you {SWAPPED_CALLS[new, old]} {s.when}"
    if new not in TAKEN or old not in TAKEN:
        return f"you use `{new}` instead of `{old}` {s.when}" if new and old else "you call the wrong function {when}"
    code = parse(s.edit.old)
    is_pair = isinstance(code, ast.Call) and len(code.args) == 2
    if is_pair and {new, old} <= {"min", "max", "minimum", "maximum"}:
        larger = ("larger", "smaller")[:: 1 if new.startswith("max") else -1]
        return f"you take the {larger[0]} of the two, not the {larger[1]}, {s.when}"
    given = _input(code, s)
    if given and TAKEN[old] not in given:
        return f"you take the {TAKEN[new]} of {given}, not the {TAKEN[old]}"
    return f"you take the {TAKEN[new]} instead of the {TAKEN[old]} {s.when}"


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
    named = [s.noun(part) for part in parts_of(s.edit.old)]
    new = parts_of(s.edit.new)
    is_one_twice = len(set(new)) == 1
    if len(named) == 2 and all(named):
        if is_one_twice:
            again = s.noun(new[0])
            return f"you use {again} twice and leave out {next((one for one in named if one != again), 'the other')}"
        return f"you swap {named[0]} and {named[1]}" + ("" if s.hands_on else f" {s.when}")
    if s.is_argument:
        return "you swap the two parts of {thing}"
    return "you use one value twice {when}" if is_one_twice else "you swap the two parts {when}"


def layers(s: Slots) -> str:
    """One layer is used instead of another."""
    old, new = s.edit.old, s.edit.new
    if isinstance(s.right, ast.Attribute):
        return f"you use `{new}` instead of `{old}` as {s.thing}"
    return f"you use `{new}` instead of `{old}`" + ("" if old in s.do else f" {s.when}")


def sign(s: Slots) -> str:
    """A sign is lost or added."""
    term = s.noun(s.edit.old.removeprefix("-"))
    is_part = s.edit.old.startswith("-") and s.edit.old != s.steps.expression(s.name)
    return f"you leave out the minus sign in front of {term}" if term and is_part else "{subject} {has} the wrong sign"


def filled_with(s: Slots) -> str:
    """A mask fills in the wrong number."""
    new, old = (
        code.rpartition(", ")[2].rstrip(")").replace("torch.inf", "∞").replace("-", "−")
        for code in (s.edit.new, s.edit.old)
    )
    return f"you fill in {new} instead of {s.noun(old) or old} {s.when}"
