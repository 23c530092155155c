"""Describe a generated mistake to the learner: the error, the correct code, and a question as the first hint.

``TEMPLATES`` maps each kind of mistake to a template. A slot in braces is a property of ``Slots``, which takes its
words from the steps. A template that depends on the replaced code is a function, or a list of pairs: a pattern for the
new code, and a template. No template is specific to one exercise.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from transformer_course.generated_mistakes import dimension_wordings, omission_wordings, operation_wordings
from transformer_course.generated_mistakes.step_words import tidy
from transformer_course.generated_mistakes.template_slots import Slots
from transformer_course.steps import InSteps

if TYPE_CHECKING:
    from transformer_course.generated_mistakes.generated_mistake import AnswerEdit

Template = str | Callable[[Slots], str] | tuple[tuple[str, str | Callable[[Slots], str]], ...]
CONTAINERS = {
    "as_a_list": "a list", "as_an_array": "a NumPy array", "as_a_number": "a Python number", "in_a_tuple": "a tuple",
}  # fmt: skip


class Words(NamedTuple):
    """Texts about a generated mistake."""

    summary: str
    """A clause in the second person that must be true even if the attempt has other mistakes."""
    advice: str
    """A sentence about the correct code (without a final period), a question, or ""."""
    question: str
    """The first hint, a question."""


def words(steps: InSteps, edit: "AnswerEdit") -> Words:
    """Return the texts that describe a generated mistake."""
    slots = Slots(steps, edit)
    template = ARGUMENT_TEMPLATES.get(edit.kind) if slots.is_argument else None
    template = template or TEMPLATES.get(edit.kind, "you do something else when you {do}")
    if isinstance(template, tuple):
        template = next(choice for pattern, choice in template if re.search(pattern, edit.new))
    text = template(slots) if callable(template) else template
    summary, _, advice = slots.fill(text).partition(". ")
    question = next((ask for kinds, ask in QUESTIONS if edit.kind in kinds), "{by_hand}")
    return Words(tidy(summary.rstrip() + slots.circumstances), tidy(advice), tidy(slots.fill(question)))


def _scaled(s: Slots, size: str, operation: str) -> str:
    return f"{{your}} {{is_}} {size} what {s.they} should be" if s.is_short else f"you {{use}} {{thing}} {operation}"


TEMPLATES: dict[str, Template] = {
    # the step is missing, in the wrong place, or has the wrong input
    "left_out": omission_wordings.left_out,
    "taken_for": "you {use} {new} instead of {thing}",
    "wrong_input": operation_wordings.wrong_input,
    "inputs_exchanged": operation_wordings.inputs_exchanged,
    "values_exchanged": "you swap {old} and {new}",
    "steps_exchanged": "you swap {thing} and {other}",
    "moved": operation_wordings.moved,
    "done_again": omission_wordings.done_again,
    "twice": omission_wordings.twice,
    "part_left_out": omission_wordings.part_left_out,
    "call_left_out": omission_wordings.call_left_out,
    "always_one": omission_wordings.one_case,
    "condition": "you swap the two cases {when}",
    "brackets": "you leave out the parentheses {when}. Without them, `*` and `/` come before `+` and `-`",
    # wrong operation, function, number or layer
    "operator": operation_wordings.operator,
    "order": operation_wordings.order,
    "sibling": operation_wordings.sibling,
    "comparison": operation_wordings.comparison,
    "parts_exchanged": operation_wordings.parts_exchanged,
    "number": dimension_wordings.number,
    "power": operation_wordings.power,
    "mean_by": (
        (r"/ len\(", "you divide the sum by the number of rows {when}"),
        (r"keepdim|dim=.*- 1\)$", "you divide the sum by one less than the count {when}"),
        (r"- 1\)$", "you divide the sum by the size of the last dimension minus 1 {when}"),
        ("", "you divide the sum by the size of dim −2 {when}"),
    ),
    "absolute": "you take absolute values {when}. Keep the signs",
    "of_numbers": "you call a function of `math`, which takes one number. Use the one of `torch`, which takes a tensor",
    "no_softmax": (
        ("sigmoid", "you apply a sigmoid to each number instead of a softmax to each row"),
        ("one_hot", "you give all the weight to the largest score. A softmax shares it out"),
        ("full_like", "you give every entry the same weight. A softmax depends on the scores"),
        ("flatten", "you take the softmax over the last two dimensions together. Each row should sum to 1"),
        (r"exp\(\)\.sum\(\)", "you divide by the sum of the whole tensor. Divide each row by its own sum"),
        (r"exp\(\)\.sum", "you take `exp` without subtracting the maximum first, so large scores overflow"),
        (r"\.sum", "you divide the scores by their sum without taking `exp` first"),
        ("", "you take `exp` but never divide by the sum, so the rows don't sum to 1. Divide each row by its own sum"),
    ),
    "filled_with": operation_wordings.filled_with,
    "times_mask": operation_wordings.times_mask,
    "mask_added": operation_wordings.mask_added,
    "draw": (
        ("argmax", "you always pick the most likely token instead of drawing one"),
        ("", "you create a new random generator in each call, so every draw is the same"),
    ),
    "wrong_layer": operation_wordings.layers,
    "layers_exchanged": "you swap `{raw_old}` and `{raw_new}`",
    "no_bias": "you leave out the bias of the layer {when}",
    "untransposed_weight": "you multiply by the weight of an `nn.Linear` without transposing it",
    **dict.fromkeys(("turned_off", "option_left_out"), dimension_wordings.option),
    # dimensions, positions and sizes
    **dict.fromkeys(("axis", "all_axes"), dimension_wordings.axis),
    "keepdim": dimension_wordings.KEEPDIM,
    "product": operation_wordings.product,
    **dict.fromkeys(("not_transposed", "transposed", "other_axes"), dimension_wordings.axes),
    **dict.fromkeys(("length", "fixed"), dimension_wordings.length),
    **dict.fromkeys(("index", "slice", "not_indexed", "range", "other_part"), dimension_wordings.place),
    "one_axis_more": (
        (r"\[None, None\]$", "you {use} {thing} with two extra dimensions"),
        ("", "you {use} {thing} with an extra dimension"),
    ),
    "flattened": "you {use} {thing} flattened to one dimension. Keep {its} dimensions",
    "squeezed": "you squeeze {thing}, which drops dimensions of size 1",
    "first_only": "you return only the first entry (along dim 0) of {thing}. Return all of {it}",
    "largest_only": "you return the argmax of {thing}. Return {thing} {itself}",
    "as_well": "you return {new} as well. Return only {thing}",
    # unwanted operation on a value
    "function": "you {done} {thing}{unwanted}",
    "scaled": (
        (r"shape\[-1\]$", "you divide {thing} by the size of {its} last dimension{unwanted}"),
        ("/ 2$", lambda s: _scaled(s, "half of", "divided by 2")),
        ("/ 10$", lambda s: _scaled(s, "a tenth of", "divided by 10")),
        ("", lambda s: _scaled(s, "twice", "times 2")),
    ),
    "shifted": operation_wordings.shifted,
    "sign": operation_wordings.sign,
    "inverse": "you take the reciprocal of {thing}{unwanted}",
    "complement": "you subtract {thing} from 1{unwanted}",
    "normalized": (
        ("norm", "you divide {thing} by {its} norm over the last dimension{unwanted}"),
        ("", "you divide {thing} by {its} sum over the last dimension{unwanted}"),
    ),
    "centered": "you subtract the mean from {thing}{unwanted}",
    "added": "you add {new} to {thing}. The formula has no such term",
    "rounded": "you round {thing}. Keep all the digits",
    "nan_hidden": "you replace nan by 0 in {thing}. Find out where the nan comes from",
    "first_for_all": "you use the first entry (along dim 0) of {thing} for all the others, too",
    "one_number": (
        (r"\[0\]$", "you use only the first entry of {thing}. Use all of {it}"),
        ("mean", "you reduce {thing} to a single number, {its} mean. Keep {its} shape"),
        ("sum", "you reduce {thing} to a single number, {its} sum. Keep {its} shape"),
        ("", "you reduce {thing} to a single number, {its} maximum. Keep {its} shape"),
    ),
    "reversed": "you reverse the order of {thing}",
    "inverted": operation_wordings.inverted,
    "not_inverted": (
        ("masked_fill", "you fill exactly the entries that should stay, and keep the rest. Invert the mask"),
        (r"^\w+$", lambda s: f"you don't invert {{new}} {s.where('invert', otherwise='')}"),
        ("", "you leave out the `not` {when}"),
    ),
    "all_false": lambda s: "{your} {is_} False everywhere" if s.is_short else "you {use} False everywhere as {thing}",
    "all_true": lambda s: "{your} {is_} True everywhere" if s.is_short else "you {use} True everywhere as {thing}",
    "additive": lambda s: (
        "{your} {has} 0 and −∞ instead of True and False"
        if s.is_short
        else "you {use} 0 and −∞ instead of True and False as {thing}"
    ),
    "dtype": (
        (r"\.double", "you {use} {thing} as float64. Keep the dtype of the input"),
        (r"\.float", "you {use} {thing} as floating-point numbers. {should_be_bool}"),
        (r"\.(?:long|int)", "you {use} {thing} as integers. {should_be_bool}"),
        ("", "you {use} {thing} with the wrong dtype. {should_be_bool}"),
    ),
    **{kind: f"you return {container} instead of a tensor" for kind, container in CONTAINERS.items()},
    "as_a_number": lambda s: (
        "you call `.item()` on {thing}. Return the tensor"
        if s.edit.crashes
        else "you return a Python number. Return a tensor"
    ),
}
"""For each kind of mistake, a clause and optionally a sentence about the correct code."""
ARGUMENT_TEMPLATES: dict[str, Template] = {
    "ignored": "you don't use {thing}. Your output should depend on it",
    "argument_for_another": "you use {new} instead of {thing}",
    "transposed": "you transpose {thing}{unwanted}",
    "inverted": "you invert {thing}{unwanted}",
    "scaled": (
        ("/ 2$", "you divide {thing} by 2 first. Use {thing} unchanged"),
        ("", "you multiply {thing} by 2 first. Use {thing} unchanged"),
    ),
    **dict.fromkeys(("shifted", "sign"), "you use `{raw_new}` instead of {thing}"),
}
"""Templates for arguments that differ from the templates for steps."""
UNWANTED_OPERATIONS = (
    *("function", "scaled", "normalized", "centered", "rounded", "added", "inverse", "complement", "first_for_all"),
)
SHAPE_KINDS = (
    *("keepdim", "product", "transposed", "not_transposed", "other_axes", "one_axis_more", "squeezed", "flattened"),
    *("first_only", "one_number", "not_indexed"),
)
QUESTIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (UNWANTED_OPERATIONS, "Is something done to {thing} that is not in the formula?"),
    (SHAPE_KINDS, "{shape}"),
    (("axis", "all_axes"), "Which dimension should disappear here, and which should stay?"),
    (("left_out", "call_left_out"), "What goes wrong if you don't {do}?"),
    (("wrong_input", "argument_for_another"), "Which of the two should you use here: {old} or {new}?"),
    (("taken_for",), "What is the difference between {thing} and {new}?"),
    (
        ("inputs_exchanged", "values_exchanged", "steps_exchanged"),
        "What is the role of {old}, and what is the role of {new}?",
    ),
    (("moved", "done_again", "twice"), "In which order do the steps come? How often do you {do}?"),
    (("ignored",), "What should change in the output if {thing} changes?"),
    (("length", "fixed"), "Which dimension of which tensor has the size that you need?"),
    (("index", "slice", "range", "other_part"), "Count on a short case: which entry comes first, which last?"),
    (("inverted", "not_inverted", "all_true", "all_false"), "What does True mean here?"),
    (("filled_with", "times_mask", "mask_added"), "Which score gets a weight of exactly 0 in a softmax?"),
    (("as_well", *CONTAINERS), "What is the `type` of your result?"),
    (("dtype",), "What is the `.dtype` of {thing}?"),
    (("wrong_layer", "layers_exchanged"), "Which input goes into which layer?"),
)
"""For each group of kinds, the question that is the first hint."""
