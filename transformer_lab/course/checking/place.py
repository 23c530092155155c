"""Where an answer goes wrong, if nothing can be named: the expression which, replaced by a right value, mends it.

Right answers differ in the steps that they take, so a step that is nowhere to be found is no evidence. A substitution
is: the learner's own code runs once more, with one expression replaced by the right value of a step. If the answer then
comes right, in all small cases, that expression is where it went wrong. ``_Search`` says which of several is told.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.checking.behaviour import Behaviour, in_isolation
from transformer_lab.course.checking.facts import fact
from transformer_lab.course.checking.tolerance import distance
from transformer_lab.course.running.isolation import restored_globals
from transformer_lab.course.running.observe import copy_inputs, load_module
from transformer_lab.course.running.plain_data import same, to_plain_data
from transformer_lab.course.running.time_limit import TookTooLong, time_limit
from transformer_lab.course.running.trace import CannotTrace, Expression, Trace, Traced, Turns
from transformer_lab.course.steps import InSteps, needs

MAX_RUNS = 400
"""So many times the learner's code is run at most."""
MAX_SECONDS = 0.5
"""Seconds of computing after which the search ends: a check should answer while the learner still looks at the code."""
MAX_INPUT_NUMBERS = 300
"""Cases with more numbers are too large to be run so often."""


@dataclass(frozen=True)
class Place:
    """Where an answer goes wrong.

    Args:
        expression: The expression.
        step: The step whose right value mends it, or an argument.
        noun: That value, in words.
        fact: How the expression's value differs from it, in words; "" where nothing helpful can be said.
        proven: Whether the answer comes right with that value in this place alone.
        is_answer: Whether that value is the answer itself.
        right_before: The last expression before it that is as it should be, and what it is.
        is_misplaced: Whether it is a name that stands where something else belongs.
        hints: A ladder of hints about this place.
    """

    expression: Expression
    step: str
    noun: str
    fact: str
    proven: bool
    is_answer: bool = False
    right_before: tuple[Expression, str] | None = None
    is_misplaced: bool = False
    hints: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The place in words, with the line."""
        told = []
        if self.right_before:
            before, noun = self.right_before
            told.append(f"As it should be: line {before.line}, `{_one_line(before.text)}`: {noun}.")
        text = _one_line(self.expression.text)
        fact = f": {self.fact}" if self.fact else ""
        if self.is_misplaced:
            told.append(f"Not yet: line {self.expression.line}, where `{text}` stands in place of *{self.noun}*.")
        else:
            verb = "should be" if self.proven else "is not"
            told.append(f"Not yet: line {self.expression.line}, `{text}` {verb} *{self.noun}*{fact}.")
        if not self.proven:
            told.append("Something after it is not right either.")
        elif not self.is_answer:
            told.append("With that, what follows gives the right answer.")
        return f"{' '.join(told)}\n{self._marked_line}"

    @property
    def _marked_line(self) -> str:
        """The line, with the expression underlined: code in a panel, and in a terminal."""
        line, (begin, end) = self.expression.source_line, self.expression.columns
        indent = len(line) - len(line.lstrip())
        number = f"line {self.expression.line}:  "
        under = " " * (len(number) + begin - indent) + "^" * max(1, min(end, len(line)) - begin)
        return f"    {number}{line.lstrip()}\n    {under}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def locate(known: Behaviour, attempt: Any) -> Place | None:
    """Return where an attempt that is wrong goes wrong; None where that cannot be proven.

    Args:
        known: What is right.
        attempt: The learner's function or class; it is run, and must be allowed to.
    """
    if known.exercise.steps is None:
        return None
    try:
        traced = Traced(attempt)
    except CannotTrace:
        return None
    try:
        with restored_globals(), in_isolation(), time_limit(10 * MAX_SECONDS):  # of the clock, on a busy machine
            search = _Search(known, known.exercise.steps, traced)
            return search.place() if search.failing else None
    except TookTooLong:
        return None


@dataclass
class _Case:
    """A small case: the right values of all steps on it, and what the learner's code showed."""

    index: int
    right: Mapping[str, Any]
    trace: Trace


