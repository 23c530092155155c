"""Message templates for wrong operations and for operands that are wrong or in the wrong order."""

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
from transformer_course.generated_mistakes.omission_wordings import RESULT_NOUNS, noun_of
from transformer_course.generated_mistakes.phrases import GERUNDS, called, minus, operand, parse, with_instead
from transformer_course.generated_mistakes.step_words import is_plural
from transformer_course.generated_mistakes.template_slots import MAX_CLAUSE_WORDS, Slots
from transformer_course.steps import InSteps, needs

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
"""For each pair of functions (called, correct), an imperative for the learner's mistake."""
CONSEQUENCES = {
    ("mean", "sum"): "A mean also divides by the number of terms",
    ("sum", "mean"): "A mean also divides by the number of terms",
    ("amax", "sum"): "A maximum keeps only the largest term",
    ("max", "sum"): "A maximum keeps only the largest term",
    ("amin", "sum"): "A minimum keeps only the smallest term",
    ("min", "sum"): "A minimum keeps only the smallest term",
    ("norm", "sum"): "A norm squares the terms first and takes a square root at the end",
    ("sum", "norm"): "A norm squares the entries first and takes a square root at the end",
    ("log_softmax", "softmax"): "Logarithms of probabilities are never positive, and they don't sum to 1",
    ("softmax", "log_softmax"): "You still need the logarithm",
    ("sigmoid", "tanh"): "A sigmoid is between 0 and 1, and a tanh between −1 and 1",
    ("tanh", "sigmoid"): "A tanh is between −1 and 1, and a sigmoid between 0 and 1",
    ("relu", "tanh"): "A ReLU is never negative and has no upper limit",
    ("sin", "cos"): "For an angle of 0, the sine is 0 and the cosine is 1",
    ("cos", "sin"): "For an angle of 0, the sine is 0 and the cosine is 1",
}
"""For each pair of functions (called, correct), a sentence about the difference, without a final period."""
MAX_ASKED_WORDS = 5
"""Maximum number of words in a value's name that a question mentions."""
MAX_ASKING_WORDS = 18
"""Maximum number of words in a clause that is followed by a question."""
SYMBOLS = {
    "Mult": "*", "Div": "/", "Add": "+", "Sub": "-", "FloorDiv": "//", "Mod": "%", "MatMult": "@", "BitAnd": "&",
    "BitOr": "|", "Pow": "**",
}  # fmt: skip


def wrong_input(s: Slots) -> str:
    """Describe a step that uses the wrong value."""
    code = s.code
    if s.edit.old in s.steps.arguments.parameters and _is_constant(s.steps, s.edit.new):
        return f"you don't use {s.old} {s.when}"
    n_sizes = len(re.findall(rf"\b{s.edit.old}\.shape\[", code))
    if n_sizes and n_sizes == len(re.findall(rf"\b{s.edit.old}\b", code)):
        return s.size_of(s.new, s.old)
    if s.passes_value_on:
        return f"you {s.use} {s.new} instead of {s.old}"
    clause = s.instead(code, s.edit.old, s.edit.new)
    return clause + _which_variable(s) if len(clause.split()) <= MAX_ASKING_WORDS else clause


def _which_variable(s: Slots) -> str:
    """Ask which variable holds the right value, if that value is the result of another step with a short name."""
    is_value = s.edit.old in s.steps.steps and not _is_constant(s.steps, s.edit.old) and s.old.startswith("the ")
    return f". Which of your variables holds {s.old}?" if is_value and len(s.old.split()) <= MAX_ASKED_WORDS else ""


def _is_constant(steps: InSteps, name: str) -> bool:
    return name in steps.steps and not needs(steps.steps[name])


def inputs_exchanged(s: Slots) -> str:
    """Describe swapping two inputs of a step."""
    is_short = len(s.do.split()) < 9 and "the result of " not in s.do
    return f"you swap {s.old} and {s.new}" + (f" {s.when}" if is_short else "")


def moved(s: Slots) -> str:
    """Describe a step that comes too early or too late."""
    code = s.code
    order = list(s.steps.steps)
    target = s.edit.new if s.edit.new in s.steps.known else s.edit.other
    served = [name for name in order if s.name in needs(s.steps.steps[name])]
    if target in served and len(served) > 1 and s.edit.new != target:
        return f"you {s.do} only for {s.noun(target)}"
    is_late = order.index(s.edit.other) > order.index(s.name)
    clause = s.action(code, {s.edit.old: "§"}) if len(re.findall(rf"\b{s.edit.old}\b", code)) == 1 else ""
    woven = with_instead(clause, s.noun(target), s.noun(s.edit.old))
    first, second = (s.imperative(s.edit.other), s.do) if is_late else (s.do, s.imperative(s.edit.other))
    is_order = target == s.steps.last and not any(noun in first for noun in _nouns_after(s))
    if woven and len(woven.split()) <= 22 and not is_order:
        return f"you {woven}"
    return f"you {first} before you {second}. Reverse that order"


