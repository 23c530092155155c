"""Sentences and hints about the expression at fault."""

import re

from transformer_course.checking.message_panel import code_block
from transformer_course.generated_mistakes.step_words import StepWords
from transformer_course.running.instrumentation import Expression
from transformer_course.steps import InSteps

DISCARDED_RESULT_HINTS = (
    "After this line, does the name refer to the old tensor or to the new tensor?",
    "Methods of tensors return a new tensor. Only those whose names end in `_` change the tensor itself.",
    "Assign the result: `x = x.method(…)`.",
)
YOURS = {
    r"^it is": "yours is", r"^its shape is": "your shape is",
    r"^it contains": "your result contains", r"^its numbers are": "your numbers are",
    r"^one of its rows sums": "one of your rows sums", r"; its columns sum": "; your columns sum",
    r"^(at \[.*?\]) it is": r"\1 you get",
}  # fmt: skip
"""Patterns in the description of a difference, each with its replacement when addressing the learner."""
REST_IS_RIGHT = "Fix that, and your output is right."


def describe_fault(
    expression: Expression,
    noun: str,
    difference: str,
    *,
    is_misplaced: bool,
    is_proven: bool,
    is_supposed: bool,
    is_certain: bool,
    is_wrong_after: bool,
    is_piece: bool,
    is_all: bool,
    before: tuple[Expression, str] | None,
) -> str:
    """Describe a fault: the correct value of the expression, the difference, and the correct steps before the fault.

    Args:
        expression: The expression.
        noun: A noun for the correct value of the expression.
        difference: A clause about the difference between the expression's value and the correct value, or "".
        is_misplaced: Whether the expression is a name used where another value should be.
        is_proven: Whether replacing this expression alone repairs the output.
        is_supposed: Whether the output stays wrong even with further replacements. The code may then use a different
            approach, in which the expression has a different purpose.
        is_certain: Whether the values that the expression uses are correct.
        is_wrong_after: Whether the output is known to stay wrong if only this expression is replaced.
        is_piece: Whether the expression computes its value slice by slice.
        is_all: Whether the replacement repairs all cases and the expression is not the answer itself.
        before: The last correct expression before it, with the noun for its value.
    """
    if is_misplaced:
        report = [f"Line {expression.line}: you use `{_one_line(expression.text)}` instead of {noun}."]
    else:
        what = f"the part of {noun} for that iteration" if is_piece else noun
        if is_supposed:
            report = [f"Line {expression.line}: if the underlined part is meant to be {what}, it is wrong."]
        elif is_proven and not is_piece:
            report, difference = [_should_be(expression, noun, difference)], ""
        else:
            verb = "should be" if is_proven else "is not"
            report = [f"{subject(expression)} {verb}{' in each iteration' * is_piece} {what}."]
    if difference:
        report.append(f"{difference[:1].upper()}{difference[1:]}.")
    if is_supposed:
        return " ".join(report)
    if not is_certain:
        report.append("The bug is in this expression or in a value that it uses.")
    if is_wrong_after:
        report.append("There is another bug after this line.")
    elif is_all:
        report.append(REST_IS_RIGHT)
    if before and not is_all:
        report.append(f"Line {before[0].line} is right: it computes {before[1]}.")
    return " ".join(report)


def unused_value(expression: Expression, noun: str, returned: str) -> str:
    """Describe a value that the code computes correctly but never uses."""
    return f"Line {expression.line}: you compute {noun}, but your output doesn't depend on it: you return {returned}."


def _should_be(expression: Expression, noun: str, difference: str) -> str:
    """Describe the value that the learner computes in an expression, and the value it should be."""
    is_value = expression.is_name or re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", expression.text) is not None
    use = "use" if is_value else "compute"
    line = f"Line {expression.line}:"
    crash = re.fullmatch(r"it crashes \((\w+)\)", difference)
    if crash and crash[1] == "UnboundLocalError" and expression.is_name:
        name = f"`{expression.text}`"
        if noun.startswith("`"):
            return f"{line} {name} has no value yet when this line runs. Use {noun} instead."
        return f"{line} {name} has no value here. It should be {noun}. In which cases does your code set {name}?"
    if crash:
        return f"{line} your code crashes here ({crash[1]}). You should {use} {noun} here."
    is_unchanged = noun.endswith(", unchanged")
    if not is_unchanged and (values := re.fullmatch(r"it is (.+) instead of (.+)", difference)):
        return f"{line} here you {use} {values[1]}, but {noun} should be {values[2]}."
    if not is_unchanged and (shapes := re.fullmatch(r"its shape is (\(.*\)) instead of (\(.*\))", difference)):
        return f"{line} here you {use} a value of shape {shapes[1]}, but {noun} should have the shape {shapes[2]}."
    for pattern, yours in YOURS.items():
        difference = re.sub(pattern, yours, difference)
    report = f"{line} here you should {use} {noun}."
    return f"{report} {difference[:1].upper()}{difference[1:]}." if difference else report


def step_hints(steps: InSteps, expression: Expression, step: str) -> tuple[str, ...]:
    """Return hints about a wrong step: its name, its purpose, its formula and its code."""
    line = quoted_line(expression)
    if step not in steps.steps:
        return (f"Look at your {line}. Which argument should it be?", f"Use `{step}` there, unchanged.")
    return (
        f"Look at your {line}. Which step of the answer should it compute?",
        f"Here, you should {StepWords(steps).imperative(step)}.",
        f"The result should be {steps.formula(step)}.",
        f"The step alone, as a function:\n{code_block(steps.code(step))}",
    )


def second_call_hints(expression: Expression) -> tuple[str, ...]:
    """Return hints about an expression whose value changes from call to call."""
    return (
        f"Look at your {quoted_line(expression)}. What does its value depend on, apart from the arguments?",
        "An answer that depends only on its arguments draws no random numbers, and reads nothing that an earlier call "
        "left behind: not in a global name, a default argument or `self`.",
    )


def dtype_hints(expression: Expression, dtype: str) -> tuple[str, ...]:
    """Return hints about an expression that introduces a wrong dtype."""
    return (
        f"Look at your {quoted_line(expression)}. What is the `.dtype` of its inputs, and of its result?",
        f"The dtype should be {dtype} throughout. A tensor created without `dtype=` gets its dtype from its contents, "
        "and methods such as `.double()`, `.half()` and `.int()` change it.",
    )


def subject(expression: Expression) -> str:
    """Return the subject of a sentence above a line in which the expression is underlined."""
    return f"Line {expression.line}: the underlined part"


def quoted_line(expression: Expression) -> str:
    """Return the line number and the code of an expression, on one line."""
    return f"line {expression.line}, `{_one_line(expression.text)}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())
