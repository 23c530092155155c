"""Message templates for omitted steps, operands, calls and cases."""

import ast
import re

from transformer_course.generated_mistakes.code_differences import operands_of, parts_of
from transformer_course.generated_mistakes.phrases import called, operand, parse
from transformer_course.generated_mistakes.step_words import is_plural
from transformer_course.generated_mistakes.template_slots import MAX_CLAUSE_WORDS, OPERATION_PATTERNS, Slots
from transformer_course.steps import needs

RESULT_NOUNS = {
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
"""Nouns, without an article, for the results of functions."""
OMITTED_CALLS = {
    "transpose": "transpose", "mT": "transpose", "unsqueeze": "add a dimension", "flatten": "flatten",
    "reshape": "reshape", "masked_fill": "mask anything out", "clamp": "clamp", "squeeze": "squeeze",
    "encode": "encode the text", "decode": "decode the bytes",
}  # fmt: skip
"""For each call, an imperative that follows "you never" if the call is missing."""
MAX_QUOTED_CHARACTERS = 30
"""Maximum length of the code that a clause quotes, in characters."""
TERMS = {"Add": "terms", "Sub": "terms", "Mult": "factors", "MatMult": "factors", "Div": "sides", "FloorDiv": "sides"}


def left_out(s: Slots) -> str:
    """Describe a missing step."""
    code = s.code
    sign, first, second = operands_of(code)
    if sign in ("Add", "BitAnd", "BitOr") and s.edit.new in (first, second):
        lost = noun_of(s, second if s.edit.new == first else first)
        if lost:
            return f"you never add {lost}" if sign == "Add" else f"you leave out {lost}"
    if sign in TERMS and _only_counts(s):
        return "you {use} {new} instead of {thing}"
    uses = [need for need in needs(s.steps.steps[s.name]) if need != "self"]
    is_one_operation = not any(isinstance(node, ast.BinOp) for node in _inner(code))
    is_other_side = sign in ("Sub", "Div", "FloorDiv") and s.edit.new != re.split(r"[\[.]", first)[0]
    is_other_input = s.edit.new not in uses[:1] and len(uses) != 1
    if not is_one_operation or is_other_side or is_other_input or re.fullmatch(r"1 - \w+", code):
        return "you {use} {new} instead of {thing}"
    return _never(s)


def _only_counts(s: Slots) -> bool:
    """Return whether a step's imperative names no operation, as in "count the parameters".

    The learner does count something, so "you never count the parameters" would be false.
    """
    return re.match(r"(?:count|compute|work out|number) ", s.do) is not None


def _inner(code: str) -> list[ast.AST]:
    """Return all nodes inside the operands of the outermost operation, except indices."""
    outer = parse(code)
    operands: list[ast.expr] = []
    if isinstance(outer, ast.BinOp):
        operands = [outer.left, outer.right]
    elif isinstance(outer, ast.Call):
        operands = outer.args
    return [node for one in operands if not isinstance(one, ast.Subscript) for node in ast.walk(one)]


def twice(s: Slots) -> str:
    """Describe applying a function to its own result."""
    is_all = s.edit.old == s.code and " and " not in s.do
    if is_all and not any(isinstance(node, ast.BinOp | ast.Call) for node in _inner(s.code)):
        return f"you {s.do} twice"
    name = called(parse(s.edit.old))
    return f"you apply `{name}` twice {s.when}" if name else f"you {s.do} twice"


def _never(s: Slots) -> str:
    if each := re.match(r"call each (\w+) with ", s.do):
        return f"you never call the {each[1]}s"
    return f"you {s.use} {s.target or s.new} instead of {s.thing}" if s.passes_value_on else "you never {do}"


def part_left_out(s: Slots) -> str:
    """Describe a missing operand."""
    sign, first, second = operands_of(s.edit.old)
    is_whole = s.edit.old == s.code
    if sign == "Pow":
        does = s.action(s.edit.old) or f"raise anything to the power {second}"
        return _never(s) if is_whole else f"you never {does}" + ("" if _includes(s, does) else f" {s.when_not('Pow')}")
    is_first_left = is_whole and s.edit.new == first
    if is_first_left and first in s.steps.known and sign in ("Sub", "Div", "FloorDiv", "Mod"):
        return _never(s)
    if is_first_left and sign in ("Add", "Sub") and s.do.startswith(("add ", "subtract ")):
        return _never(s)
    if parts_of(s.edit.old):
        return _part_of_several(s, is_whole=is_whole)
    lost = ""
    if s.edit.new == first:
        lost = second
    elif s.edit.new in (second, f"-{second}", f"-({second})"):
        lost = first
    noun = noun_of(s, lost)
    if noun:
        return _without(s, sign, lost, is_whole=is_whole, is_right=lost == second)
    if lost and len(lost) <= MAX_QUOTED_CHARACTERS:
        return f"you leave out `{lost}` {s.when_not(sign)}"
    if sign in TERMS:
        return f"you leave out one of the two {TERMS[sign]} {s.when_not(sign)}"
    return "you leave out a part {when}"


def noun_of(s: Slots, code: str) -> str:
    """Return the noun for an operand (a number, an argument, a step or a size), or "" if there is no noun."""
    return operand(parse(code), s.noun) if code else ""


def _includes(s: Slots, does: str) -> bool:
    """Return whether the step's imperative already describes this action."""
    return s.do.startswith(does) or does.startswith(s.do)


def _part_of_several(s: Slots, *, is_whole: bool) -> str:
    """Describe a missing value among several that should be joined or returned."""
    parts, kept = parts_of(s.edit.old), parts_of(s.edit.new)
    nouns = [noun_of(s, part) for part in parts]
    if len(kept) == len(parts) and len(set(kept)) == 1:
        noun = noun_of(s, kept[0])
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
    """Describe a missing operand that has a noun. ``is_right`` means that the right operand is missing."""
    is_used_elsewhere = any(lost in needs(step) for name, step in s.steps.steps.items() if name != s.name)
    lost = noun_of(s, lost)
    verb = {"Add": "add", "Sub": "subtract", "Mult": "multiply by"}.get(sign)
    if sign in ("Div", "FloorDiv") and is_right:
        verb = "divide by"
    if verb and (sign != "Sub" or is_right):
        kept = "" if is_whole else s.plain_noun(s.edit.new) or _plain_operand(s)
        full = _with_both(sign, kept, lost)
        if kept and len(full.split()) <= MAX_CLAUSE_WORDS:
            return full
        if is_used_elsewhere and is_whole and s.result and s.when_not(sign) == f"when you compute {s.result}":
            return f"you don't {verb} {lost} {s.when_not(sign)}"
        clause = f"you never {verb} {lost}"
        is_clear = is_whole or s.do.startswith(verb.partition(" ")[0])
        where = s.where(rf"\b{verb.partition(' ')[0]}")
        return clause if is_clear or len(f"{clause} {where}".split()) > MAX_CLAUSE_WORDS else f"{clause} {where}"
    new = re.sub(r"^-\((\w+)\)$", r"-\1", s.edit.new)
    kept = s.noun(new) or (f"`{new}`" if len(new) <= MAX_QUOTED_CHARACTERS else "")
    if is_whole and kept:
        return f"you {s.use} only {kept}. You should {s.do}"
    return f"you leave out {lost} {s.when_not(sign)}"


def _plain_operand(s: Slots) -> str:
    """Return the noun of the remaining operand, or "" if that operand is a number."""
    kept = parse(s.edit.new)
    return "" if isinstance(kept, ast.Constant) else operand(kept, s.plain_noun)


def _with_both(sign: str, kept: str, lost: str) -> str:
    """Name both operands of a missing operation, as in "you never multiply the total by the correction"."""
    clauses = {
        "Add": f"you never add {lost} to {kept}",
        "Sub": f"you never subtract {lost} from {kept}",
        "Mult": f"you never multiply {kept} by {lost}",
    }
    return clauses.get(sign, f"you never divide {kept} by {lost}")


def call_left_out(s: Slots) -> str:
    """Describe a missing function call."""
    old, new = parse(s.edit.old), s.edit.new
    name, given = called(old), s.noun(new)
    is_whole = s.edit.old == s.code or _is_all_of_it(s)
    is_step = name in s.steps.steps and isinstance(old, ast.Call) and isinstance(old.func, ast.Name)
    if is_step and not is_whole:
        is_choice = re.match(r"choose|say|name", s.imperative(name))
        return f"you don't use {s.noun(name)} {s.when}" if is_choice else f"you never {s.imperative(name)}"
    if name == "len" and given:
        of_it = "themselves instead of their number" if is_plural(given) else "itself instead of its length"
        return f"you use {given} {of_it} {s.when}"
    if name in ("range", "arange"):
        number = given if given.startswith("the number") else f"the number {given or f'`{new}`'}"
        return f"you use {number} instead of a range {s.when}"
    is_all_of_it = (
        new in s.steps.known or isinstance(parse(new), ast.Name) or re.search(OPERATION_PATTERNS.get(name, "$^"), s.do)
    )
    if is_whole and is_all_of_it:
        return _never(s)
    if does := s.action(s.edit.old):
        return f"you never {does}"
    return _call_of_a_step(s, name)


def _call_of_a_step(s: Slots, name: str) -> str:
    """Describe a missing call that is only part of the step."""
    where = s.when_not(name)
    if name in OMITTED_CALLS:
        return f"you never {OMITTED_CALLS[name]}" + (f" {where}" if where == s.when else f". You should {s.do}")
    if name in RESULT_NOUNS:
        return f"you leave out the {RESULT_NOUNS[name]} {where}"
    return f"you don't call `{name}` {where}" if name else "you leave out a call {when}"


def _is_all_of_it(s: Slots) -> bool:
    """Return whether the missing call is the whole step, so that the step returns its input."""
    found = re.search(r"(?:^|return )(?:lambda ([\w, ]*): )?(\w+)$", s.edit.code.get(s.name, ""))
    return found is not None and (found[2] in s.steps.known or found[2] in (found[1] or "").split(", "))


def done_again(s: Slots) -> str:
    """Describe a repeated step."""
    clause = s.action(s.code, {s.edit.old: s.target})
    if clause:
        return f"you also {clause}. Once is enough"
    again = "do it again" if s.edit.new == s.edit.old else f"do the same to {s.target}"
    return f"you {s.do}, then {again}. Once is enough"


def one_case(s: Slots) -> str:
    """Describe a missing condition, which makes the code treat both cases the same."""
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
