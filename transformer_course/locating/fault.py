"""A located fault: an expression in the attempt, an explanation of the error, and hints."""

from dataclasses import dataclass, replace

from transformer_course.checking.message_panel import code_block
from transformer_course.running.instrumentation import Expression

MAX_LINE_LENGTH = 80
"""Longer lines are shortened to this number of characters."""
MAX_LENGTH_BEFORE = 25
"""Number of characters that a shortened line keeps before the expression."""


@dataclass(frozen=True)
class Fault:
    """A fault in an attempt and the expression that causes it.

    Args:
        expression: The expression.
        problem: A description of the error in the expression.
        hints: Hints about the fault, each of which reveals a little more.
        step: The step or argument whose correct value repairs the output, or "" if the fault is not about a step.
        proven: Whether replacing this expression alone repairs the output.
        is_misplaced: Whether the expression is a name used where another value should be.
        is_certain: Whether the values that the expression uses are correct, so that no earlier line is at fault.
        kind: The kind of the edit that repairs the code, or "" if the fault was not found by an edit.
        is_crash: Whether the expression has no value because it crashes, which says little about what is wrong with it.
    """

    expression: Expression
    problem: str
    hints: tuple[str, ...] = ()
    step: str = ""
    proven: bool = True
    is_misplaced: bool = False
    is_certain: bool = False
    kind: str = ""
    is_crash: bool = False

    @property
    def message(self) -> str:
        """The problem, followed by the line with the expression."""
        return f"{self.problem}\n{marked_line(self.expression)}"


def marked_line(expression: Expression) -> str:
    """Format the line of an expression as a code block in which the expression is underlined.

    Long lines are shortened on both sides of the expression.
    """
    line, (begin, end) = expression.source_line, expression.columns
    first = len(line) - len(line.lstrip())
    before = f"line {expression.line}:  "
    if len(line) - first > MAX_LINE_LENGTH and begin - first > MAX_LENGTH_BEFORE:
        first = line.find(" ", begin - MAX_LENGTH_BEFORE - 1, begin) + 1 or begin - MAX_LENGTH_BEFORE
        before += "… "
    last = first + MAX_LINE_LENGTH
    displayed = f"{before}{line[first:last]}{' …' * (len(line) > last)}"
    under = " " * (len(before) + begin - first) + "^" * max(1, min(end, len(line), last) - begin)
    return code_block(f"{displayed}\n{under}")


def whole_line(expression: Expression) -> Expression:
    """Return the whole line of an expression as an expression, or the expression itself if the line is too long."""
    line = expression.source_line
    begin, end = len(line) - len(line.lstrip()), len(line.rstrip())
    return expression if end - begin > MAX_LINE_LENGTH else replace(expression, columns=(begin, end))


def joined(*parts: str) -> str:
    """Join the parts of a message that are not empty, each on its own line."""
    return "\n".join(part for part in parts if part)
