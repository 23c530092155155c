"""The parts of an exercise: a reference, cases that separate right from wrong answers, and known mistakes."""

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

LITTLE_MEMORY_MB = 32
"""Memory limit of a case that tests memory use, in addition to what Python, torch and the arguments take."""


class Mistake:
    """A wrong version of an exercise that learners really write.

    Args:
        name: Its name, in snake case.
        variants: Variants of the answer in steps, or, if the idea is a different one altogether, whole answers as a
            learner would write them. An attempt that behaves like one of them in every case makes this mistake.
        message: What it does and where to look, shown if it is the only mistake; never the answer. ``{summary}`` in it
            stands for the clause of ``summary``.
        hints: Hints, each more specific than the one before. If there are fewer than three and the mistake has a
            variant, the missing ones are generated from the step that its first variant changes: what to look at, what
            the step should return, and its code.
        summary: A clause in the second person about the changed step alone ("you take the softmax over the queries"),
            true whatever else is wrong. It is shown if there are two mistakes. Every mistake that has a variant needs
            one.

    Raises:
        TypeError: A variant is not an answer but, for example, a list of answers.
        ValueError: ``summary`` is empty although the mistake has a variant or ``message`` refers to it.
    """

    def __init__(
        self,
        name: str,
        *variants: Variant | Callable[..., Any],
        message: str = "",
        hints: Sequence[str] = (),
        summary: str = "",
    ) -> None:
        if strange := [variant for variant in variants if not isinstance(variant, Variant) and not callable(variant)]:
            raise TypeError(
                f"pass each variant of {name} as a separate argument, either a variant or a whole answer; got {strange}"
            )
        self.name, self.variants, self.summary = name, variants, summary
        self.message = _sentence(message, summary)
        if not summary and self.step_variants:
            raise ValueError(f"{name} can occur together with another mistake, so it needs `summary`")
        if not summary and "{summary}" in message:
            raise ValueError(f"the message of {name} refers to `summary`, which is empty")
        self._hints = tuple(hints)

    @cached_property
    def hints(self) -> Sequence[str]:
        """Hints, each more specific than the one before."""
        return (
            (*self._hints, *_composed(self.step_variants[0])[len(self._hints) :]) if self.step_variants else self._hints
        )

    def with_variants(self, *variants: Variant | Callable[..., Any]) -> "Mistake":
        """Return the same mistake with these variants."""
        return Mistake(self.name, *variants, message=self.message, hints=self._hints, summary=self.summary)

    @property
    def step_variants(self) -> Sequence[Variant]:
        """The variants in steps, which can occur together with another mistake."""
        return [variant for variant in self.variants if isinstance(variant, Variant)]

    @property
    def attempts(self) -> Sequence[Callable[..., Any]]:
        """All variants as functions or classes that can be checked."""
        return [variant.attempt if isinstance(variant, Variant) else variant for variant in self.variants]


@dataclass(frozen=True)
class Wording:
    """A teacher's own words for a generated mistake.

    Args:
        message: The message if it is the only mistake; never the answer. ``{summary}`` in it stands for the summary;
            without a message, the summary is the sentence.
        summary: A clause in the second person about the changed step alone ("you take the softmax over the queries"),
            true whatever else is wrong: for an attempt with two mistakes. If empty, it is composed from the step's
            description.
        hints: Hints, each more specific than the one before. Missing ones are generated from the step, as for
            ``Mistake``.

    Raises:
        ValueError: There is neither a message nor a summary, or the message refers to a summary that is missing.
    """

    message: str = ""
    summary: str = ""
    hints: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not (self.message or self.summary):
            raise ValueError("a wording needs a message, a summary, or both")
        if "{summary}" in self.message and not self.summary:
            raise ValueError(f"the message {self.message!r} refers to a summary, but there is none")

    @property
    def sentence(self) -> str:
        """The message with the summary filled in."""
        return _sentence(self.message.strip(), self.summary)


def _sentence(message: str, summary: str) -> str:
    """Return a message with ``{summary}`` replaced by the summary, or the summary as a sentence if the message is
    empty.
    """
    text = (message or f"{summary}.").replace("{summary}", summary)
    return capitalized(text) if not message or message.startswith("{summary}") else text


def capitalized(clause: str) -> str:
    """Capitalize the first letter of a clause, unless it is part of a symbol such as p_j."""
    first = re.match(r"[a-z]+(?=[ ,’'-])", clause)
    return clause[:1].upper() + clause[1:] if first and (len(first[0]) > 1 or first[0] == "a") else clause


def _composed(variant: Variant) -> tuple[str, ...]:
    """Return three hints on the first step or argument that a variant changes."""
    steps = variant.of
    name = next((name for name in [*steps.steps, *steps.arguments.parameters] if name in variant.changes), steps.last)
    first = f"Look at the code that computes {steps.noun(name)}. What goes in, and what comes out?"
    return (first, *steps.ladder(name))


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or module for the learner to write.

    Args:
        reference: A right answer in at most about 15 plain lines: the model library's function if it is that short. It
            has the exercise's name and, in its annotations, the names of its dimensions. ``solution`` shows it.
        cases: Function from a seed to the cases, from small to large; the last is large enough to be timed.
        mistakes: The mistakes that are recognized.
        hints: Hints for an attempt that makes none of these mistakes, each more specific than the one before.
        points: Number of points when graded.
        verified: What a pass has verified. The lesson describes what comes next.
        steps: The answer in steps; None if it cannot be written that way.
        messages: A teacher's explanations of generated mistakes, each a message or a ``Wording``. The key is the
            mistake's name, such as ``keepdim_total``, or its name and code if the explanation fits only some mistakes
            of that name. All others are described in the words of the steps.
        stretch: Whether the exercise goes beyond the core of its lesson.
        distributions: The arguments whose rows sum to 1. Their gradients are compared up to a constant per row, because
            dividing by the row sum again changes nothing else.
        may_cut_gradients: Whether an answer in plain Python, which has no gradient, passes with a remark.
        in_little_memory: Function from a seed to a case that a submission must solve within ``LITTLE_MEMORY_MB``; None
            if memory does not matter.
        normalize: Function from an output and its case to the form in which outputs are compared, if several outputs
            are right. It is called with every kind of plain data, and must return unchanged what it cannot interpret.
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
    in_little_memory: Callable[[int], Case] | None = None
    normalize: Callable[[Any, Case], Any] = lambda output, case: output

    @property
    def name(self) -> str:
        """The required name of the learner's function or class."""
        return self.reference.__name__

    @property
    def solution(self) -> str:
        """The source of the reference; if that is the model library's, without checks and with one-line docstrings."""
        return _source(self.reference)


@cache  # finding and reading the source takes as long as judging a right answer
def _source(reference: Callable[..., Any]) -> str:
    source = textwrap.dedent(inspect.getsource(reference))
    return _without_contract(source) if reference.__module__.startswith("transformer_lab.") else source


def _without_contract(source: str) -> str:
    """Return a function or class with only the first line of each docstring, and without the checks of its arguments.

    The result runs in any lesson, because it calls none of the library's checks.
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