@dataclass
class _Search:
    """The search for a place in one attempt."""

    known: Behaviour
    steps: InSteps
    traced: Traced
    cases: list[_Case] = field(default_factory=list)
    failing: list[_Case] = field(default_factory=list)
    runs: int = 0

    def __post_init__(self) -> None:
        self.deadline = time.process_time() + MAX_SECONDS
        for index, case in enumerate(self.known.cases):
            if case.kind == "sampler" or _count(case.inputs) > MAX_INPUT_NUMBERS:
                continue
            one = _Case(index, self._right_values(index), self._run(index, {}))
            self.cases.append(one)
            if not self._is_mended(one, one.trace):
                self.failing.append(one)

    def place(self) -> Place | None:
        """Return the first place."""
        given: dict[int, str] = {}
        first: tuple[Expression, str] | None = None
        for _ in range(3):  # more than three mistakes are not taken apart
            found = self._mending(given)
            early = self._earlier(given, found)
            if early is None and found is None:
                return self._told(*first, proven=False) if first else None
            if early is None:
                assert found is not None
                if first is None and found[1] == self.steps.last and not self._is_reached():
                    return None  # that the answer should be the answer helps nobody
                return self._told(*(first or found), proven=first is None)
            first = first or early
            given[early[0].number] = early[1]
        return self._told(*first, proven=False) if first else None

    def _mending(self, given: Mapping[int, str]) -> tuple[Expression, str] | None:
        """Return the earliest step whose value mends everything, and the expression where it does.

        A later step may happen to do in many places, so the earliest step is taken. Of its expressions the last is
        taken that is more than a name, for what is normalised later on may be anything before; and then the largest
        around it where the same step does.
        """
        shown = self.failing[0]
        for step in shown.right:
            mending = [
                self.traced.expressions[number]
                for number in self._order(shown.trace)
                if number not in given
                and not self._holds_a_given(number, given)
                and self._may_stand(shown, number, step)
                and self._mends({**given, number: step})
                and not self._is_idle(number, step, given)
            ]
            if mending:
                last = ([one for one in mending if not one.is_name] or mending)[-1]
                expression = next(one for one in mending if self._give_the_same(one, last))
                for larger in expression.inside:
                    if larger not in given and self._mends({**given, larger: step}):
                        expression = self.traced.expressions[larger]
                return expression, step
        return None

    def _give_the_same(self, one: Expression, other: Expression) -> bool:
        """Return whether two expressions gave the same, as a call and what its function returns."""
        events = self.failing[0].trace.events
        mine, others = ([event.value for event in events if event.number == each.number] for each in (one, other))
        return one is other or (not one.is_name and bool(mine) and same(mine, others))

    def _is_idle(self, number: int, step: str, given: Mapping[int, str]) -> bool:
        """Return whether other numbers in the same place would do as well, so that it proves nothing."""
        shown = self.failing[0]
        put = self._put({**given, number: step}, shown)
        if not isinstance(put[number], int | float):
            return False
        put[number] = 3 * put[number] + 1
        return self._is_mended(shown, self._run(shown.index, put))

    def _is_reached(self) -> bool:
        """Return whether all that the last step needs is right where its expression is reached."""
        shown = self.failing[0]
        now = self._recognised(shown, shown.trace)
        return all(
            need in now
            for need in needs(self.steps.steps[self.steps.last])
            if need in self.steps.steps and isinstance(shown.right[need], Tensor)
        )

    def _earlier(self, given: Mapping[int, str], found: tuple[Expression, str] | None) -> tuple[Expression, str] | None:
        """Return an expression that goes wrong before the one that was found.

        That is one where the right value of a step brings later steps right that nothing is now.
        """
        shown = self.failing[0]
        now = self._recognised(shown, self._run(shown.index, self._put(given, shown)) if given else shown.trace)
        names = list(self.steps.steps)
        end = names.index(found[1]) if found and found[1] in names else len(names) - 1
        for step in names[:end]:
            needed = [need for need in needs(self.steps.steps[step]) if need in self.steps.steps]
            needed = [need for need in needed if isinstance(shown.right[need], Tensor)]
            if step in now or not isinstance(shown.right[step], Tensor) or not now.issuperset(needed):
                continue
            best: tuple[int, int] | None = None
            for number in self._order(shown.trace):
                if number in given or self.traced.expressions[number].is_name:
                    continue
                events = [event.value for event in shown.trace.events if event.number == number]
                if not self._may_stand(shown, number, step) or not _has_the_shape(events, shown.right[step]):
                    continue  # what has another shape may be meant for something else
                if found and number == found[0].number:
                    break
                trace = self._run(shown.index, self._put({**given, number: step}, shown))
                gained = len(self._recognised(shown, trace) - now - {step})
                if gained and (best is None or gained > best[0]):
                    best = (gained, number)
            if best is not None:
                return self.traced.expressions[best[1]], step
        return None

    def _told(self, expression: Expression, step: str, *, proven: bool) -> Place:
        shown = self.failing[0]
        events = [event.value for event in shown.trace.events if event.number == expression.number]
        noun = self.steps.noun(step)
        misplaced = expression.is_name and any(_is_as_it_is(events, right) for right in shown.right.values())
        difference = "" if misplaced or len(events) != 1 else fact(events[0], to_plain_data(shown.right[step]))
        if not events and shown.trace.error:
            difference = f"it crashes ({shown.trace.error[0]})"
        is_answer, before = step == self.steps.last, self._right_before(expression)
        hints = _hints(self.steps, expression, step)
        return Place(expression, step, noun, difference, proven, is_answer, before, misplaced, hints)

    def _right_before(self, place: Expression) -> tuple[Expression, str] | None:
        """Return the last expression before a place that is a step in every small case."""
        order = self._order(self.failing[0].trace)
        until = order.index(place.number) if place.number in order else len(order)
        for number in reversed(order[:until]):
            expression = self.traced.expressions[number]
            if expression.is_name or len(expression.text) < 3:
                continue
            shared = [name for name in self.steps.steps if all(self._is_step(one, number, name) for one in self.cases)]
            if shared and shared[0] != self.steps.last:
                return expression, self.steps.noun(shared[0])
        return None

    def _is_step(self, one: _Case, number: int, step: str) -> bool:
        return _is([event.value for event in one.trace.events if event.number == number], one.right[step])

    def _may_stand(self, one: _Case, number: int, step: str) -> bool:
        """Return whether the value of a step may belong where an expression stands: not where that is right already."""
        expression, right = self.traced.expressions[number], one.right[step]
        if not isinstance(right, Tensor) and type(right) not in (int, float):
            return False
        events = [event.value for event in one.trace.events if event.number == number]
        if not events:
            return number == one.trace.crashed_in or one.trace.crashed_in in self._parts(number)
        if len(events) > 1 and not (isinstance(right, Tensor) and any(True for _ in _forms(events, right))):
            return False  # what comes of all rounds cannot come of each
        if type(events[0]) is bool:
            return False  # a condition: anything that is not 0 would turn it
        if isinstance(right, Tensor) != isinstance(events[0], Tensor) and not isinstance(right, int | float):
            return False
        if isinstance(right, int | float) and not _is_number(events[0]):
            return False
        if _is_as_it_is(events, right):
            return False
        if any(_is_as_it_is(events, other) for other in one.right.values()):
            return expression.is_name and step != self.steps.last  # a right value is not blamed, a misplaced name is
        return True

    def _parts(self, number: int) -> set[int]:
        return {expression.number for expression in self.traced.expressions if number in expression.inside}

    def _holds_a_given(self, number: int, given: Mapping[int, str]) -> bool:
        return any(number in self.traced.expressions[one].inside for one in given)

    def _order(self, trace: Trace) -> list[int]:
        """List the expressions in the order in which they were first evaluated; at the end, the one that crashed."""
        order = list(dict.fromkeys(event.number for event in trace.events))
        if trace.crashed_in is not None and trace.crashed_in not in order:
            order += [trace.crashed_in, *self.traced.expressions[trace.crashed_in].inside]
        return order

    def _mends(self, given: Mapping[int, str]) -> bool:
        for one in [*self.failing, *(one for one in self.cases if one not in self.failing)]:
            if not self._is_mended(one, self._run(one.index, self._put(given, one))):
                return False
        return True

    def _put(self, given: Mapping[int, str], one: _Case) -> dict[int, Any]:
        """Return the right values in the form in which the learner's code has them."""
        return {
            number: _in_form([e.value for e in one.trace.events if e.number == number], one.right[step])
            for number, step in given.items()
        }

    def _is_mended(self, one: _Case, trace: Trace) -> bool:
        if trace.error is not None:
            return False
        case = self.known.cases[one.index]
        output = self.known.exercise.normalise(trace.output, case)
        return distance(output, self.known.expected[one.index].get("output")) <= 1

    def _recognised(self, one: _Case, trace: Trace) -> set[str]:
        events: dict[int, list[Any]] = {}
        for event in trace.events:
            events.setdefault(event.number, []).append(event.value)
        return {
            name
            for name in self.steps.steps
            if isinstance(one.right[name], Tensor) and any(_is(values, one.right[name]) for values in events.values())
        }

    def _run(self, index: int, put: Mapping[int, Any]) -> Trace:
        self.runs += 1
        if self.runs > MAX_RUNS or time.process_time() > self.deadline:
            return Trace(error=("TookTooLong", ""))
        return self.traced.run(self.known.cases[index], put)

    def _right_values(self, index: int) -> dict[str, Any]:
        case = self.known.cases[index]
        inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
        module = [load_module(self.known.exercise.reference, case)] if self.steps.is_module else []
        values = self.steps.values(self.steps.arguments.bind(*module, *inputs.values(), **keywords))
        values.pop("self", None)
        return {name: _detached(value) for name, value in values.items()}