def _nouns_after(s: Slots) -> set[str]:
    """Return the nouns of the step's value and of all values that depend on the step."""
    dependent = {s.name}
    for name, step in s.steps.steps.items():
        if dependent & set(needs(step)):
            dependent.add(name)
    return {noun for name in dependent if (noun := s.plain_noun(name).removeprefix("the "))}


def times_mask(s: Slots) -> str:
    """Describe multiplying by a mask instead of calling ``masked_fill``."""
    if not _hides_scores(s):
        return "you multiply by the mask {when}"
    return "you multiply the scores by the mask, which sets them to 0. A score of 0 still gets weight: use −∞"


def mask_added(s: Slots) -> str:
    """Describe adding a mask instead of calling ``masked_fill``."""
    if not _hides_scores(s):
        return "you add the mask as zeros and ones {when}"
    return "you add the mask as zeros and ones, which hides nothing. Hidden scores should be −∞"


def _hides_scores(s: Slots) -> bool:
    """Return whether the mask sets scores to −∞, as opposed to setting weights to 0 or labels to padding."""
    return "inf" in s.edit.old or "∞" in s.do


def operator(s: Slots) -> str:
    """Describe using the wrong operator."""
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
    """Return the correct operation as a gerund with pronouns for its operands."""
    if old == "Pow":
        return {"0.5": "taking the square root", "2": "squaring it"}.get(right, GERUNDS[old])
    if old in ("Div", "FloorDiv") and new in ("Add", "Sub"):
        return "dividing" if old == "Div" else GERUNDS[old]
    it = "them" if is_many else "it"
    gerunds = {
        "Mult": "multiplying",
        "Add": "adding them",
        "Div": f"dividing by {it}",
        "Sub": f"subtracting {it}",
    }
    return gerunds.get(old, GERUNDS[old])


def power(s: Slots) -> str:
    """Describe a power with the wrong exponent."""
    new, old = s.edit.new, _exponent(operands_of(s.edit.old)[2])
    pattern = r"\bpower\b|\broot\b|\bsquare|√|²"
    where = s.where(pattern, otherwise=s.when)
    if "isqrt" in new and old == "1/2":
        return f"you round the square root down {where}"
    if "isqrt" in new:
        return f"you take the square root and round it down {where}. The exponent should be {old}"
    if re.search(r"\*\* 1$", new):
        return f"you never take the square root {s.where(pattern, otherwise='')}"
    if re.search(r"\*\* -1 / 2$", new):
        return f"you use the exponent −1 and divide by 2 {where}. The exponent should be {old}"
    if re.search(r"\*\* \(?-1\)?$", new):
        return f"you use the exponent −1 instead of {old} {where}"
    opposite = old.removeprefix("−") if old.startswith("−") else f"−{old}"
    if re.search(r"\*\* \(-\(", new) and re.fullmatch(r"[\d/]+", old.removeprefix("−")):
        return f"you use the exponent {opposite} instead of {old} {where}"
    return f"{'your exponent has the wrong sign' if '(-(' in new else 'you use the wrong exponent'} {where}"


def _exponent(code: str) -> str:
    """Format an exponent as people write it: −1/2 for (-0.5)."""
    return minus(code.strip("()")).replace("0.5", "1/2")


def order(s: Slots) -> str:
    """Describe swapping two operands or arguments."""
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
    """Describe a matrix product that pairs the wrong dimensions or is not a matrix product at all."""
    if ".sum(" in s.edit.new:
        return "you multiply element by element and sum each row. Use a matrix product here"
    (_, left, right), (_, first, second) = operands_of(s.edit.new), operands_of(s.edit.old)
    turned = [
        side.removesuffix(".mT") for side in (left, right) if side.endswith(".mT") and side not in (first, second)
    ]
    noun = noun_of(s, turned[0]) if len(turned) == 1 else ""
    if (left, right) in ((f"{first}.mT", second), (first, f"{second}.mT")) and noun:
        return f"you transpose {noun} {s.when}"
    if noun and {left, right} in ({f"{first}.mT", second}, {first, f"{second}.mT"}):
        return f"you swap the two factors and transpose {noun} {s.when}"
    if len(turned) == 2:
        swapped = " and swap them" if left.startswith(second) and right.startswith(first) else ""
        return f"you transpose both factors{swapped} {s.when}"
    return "your matrix product pairs the wrong dimensions {when}"


