"""Suggest fixes for crashes that are common among beginners in Python and torch."""

import inspect
import re

from transformer_course.checking.formatting import listed, readable
from transformer_course.exercise import Exercise
from transformer_course.running.case import Case
from transformer_course.running.observation import CrashReport

MAX_NAME_LENGTH = 40
RETURNS_TWO = "returns two tensors, the values and their indices"
HELP = {
    r"before Module\.__init__\(\) call": "Begin `__init__` with `super().__init__()`.",
    r"return_types\.(\w+)": f"`{{0}}` with a `dim` {RETURNS_TWO}. Use its `.values`.",
    r"view size is not compatible": (
        "After `transpose` or `permute`, a tensor is no longer stored in the order of its dimensions, so `view` "
        "fails. Call `reshape` instead."
    ),
    r"'builtin_function_or_method' object|'method' object|of type method": (
        "You use a method without calling it. Where are the parentheses missing?"
    ),
    r"'(?:int|float)' object has no attribute": (
        "A plain Python number has no tensor methods. Use a function from `math`, or keep the value as a tensor."
    ),
    r"The shape of the mask .* does not match the shape of the indexed tensor": (
        "A mask inside square brackets doesn't broadcast, so it needs the same shape as the tensor. `masked_fill` and "
        "`torch.where` broadcast their mask."
    ),
    r"only (?:integer tensors of a single element|one element tensors|0-dim)|Boolean value of Tensor with more": (
        "Python needs a single number here, but your tensor has several. Which torch function works on every entry?"
    ),
}
"""Suggested fix for each pattern in an error's type and message. ``{0}`` stands for the pattern's first group."""
WRONG_CALL = re.compile(r"positional arguments?\b|unexpected keyword argument|multiple values for argument")


def crash_help(exercise: Exercise, case: Case, error: CrashReport) -> str:
    """Suggest how to fix a crash in one or two sentences, or return "" if the error is unknown."""
    raised = f"{error['type']}: {error['message']}"
    if suggestion := error.get("suggestion"):
        name = readable(suggestion, MAX_NAME_LENGTH)
        if "forward" in raised:
            return f"Your class has a method `{name}`. Did you mean `forward`?"
        return f"Did you mean `{name}`?"
    for pattern, help in HELP.items():
        if found := re.search(pattern, raised):
            return help.format(*found.groups())
    if WRONG_CALL.search(raised) and not error.get("code"):
        return _expected_call(exercise, case, raised)
    if error["type"] == "NameError":
        names = _parameters(exercise)
        return f"The arguments of `{exercise.name}` are {listed(names)}." if names else ""
    return ""


def _expected_call(exercise: Exercise, case: Case, raised: str) -> str:
    """Describe the check's call to the attempt, for an attempt that does not accept the arguments."""
    if isinstance(exercise.reference, type) and "__init__" in raised:
        arguments = [f"{name}=…" for name in case.arguments]
        return f"The check calls `{exercise.name}({', '.join(arguments)})`, so your parameters need these names."
    names = _parameters(exercise)
    called = "forward" if isinstance(exercise.reference, type) else exercise.name
    return f"The check calls `{called}` with the arguments {listed(names)}." if names else ""


def _parameters(exercise: Exercise) -> list[str]:
    reference = exercise.reference
    function = getattr(reference, "forward", reference) if isinstance(reference, type) else reference
    return [name for name in inspect.signature(function).parameters if name != "self"]