def _hints(steps: InSteps, place: Expression, step: str) -> tuple[str, ...]:
    """Return a ladder for a place: which step it is, what the step is for, its formula, and its code."""
    where = f"line {place.line}, `{_one_line(place.text)}`"
    if step not in steps.steps:
        return (f"Look at {where}. Which argument belongs there?", f"`{step}` belongs there, as it came in.")
    code = "\n".join(f"    {line}" for line in steps.code(step).splitlines())
    return (
        f"Look at {where}. Which step of the answer is taken there?",
        f"The step: {steps.describe(step)}.",
        f"What should come out is {steps.formula(step)}.",
        f"The step alone, as a function:\n{code}",
    )


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _count(inputs: Mapping[str, Any]) -> int:
    return sum(value.numel() for value in inputs.values() if isinstance(value, Tensor))


def _has_the_shape(events: Sequence[Any], right: Any) -> bool:
    return len(events) == 1 and isinstance(events[0], Tensor) and events[0].shape == getattr(right, "shape", None)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) or (isinstance(value, Tensor) and not value.dim())


def _is(values: Sequence[Any], right: Any) -> bool:
    """Return whether what an expression gave, at all its turns, is a right value in some form."""
    if not values or not isinstance(right, Tensor) or right.numel() < 2:
        return False
    return any(
        len(form) == len(values) and all(_equal(value, part) for value, part in zip(values, form, strict=True))
        for form in _forms(values, right)
    )