def sibling(s: Slots) -> str:
    """Describe calling the wrong function."""
    new, old = function_of(s.edit.new, s.edit.old), function_of(s.edit.old, s.edit.new)
    if (new, old) in SWAPPED_CALLS:
        return f"you {SWAPPED_CALLS[new, old]} {s.when_not(old)}"
    if new not in RESULT_NOUNS or old not in RESULT_NOUNS:
        return f"you use `{new}` instead of `{old}` {s.when}" if new and old else "you call the wrong function {when}"
    code = parse(s.edit.old)
    args = code.args if isinstance(code, ast.Call) else []
    if len(args) == 2 and {new, old} <= {"min", "max", "minimum", "maximum"}:
        larger = ("larger", "smaller")[:: 1 if new.startswith("max") else -1]
        one, two = (operand(arg, s.plain_noun) for arg in args)
        clause = f"you take the {larger[0]} of {one} and {two} instead of the {larger[1]}"
        if one and two and len(clause.split()) <= MAX_CLAUSE_WORDS:
            return clause
        return f"you take the {larger[0]} of the two instead of the {larger[1]} {s.when_not(old)}"
    advice = f". {CONSEQUENCES[new, old]}" if (new, old) in CONSEQUENCES else ""
    given = _input(code, s)
    if given and RESULT_NOUNS[old] not in given:
        return f"you take the {RESULT_NOUNS[new]} of {given}, not the {RESULT_NOUNS[old]}{advice}"
    where = s.when_not(old)
    instead = "" if where.startswith("where ") else f" instead of the {RESULT_NOUNS[old]}"
    return f"you take the {RESULT_NOUNS[new]}{instead} {where}{advice}"


def _input(code: ast.expr | None, s: Slots) -> str:
    """Return the noun for the input of a call."""
    if not isinstance(code, ast.Call):
        return ""
    given = operand(code.func.value, s.noun) if isinstance(code.func, ast.Attribute) else ""
    return given or (operand(code.args[0], s.noun) if code.args else "")


def comparison(s: Slots) -> str:
    """Describe a comparison that is inverted, or strict instead of non-strict."""
    new, old = comparison_of(s.edit.new), comparison_of(s.edit.old)
    if " is " in new:
        return f"you swap the cases with and without {s.noun(compared_in(s.edit.old)) or 'a value'} {s.when}"
    if new.strip("=") == old.strip("=") and new != old and "!" not in new + old:
        return f"you compare with `{new}` instead of `{old}` {s.when}. What should happen if both sides are equal?"
    return f"your comparison is inverted: you use `{new}` instead of `{old}` {s.when}"


def parts_exchanged(s: Slots) -> str:
    """Describe a pair with its values swapped or with one value used twice."""
    old, new = parts_of(s.edit.old), parts_of(s.edit.new)
    if "None" in old or ("None" in s.edit.old.partition("[")[2] and not old):
        return dimension_wordings.misplaced_new_axis(s)
    named = [s.noun(part) for part in old]
    is_one_twice = len(set(new)) == 1
    if len(named) == 2 and all(named):
        if is_one_twice:
            again = s.noun(new[0])
            return f"you use {again} twice and leave out {next((one for one in named if one != again), 'the other')}"
        return f"you swap {named[0]} and {named[1]}" + ("" if s.passes_value_on else f" {s.when}")
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
    """Describe using the wrong layer."""
    old, new = s.edit.old, s.edit.new
    if isinstance(s.right, ast.Attribute) and old not in s.thing:
        return f"you use `{new}` instead of `{old}` as {s.thing}"
    if isinstance(s.right, ast.Attribute):
        return f"you use `{new}` instead of `{old}`"
    return f"you use `{new}` instead of `{old}`" + ("" if old in s.do or s.do.startswith("use ") else f" {s.when}")


def sign(s: Slots) -> str:
    """Describe a missing or extra minus sign."""
    term = s.noun(s.edit.old.removeprefix("-"))
    is_part = s.edit.old.startswith("-") and s.edit.old != s.code
    if is_part and "inf" in s.edit.old:
        return f"you {_set_to(s, '∞')}" if s.do.endswith(" to −∞") else "you use ∞ instead of −∞ {when}"
    if is_part:
        return f"you leave out the minus sign in front of {term or f'`{s.edit.old[1:]}`'}"
    return "{your} {has} the wrong sign" if s.is_short else "you {use} {thing} with the wrong sign"


def inverted(s: Slots) -> str:
    """Describe a mask with True and False swapped."""
    if s.is_short:
        return "{your} {is_} inverted: True and False are swapped"
    return "you {use} {thing} with True and False swapped"


def shifted(s: Slots) -> str:
    """Describe a value that is too large or too small by 1."""
    is_larger = "+" in s.edit.new
    if s.is_short:
        return f"{{your}} {{is_}} too {'large' if is_larger else 'small'} by 1"
    return f"you {{use}} {{thing}} {'plus' if is_larger else 'minus'} 1"


def filled_with(s: Slots) -> str:
    """Describe calling ``masked_fill`` with the wrong number."""
    new, old = (
        code.rpartition(", ")[2].rstrip(")").replace("torch.inf", "∞").replace("-", "−")
        for code in (s.edit.new, s.edit.old)
    )
    if s.do.endswith((" to −∞", " with −∞")):
        return f"you {_set_to(s, new.removesuffix('.0'))}"
    return f"you fill in {new} instead of {s.noun(old) or old} {s.when}"


def _set_to(s: Slots, number: str) -> str:
    """Return the imperative of a step that sets something to −∞, with the wrong number inserted."""
    return f"{s.do.removesuffix('−∞')}{number} instead of −∞"
