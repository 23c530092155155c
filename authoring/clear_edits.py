"""Decide which generated mistakes a composed sentence can describe well enough for learners to recognize their code.

Other generated mistakes are not stored unless a teacher wrote a message for them. If an attempt is not recognized, the
check only shows the line.
"""

import ast
import inspect
import re
import textwrap
from functools import cache

from transformer_course.generated_mistakes.code_differences import function_of
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.steps import InSteps

KINDS_WITH_PREVIOUS_STEP = {
    *("sibling", "no_softmax", "operator", "order", "axis", "keepdim", "all_axes", "call_left_out", "power"),
}
"""Kinds of edits that are also generated in combination with omitting the previous step."""
KINDS_NAMING_TWO_VALUES = {
    *("wrong_input", "inputs_exchanged", "values_exchanged", "taken_for", "left_out", "moved", "done_again", "as_well"),
    *("added", "argument_for_another"),
}
"""Kinds whose message names another value. That value must exist in the learner's code, so it must not be an internal
function of the steps.
"""
UNCLEAR_IN_LOOPS = {"parts_exchanged", "index", "part_left_out", "order", "option_left_out", "not_indexed", "condition"}
UNCLEAR_IN_INNER_FUNCTIONS = {"number", "sign", "always_one", "operator"}
"""Kinds that are unclear in a step with a loop or an inner function, because the learner's code looks different."""
KINDS_WITHOUT_CRASH = {"first_only", "first_for_all", "mean_by", "index", "inverse", "scaled"}
"""Kinds that are implausible if the code crashes, because they change numbers rather than shapes."""
CALLS_NEVER_OMITTED = {"zip", "enumerate", "append", "slice", "partial", "isinstance", "int", "bool", "str"}
"""Functions whose calls no one forgets: without the call, the code crashes at once and needs no explanation."""
NONEXISTENT_CALLS = re.compile(r"\bmath\.(?!sqrt|exp|log|log2|log10|log1p|e\b|inf|comb|isqrt|pi|floor|ceil|erf)")


def is_clear(steps: InSteps, edit: AnswerEdit) -> bool:
    """Return whether a composed sentence can describe a generated mistake."""
    return not (
        _is_two_mistakes(edit)
        or _names_internal_function(steps, edit)
        or (edit.kind in UNCLEAR_IN_LOOPS and edit.step in steps.steps and _has_several_lines(steps, edit.step))
        or (edit.kind in UNCLEAR_IN_INNER_FUNCTIONS and re.search(r"^def ", edit.code.get(edit.step, ""), re.MULTILINE))
        or (edit.kind in KINDS_WITHOUT_CRASH and edit.crashes)
        or _is_implausible(steps, edit)
        or _moves_to_unrelated_step(steps, edit)
    )


def _is_two_mistakes(edit: AnswerEdit) -> bool:
    """Return whether a second step is also omitted, which the check reports as a separate mistake."""
    return edit.kind in KINDS_WITH_PREVIOUS_STEP and bool(edit.other) and len(edit.code) == 1


def _names_internal_function(steps: InSteps, edit: AnswerEdit) -> bool:
    """Return whether the edit involves a function that exists only in the steps."""
    if edit.kind in ("order", "option_left_out", "parts_exchanged"):
        called = re.match(r"(\w+)\(", edit.old)
        return called is not None and called[1] in steps.steps
    return edit.kind in KINDS_NAMING_TWO_VALUES and any(
        name in steps.steps and name != edit.step and _is_function(steps, name)
        for name in (edit.old, edit.new, edit.other)
    )


@cache
def _has_several_lines(steps: InSteps, name: str) -> bool:
    return steps.expression(name) is None


@cache
def _is_function(steps: InSteps, name: str) -> bool:
    """Return whether the value of a step is a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(steps.steps[name]))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    last = tree.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    inner = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    is_partial = isinstance(value, ast.Call) and ast.unparse(value.func).endswith("partial")
    return isinstance(value, ast.Lambda) or is_partial or (isinstance(value, ast.Name) and value.id in inner)


def _is_implausible(steps: InSteps, edit: AnswerEdit) -> bool:
    """Return whether no one would write this edit, such as a value combined with itself or a nonexistent function."""
    new = _parsed(edit.new)
    match edit.kind:
        case "wrong_input":
            body = _parsed(edit.code.get(edit.step, "").removeprefix("return "))
            return isinstance(body, ast.BinOp) and ast.unparse(body.left) == ast.unparse(body.right)
        case "part_left_out":
            old = _parsed(edit.old)
            is_exponent = (
                isinstance(old, ast.BinOp) and isinstance(old.op, ast.Pow) and edit.new == ast.unparse(old.right)
            )
            is_number_alone = isinstance(_parsed(edit.code.get(edit.step, "").removeprefix("return ")), ast.Constant)
            return is_number_alone or is_exponent
        case "call_left_out":
            name = re.match(r"(?:[\w.]+\.)?(\w+)\(", edit.old)
            return (name is not None and name[1] in CALLS_NEVER_OMITTED) or isinstance(new, ast.Constant)
        case "sibling":
            is_made_up = "self." in edit.new or NONEXISTENT_CALLS.search(edit.new)
            return bool(is_made_up) or function_of(edit.old, edit.new) in steps.steps
        case "operator" | "product":
            both = isinstance(new, ast.BinOp) and ast.unparse(new.left) == ast.unparse(new.right)
            old = _parsed(edit.old)
            was_both = isinstance(old, ast.BinOp) and ast.unparse(old.left) == ast.unparse(old.right)
            of_turned = edit.kind == "product" and re.search(r"\.m?T\)?\.mT|\*.*\.mT|\.mT.* \* ", edit.new)
            return (
                (both and not was_both)
                or bool(of_turned)
                or (edit.kind == "operator" and _applies_to_non_numbers(edit))
            )
        case "no_bias" | "untransposed_weight":
            return re.search(r"self\.(?:w_\w+|linear)\.weight", edit.new + " ".join(edit.code.values())) is None
        case "power":
            return "math.e" in edit.new
        case "number":
            return _uses_unexpected_dimension(edit)
        case "turned_off":
            return re.search(r"lambda [\w, ]+: (?:True|False)$", edit.code.get(edit.step, "")) is not None
        case "axis":
            return edit.crashes and "dim=(" in edit.new
        case "slice":
            return ":(" not in edit.new and edit.old.partition("[")[0] != edit.new.partition("[")[0]
    return False


def _applies_to_non_numbers(edit: AnswerEdit) -> bool:
    """Return whether the edit applies an operator to lists, strings or booleans that do not support it."""
    return edit.crashes and any(one.form == "error TypeError" for one in edit.outlines)


def _uses_unexpected_dimension(edit: AnswerEdit) -> bool:
    """Return whether the edit uses a nonexistent dimension or size that no one would expect."""
    return edit.crashes and edit.new.lstrip("-").isdigit() and edit.old.lstrip("-").isdigit() and int(edit.new) > 2


def _moves_to_unrelated_step(steps: InSteps, edit: AnswerEdit) -> bool:
    """Return whether the edit moves a step to a value that is unrelated to the step's own input."""
    if edit.kind != "moved" or edit.step not in steps.steps or edit.other not in steps.steps:
        return False
    return edit.other not in steps.reached_from[edit.step] and edit.step not in steps.reached_from[edit.other]


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None