def _is_as_it_is(values: Sequence[Any], right: Any) -> bool:
    """Return whether what an expression gave, once, is a right value in just this form."""
    return len(values) == 1 and isinstance(right, Tensor) and _equal(values[0], right)


def _equal(value: Any, right: Tensor) -> bool:
    if not isinstance(value, Tensor) or value.shape != right.shape:
        return False
    if value.is_floating_point() and right.is_floating_point():
        # −1e9 does for −∞ where something else can be seen
        value, right = (t.double().masked_fill(t <= -1e8, -torch.inf) for t in (value, right))
        return distance(value, right) <= 1
    return bool(torch.equal(value.double(), right.double()))


def _forms(values: Sequence[Any], right: Tensor) -> Iterator[list[Tensor]]:
    """Iterate over the forms of a right value that fit the shapes of what an expression gave, turn by turn."""
    first = values[0]
    if not isinstance(first, Tensor):
        return
    if len(values) == 1:
        if first.shape == right.shape:
            yield [right]
            return
        if right.dim() == 4 and first.shape == right.transpose(1, 2).shape:
            yield [right.transpose(1, 2)]
        if right.dim() >= 2 and first.shape == right.mT.shape:
            yield [right.mT]
        elif first.numel() == right.numel():
            yield [right.reshape(first.shape)]
        return
    for axis, length in enumerate(right.shape):
        if length == len(values) and right.select(axis, 0).shape == first.shape:
            yield list(right.unbind(axis))
        elif length == len(values) and right.narrow(axis, 0, 1).shape == first.shape:
            yield list(torch.split(right, 1, axis))


def _in_form(values: Sequence[Any], right: Any) -> Any:
    """Return a right value in the form that fits best, or as it is."""
    if not isinstance(right, Tensor):
        return right
    form = next(_forms(values, right), None) if values else None
    if form is None or _is(values, right):  # it is there, in a form that does not fit
        return right
    return form[0] if len(form) == 1 else Turns(form)
