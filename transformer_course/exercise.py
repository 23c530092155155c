"""The parts of an exercise: a reference, cases that tell right from wrong, and the mistakes that people make."""

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
"""Memory for an answer that must need little, on top of what Python, torch and the arguments take."""


class Mistake:
    """A wrong version of an exercise that people really write.

    Args:
        name: Its name, in snake case.
        variants: The ways of making it: variants of the answer in steps, or, where it is another idea altogether, whole
            answers as a learner would write them. An attempt that behaves as one of them on every case made this
            mistake.
        message: What it does and where to look, told where it is the only mistake; never the answer. ``{summary}`` in
            it stands for the clause of ``summary``.
        hints: Hints, each telling a little more. Of a mistake that has a variant, what is missing to three comes from
            the step that its first variant does otherwise: what to look at, what should come of it, its code.
        summary: A clause in the second person about the changed step alone ("you take the softmax over the queries"),
            true whatever else is wrong: shown if there are two mistakes. Every mistake that has a variant needs one.

    Raises:
        TypeError: A way is no answer, but a list of them, say.
        ValueError: A mistake that has a variant, or says what it does, has no such clause.
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
            raise TypeError(f"each way of {name} is an argument of its own, a variant or a whole answer: not {strange}")
        self.name, self.variants, self.summary = name, variants, summary
        self.message = _sentence(message, summary)
        if not summary and self.step_variants:
            raise ValueError(f"{name} can meet another mistake, so it needs `summary`")
        if not summary and "{summary}" in message:
            raise ValueError(f"{name} says what it does, so it needs `summary`")
        self._hints = tuple(hints)

    @cached_property
    def hints(self) -> Sequence[str]:
        """Hints, each telling a little more."""
        return (
            (*self._hints, *_composed(self.step_variants[0])[len(self._hints) :]) if self.step_variants else self._hints
        )

    def with_variants(self, *variants: Variant | Callable[..., Any]) -> "Mistake":
        """Return the same mistake, made in these ways."""
        return Mistake(self.name, *variants, message=self.message, hints=self._hints, summary=self.summary)

    @property
    def step_variants(self) -> Sequence[Variant]:
        """The ways that are told in steps, and so can meet another mistake."""
        return [variant for variant in self.variants if isinstance(variant, Variant)]

    @property
    def attempts(self) -> Sequence[Callable[..., Any]]:
        """All ways as functions or classes that can be checked."""
        return [variant.attempt if isinstance(variant, Variant) else variant for variant in self.variants]


@dataclass(frozen=True)
class Wording:
    """A teacher's own words for a generated mistake.

    Args:
        message: The message where it is the only mistake; never the answer. ``{summary}`` in it stands for the summary;
            without a message, the summary is the sentence.
        summary: A clause in the second person about the changed step alone ("you take the softmax over the queries"),
            true whatever else is wrong: for an attempt that makes two mistakes. Without one, it is composed from the
            words of the step.
        hints: Hints, each telling more. The missing ones of three are composed from the step, as for ``Mistake``.

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
    """Return a message with ``{summary}`` replaced by the summary; the summary as a sentence if the
    message is empty.
    """
    text = (message or f"{summary}.").replace("{summary}", summary)
    return capitalized(text) if not message or message.startswith("{summary}") else text


def capitalized(clause: str) -> str:
    """Return a clause as a sentence begins; a symbol such as p_j stays as it is."""
    first = re.match(r"[a-z]+(?=[ ,’'-])", clause)
    return clause[:1].upper() + clause[1:] if first and (len(first[0]) > 1 or first[0] == "a") else clause


def _composed(variant: Variant) -> tuple[str, ...]:
    """Return three hints on the first step or argument that a way does otherwise."""
    steps = variant.of
    name = next((name for name in [*steps.steps, *steps.arguments.parameters] if name in variant.changes), steps.last)
    first = f"Look at the code that computes {steps.noun(name)}. What goes in, and what comes out?"
    return (first, *steps.ladder(name))


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or module for the learner to write.

    Args:
        reference: A right answer in at most about 15 plain lines: the model library's own, where that is so plain. It
            carries the exercise's name, its dimension names in its annotations, and is what ``solution`` shows.
        cases: Function from a seed to the cases, small to large; the last is large enough to be timed.
        mistakes: The mistakes that are recognized.
        hints: The hints, each telling more, for an attempt that makes none of these mistakes.
        points: Number of points when graded.
        verified: What a pass has shown. What comes next stands in the lesson.
        steps: The answer in steps; None where it cannot be told so.
        messages: A teacher's own words for a generated mistake, a message or a ``Wording``, by its name, such as
            ``keepdim_total``, or by name and code where not all generated mistakes of a name are meant; all others are
            reported in the words of the steps.
        stretch: Whether it goes beyond the core of its lesson.
        distributions: The arguments whose rows add up to 1. As they cannot move freely, their gradients are compared
            up to a number that is the same along a row: dividing by the sum once more changes nothing else.
        may_cut_gradients: Whether an answer in plain Python passes, with a remark, though no gradient at all passes
            through it.
        in_little_memory: Function from a seed to a case on which an answer that is graded must get by with
            ``LITTLE_MEMORY_MB``; None where memory does not matter.
        normalize: Function from an output and its case to the form in which outputs are compared, where several are
            right. It meets every kind of plain data, and must return what it does not understand.
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
        """The name that the learner's function or class must have."""
        return self.reference.__name__

    @property
    def solution(self) -> str:
        """The source of the reference; of the model library's, what a learner is asked for."""
        return _source(self.reference)


@cache  # to find and to read it takes as long as to judge a right answer to the exercise
def _source(reference: Callable[..., Any]) -> str:
    source = textwrap.dedent(inspect.getsource(reference))
    return _without_contract(source) if reference.__module__.startswith("transformer_lab.") else source


def _without_contract(source: str) -> str:
    """Return a function or class with one line of each docstring, and without the checks of its arguments.

    What remains runs in any lesson: it calls none of the library's checks.
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
