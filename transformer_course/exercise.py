"""The definition of an exercise: a reference, cases that separate right from wrong answers, and known mistakes."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from transformer_course.running.case import Case
from transformer_course.steps import InSteps, Variant

LOW_MEMORY_LIMIT_MB = 32
"""Memory limit for a case that tests memory use, not counting the memory for Python, torch and the arguments."""


class Mistake:
    """A mistake that learners make in an exercise.

    Args:
        name: The name of the mistake, in snake case.
        variants: Variants of the answer in steps or, if the mistake is a completely different approach, whole answers
            as a learner would write them. An attempt that behaves like one of the variants in every case makes this
            mistake.
        message: A description of the error and where to look for it, without revealing the answer. It is shown if this
            is the only mistake. ``{summary}`` is replaced by ``summary``.
        hints: Hints, each more specific than the previous one. If there are fewer than three hints and the mistake has
            a variant in steps, the missing hints are generated from the step that the first variant changes: what to
            look at, what the step should return, and the code of the step.
        summary: A clause in the second person about the changed step ("you take the softmax over the queries"), which
            must be true whatever else is wrong. It is shown if there are two mistakes, so every mistake with a variant
            in steps needs a summary.

    Raises:
        TypeError: A variant is not an answer but, for example, a list of answers.
        ValueError: ``summary`` is empty although the mistake has a variant in steps or ``message`` refers to it.
    """

    def __init__(
        self,
        name: str,
        *variants: Variant | Callable[..., Any],
        message: str = "",
        hints: Sequence[str] = (),
        summary: str = "",
    ) -> None:
        if invalid := [variant for variant in variants if not isinstance(variant, Variant) and not callable(variant)]:
            raise TypeError(
                f"pass each variant of {name} as a separate argument, either a variant or a whole answer; got {invalid}"
            )
        self.name, self.variants, self.summary = name, variants, summary
        self.message = _sentence(message, summary)
        if not summary and self.step_variants:
            raise ValueError(f"{name} must have a `summary`, because it can occur with another mistake")
        if not summary and "{summary}" in message:
            raise ValueError(f"the message of {name} refers to `summary`, which is empty")
        self._hints = tuple(hints)

    @cached_property
    def hints(self) -> Sequence[str]:
        """The hints, each more specific than the previous one."""
        if not self.step_variants:
            return self._hints
        generated = _generate_hints(self.step_variants[0])
        return (*self._hints, *generated[len(self._hints) :])

    def with_variants(self, *variants: Variant | Callable[..., Any]) -> "Mistake":
        """Return a copy of the mistake with different variants."""
        return Mistake(self.name, *variants, message=self.message, hints=self._hints, summary=self.summary)

    @property
    def step_variants(self) -> Sequence[Variant]:
        """The variants in steps, which can be combined with another mistake."""
        return [variant for variant in self.variants if isinstance(variant, Variant)]

    @property
    def attempts(self) -> Sequence[Callable[..., Any]]:
        """All variants as functions or classes that can be checked."""
        return [variant.attempt if isinstance(variant, Variant) else variant for variant in self.variants]


@dataclass(frozen=True)
class Wording:
    """A teacher's explanation of a generated mistake.

    Args:
        message: The message if this is the only mistake, without revealing the answer. ``{summary}`` is replaced by the
            summary. Without a message, the summary is shown as a sentence.
        summary: A clause in the second person about the changed step ("you take the softmax over the queries"), which
            must be true whatever else is wrong. It is shown if there are two mistakes. If it is empty, a summary is
            generated from the description of the step.
        hints: Hints, each more specific than the previous one. Missing hints are generated from the step, as for
            ``Mistake``.

    Raises:
        ValueError: There is neither a message nor a summary, or the message refers to a missing summary.
    """

    message: str = ""
    summary: str = ""
    hints: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not (self.message or self.summary):
            raise ValueError("a wording must have a message, a summary, or both")
        if "{summary}" in self.message and not self.summary:
            raise ValueError(f"the message {self.message!r} refers to a summary, so pass a summary")

    @property
    def sentence(self) -> str:
        """The message with the summary filled in."""
        return _sentence(self.message.strip(), self.summary)


def _sentence(message: str, summary: str) -> str:
    """Return a message with the summary filled in or, if the message is empty, the summary as a sentence."""
    text = (message or f"{summary}.").replace("{summary}", summary)
    return capitalized(text) if not message or message.startswith("{summary}") else text


def capitalized(clause: str) -> str:
    """Capitalize the first letter of a clause, unless it is part of a symbol such as p_j."""
    first = re.match(r"[a-z]+(?=[ ,’'-])", clause)
    return clause[:1].upper() + clause[1:] if first and (len(first[0]) > 1 or first[0] == "a") else clause


def _generate_hints(variant: Variant) -> tuple[str, ...]:
    """Return three hints about the first step or argument that a variant changes."""
    steps = variant.of
    name = next((name for name in [*steps.steps, *steps.arguments.parameters] if name in variant.changes), steps.last)
    first = f"Look at the code that computes {steps.noun(name)}. What goes in, and what comes out?"
    return (first, *steps.step_hints(name))


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or module for the learner to write.

    Args:
        reference: A right answer of at most about 15 plain lines, or a function of the model library if it is that
            short. The reference has the name of the exercise, and its annotations name the dimensions. ``solution``
            shows the reference.
        cases: Function that returns the cases for a random seed, from the smallest case to the largest. The last case
            is large enough for timing.
        mistakes: The mistakes that are recognized.
        hints: Hints for an attempt that makes no known mistake, each more specific than the previous one.
        points: Number of points in grading.
        verified: A description of the properties that a passed check has verified. The lesson explains the next step.
        steps: The answer in steps, or None if it cannot be written in steps.
        messages: A teacher's explanations of generated mistakes, each a message or a ``Wording``. The key is the name
            of the mistake, such as ``keepdim_total``, or its name and code if the explanation applies only to some
            mistakes with this name. Other generated mistakes are explained with the descriptions of the steps.
        stretch: Whether the exercise is optional and goes beyond the core of its lesson.
        distributions: The arguments whose rows sum to 1. Their gradients are compared up to a constant per row, because
            an answer may divide by the row sum again, which changes nothing else.
        may_cut_gradients: Whether an answer in plain Python, which has no gradient, passes with a remark.
        low_memory_case: Function that returns, for a random seed, a case that a submission must solve using at most
            ``LOW_MEMORY_LIMIT_MB`` of memory, or None if memory does not matter.
        normalize: Function that maps an output and its case to the form in which outputs are compared, if several
            outputs are right. It is called with plain data of any kind, and must return data that it cannot interpret
            unchanged.
    """

    reference: Callable[..., Any]
    cases: Callable[[int], Sequence[Case]]
    mistakes: Sequence[Mistake]
    hints: Sequence[str]
    points: int
    verified: str
    steps: InSteps | None = None
    messages: Mapping[str, str | Wording] = field(default_factory=dict)
    stretch: bool = False
    distributions: Sequence[str] = ()
    may_cut_gradients: bool = False
    low_memory_case: Callable[[int], Case] | None = None
    normalize: Callable[[Any, Case], Any] = lambda output, case: output

    @property
    def name(self) -> str:
        """The required name of the learner's function or class."""
        return self.reference.__name__

    @property
    def solution(self) -> str:
        """The source code of the reference, without the model library's argument checks and long docstrings."""
        return _source(self.reference)


@cache  # because reading the source takes as long as judging a right answer
def _source(reference: Callable[..., Any]) -> str:
    source = textwrap.dedent(inspect.getsource(reference))
    return _without_contract(source) if reference.__module__.startswith("transformer_lab.") else source


def _without_contract(source: str) -> str:
    """Return source code with only the first line of each docstring and without argument checks.

    The result runs in any lesson, because it does not call the library's checks.
    """
    lines: list[str | None] = list(source.splitlines(keepends=True))
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        for statement in filter(_checks_arguments, node.body):
            _blank(lines, statement)
        if docstring := ast.get_docstring(node):
            _blank(lines, node.body[0])
            lines[node.body[0].lineno - 1] = f'{" " * node.body[0].col_offset}"""{docstring.splitlines()[0]}"""\n'
    return "".join(line for line in lines if line is not None)


def _checks_arguments(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(ast.Name(name))):
            return name.lstrip("_").startswith("check")
        case ast.If(body=[ast.Raise()], orelse=[]):
            return True
    return False


def _blank(lines: list[str | None], statement: ast.stmt) -> None:
    lines[statement.lineno - 1 : statement.end_lineno] = [None] * ((statement.end_lineno or 0) - statement.lineno + 1)
