"""Where an answer goes wrong, if nothing can be named: the expression which, replaced by a right value, mends it.

Right answers differ in the steps that they take, so a step that is nowhere to be found is no evidence. A substitution
is: the learner's own code runs once more, with one expression replaced by the right value of a step. If the answer then
comes right, in all small cases, that expression is where it went wrong. ``_Search`` says which of several is told.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from transformer_course.checking.crash_help import RETURNS_TWO
from transformer_course.checking.expected_behavior import Behavior, in_isolation
from transformer_course.checking.explain import NOT_REPEATABLE, ON_LINE
from transformer_course.checking.general_mistakes import CHANGES_ARGUMENT, IN_PLACE_HINTS
from transformer_course.checking.message_panel import code_block
from transformer_course.checking.tolerance import distance
from transformer_course.checking.value_difference import describe_difference
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Mistake, capitalized
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.generated_mistakes.step_words import StepWords
from transformer_course.locating import side_effect_source
from transformer_course.locating.discarded_results import first_discarded
from transformer_course.locating.value_layouts import (
    fitting_layouts,
    has_the_shape,
    in_layout,
    is_number,
    is_right,
    is_right_as_it_is,
)
from transformer_course.running.case import Case
from transformer_course.running.isolation import restored_globals
from transformer_course.running.plain_data import same, to_plain_data
from transformer_course.running.record import copy_inputs, load_module
from transformer_course.running.time_limit import MAX_IDLE_S, TookTooLong, time_limit
from transformer_course.running.trace import MAX_RUNS, Expression, Trace, TracedAttempt, ValueSequence
from transformer_course.steps import InSteps, Variant, needs

SEARCH_TIME_LIMIT_S = 10.0
"""Seconds of computing after which the search is given up. What it finds must not depend on the machine, so
``MAX_RUNS`` ends it long before; only an answer that computes for very long reaches this limit."""
MAX_LINE_LENGTH = 80
"""Number of characters of a line that are shown."""
MAX_LENGTH_BEFORE = 25
"""Number of these that stand before the expression, where the line is longer."""
MAX_INPUT_NUMBERS = 300
"""Cases with more numbers are too large to be run so often."""


@dataclass(frozen=True)
class Place:
    """Where an answer goes wrong.

    Args:
        expression: The expression.
        problem: What is wrong with it.
        hints: Hints about this place, each telling more.
        step: The step whose right value mends it, or an argument; "" where no step is told.
        proven: Whether the answer comes right with that value in this place alone.
        is_misplaced: Whether it is a name that stands where something else belongs.
        is_certain: Whether besides all that it is made of is right, so that nothing before it is to blame.
    """

    expression: Expression
    problem: str
    hints: tuple[str, ...] = ()
    step: str = ""
    proven: bool = True
    is_misplaced: bool = False
    is_certain: bool = False

    @property
    def message(self) -> str:
        """The place in words, with the line."""
        return f"{self.problem}\n{_marked_line(self.expression)}"


def _marked_line(expression: Expression) -> str:
    """Return the line with the expression underlined: code in a panel, and in a terminal.

    Of a long line, what is far before the expression and far behind is left out.
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


def may_have_place(verdict: Verdict) -> bool:
    """Return whether a place can add to a verdict: to one on a whole attempt that is not right."""
    return verdict.status in ("wrong", "crashed", "mistake")


def with_place(
    verdict: Verdict,
    known: Behavior,
    traced: TracedAttempt,
    changed: Sequence[str] = (),
    note: str = "",
    clock: float = math.inf,
) -> Verdict:
    """Return a verdict with the place of what it is about, where that can be proven.

    It stays the same verdict: only what is said, and the hints, become more.

    Args:
        verdict: The verdict.
        known: What is right; the cases may be others than those that the verdict is about.
        traced: The attempt; it is run, and must be allowed to.
        changed: The arguments that a call changed.
        note: What to say between the place and the verdict.
        clock: Seconds of the clock after which the search ends, however little it has computed.
    """
    if not may_have_place(verdict):
        return verdict
    is_changed = CHANGES_ARGUMENT in verdict.mistakes
    named = known.named(verdict.mistakes, verdict.message)
    try:
        with restored_globals(), in_isolation(), time_limit(SEARCH_TIME_LIMIT_S, clock, MAX_IDLE_S):
            search = _Search(known, traced, is_random=NOT_REPEATABLE in verdict.message)
            if verdict.status == "mistake":
                return _with_line(verdict, search, named, changed if is_changed else ())
            is_explained = verdict.status == "crashed" and RETURNS_TWO in verdict.message
            place, met = None if is_explained else search.place(), search.shapes_that_met(verdict)
    except TookTooLong:
        return verdict
    said = verdict.message
    if place:  # the line of a crash is shown once
        said = said.replace(f"{ON_LINE.format(place.expression.line)}{place.expression.source_line.strip()}", "")
    report = [*([place.message, note] if place else []), said, met]
    return replace(
        verdict, message="\n".join(part for part in report if part), hints=place.hints if place else verdict.hints
    )


def _with_line(verdict: Verdict, search: "_Search", named: Sequence[Mistake], changed: Sequence[str]) -> Verdict:
    """Return a verdict that names mistakes with the line of the first, and of what changes an argument.

    Of several generated mistakes that behave the same, the one is named whose step is there, or which fits the code.
    """
    report, hints = verdict.message, verdict.hints
    if discarded := search.discarded():
        is_composed = len(named) == 1 and isinstance(named[0], GeneratedMistake) and not named[0].has_own_words
        report = discarded.message if is_composed else f"{discarded.message}\n{report}"
        return replace(verdict, message=report, hints=discarded.hints)
    order = sorted(named, key=lambda mistake: verdict.mistakes.index(mistake.name))
    found = search.place_of_mistake(*order) if order else None
    if len(order) == 1 and isinstance(mistake := order[0], GeneratedMistake):
        reading = mistake.reading(found[1], found[0].text) if found else mistake.reading(code=search.code)
        if reading is not mistake:
            report, hints, order = mistake.reworded(report, reading), tuple(reading.hints), [reading]
        if not found and not reading.fits(search.code):
            is_quoting = reading.edit.kind in QUOTING_KINDS
            place, numbers = search.place() if is_quoting else None, report.partition("\n")[2]
            if is_quoting and (place or numbers):
                report = "\n".join(part for part in (place.message if place else "", numbers) if part)
                return replace(verdict, message=report, hints=place.hints if place else hints)
            report = reading.in_effect(report)
    if found:
        report = _with_line_of(report, order[0], found[0])
    if place := search.place_of_change(changed):
        report += f"\n{place.message}"
        hints = hints if order else place.hints
    return replace(verdict, message=report, hints=hints)


def _with_line_of(report: str, mistake: Mistake, expression: Expression) -> str:
    """Return a report in which the line of a mistake is named in the sentence about it, and shown below."""
    said = next((one for one in (mistake.message, capitalized(mistake.summary)) if one and one in report), "")
    if not said:
        return f"{report}\n{_marked_line(expression)}"
    begin = report.index(said)
    end = report.find("\n", begin + len(said))
    end = len(report) if end < 0 else end
    is_about_you = said.startswith(("You ", "Your "))
    sentence = f"Line {expression.line}: y{said[1:]}" if is_about_you else said
    rest = report[begin + len(said) : end]
    return f"{report[:begin]}{sentence}{rest}\n{_marked_line(expression)}{report[end:]}"


def locate(known: Behavior, traced: TracedAttempt) -> Place | None:
    """Return where an attempt that is wrong goes wrong; None where that cannot be proven."""
    try:
        with restored_globals(), in_isolation(), time_limit(SEARCH_TIME_LIMIT_S, math.inf, MAX_IDLE_S):
            return _Search(known, traced).place()
    except TookTooLong:
        return None


def is_small(case: Case) -> bool:
    """Return whether a case is one on which a place is searched."""
    return case.kind != "sampler" and sum(map(_size, case.inputs.values())) <= MAX_INPUT_NUMBERS


def _size(value: Any) -> int:
    """Return the number of numbers in tensors and lists, and of characters in strings."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return len(value) if isinstance(value, str) else isinstance(value, int | float)


@dataclass
class _Case:
    """A small case: the right values of all steps on it, and what the learner's code showed."""

    index: int
    right: Mapping[str, Any]
    trace: Trace


@dataclass
class _Search:
    """The search for a place in one attempt."""

    known: Behavior
    traced: TracedAttempt
    is_random: bool = False
    """Whether it has been found to give different outputs, of which each small case may show nothing by chance."""
    cases: list[_Case] = field(default_factory=list)
    failing: list[_Case] = field(default_factory=list)
    runs: int = 0
    besides: Variant | None = None
    """A mistake that the attempt makes besides the one that is looked for: what mends the one shows this."""

    def __post_init__(self) -> None:
        for index, case in enumerate(self.known.cases):
            if not is_small(case):
                continue
            one = _Case(index, self._right_values(index), self._run(index, {}, is_watched=True))
            self.cases.append(one)
            if not self._is_mended(one, one.trace):
                self.failing.append(one)

    @property
    def steps(self) -> InSteps:
        """The answer in steps."""
        assert self.known.exercise.steps is not None
        return self.known.exercise.steps

    @property
    def code(self) -> str:
        """The lines of the learner's code that compute something."""
        return "\n".join(dict.fromkeys(expression.source_line for expression in self.traced.expressions))

    def place(self) -> Place | None:
        """Return the first place; none where a function is called that is not written yet, which is told already."""
        if self.failing and self.failing[0].trace.error == ("NotImplementedError", ""):
            return None
        if found := self._other_at_second_call() or self.discarded() or self._other_dtype():
            return found
        return self._of_steps() if self.failing and self.known.exercise.steps else None

    def discarded(self) -> Place | None:
        """Return the first expression whose result is thrown away."""
        found = first_discarded(self.traced.expressions, [one.trace for one in self.failing])
        return found and Place(found[0], found[1], HINTS_ON_DISCARDED)

    def place_of_change(self, changed: Sequence[str]) -> Place | None:
        """Return the first expression that writes into one of these arguments."""
        # a model's mode is not located: what switches it is often right, and what should set it back is missing
        names = {name.partition(".")[0] for name in changed if not name.endswith(".training")}
        for one in self.cases if names else ():
            if found := side_effect_source.first_write(self.traced.expressions, one.trace, names):
                expression, name = found
                problem = f"The argument `{name}` is changed here:"
                return Place(expression, problem, IN_PLACE_HINTS[1:])
        return None

    def place_of_mistake(self, mistake: Mistake, *others: Mistake) -> tuple[Expression, str] | None:
        """Return the expression that makes a mistake that has been recognized, and its step; None if that is not sure.

        It is where the right value of a step that the mistake changes mends all, made of what is right. If another
        mistake was recognized besides, what is left then shows that one alone.
        """
        if not self.failing or self.known.exercise.steps is None or len(others) > 1:
            return None
        changed = {step for variant in mistake.step_variants if variant.of is self.steps for step in variant.changes}
        if isinstance(mistake, GeneratedMistake):
            changed |= {reading.step for reading in mistake.edit.readings}
        for self.besides in others[0].step_variants if others else (None,):
            found = self._mending({}, changed)
            if found and self._is_certain(*found) and not self._may_be_a_loop(found[0]):
                return found if not _READS.fullmatch(found[0].text) else None
        return None

    def shapes_that_met(self, verdict: Verdict) -> str:
        """Return the shapes in the expression in which it crashed, as a sentence; "" if not with this very error."""
        crashed = next((one.trace for one in self.failing if one.trace.crashed_in is not None), None)
        if verdict.status != "crashed" or crashed is None or crashed.error is None:
            return ""
        is_this = ": ".join(crashed.error) in verdict.message
        return side_effect_source.shapes_in_crash(self.traced.expressions, crashed) if is_this else ""

    def _other_at_second_call(self) -> Place | None:
        """Return the first expression that gives something else when the attempt is called again."""
        for one in (self.failing if self.is_random else self.failing[:1]) or self.cases:
            if one.trace.error or self._is_at_its_end() or self.known.right_draws(one.index):
                continue
            self.runs += 2
            first, second = self.traced.run_twice(self.known.cases[one.index])
            if first.error or second.error or same(first.output, second.output, tolerance=1e-4):
                continue
            if found := side_effect_source.first_unrepeatable(self.traced.expressions, first, second):
                expression, values = found
                problem = f"{_underlined(expression)} is different when your code is called again{values}."
                if "dropout" in expression.text:
                    problem += " It drops numbers at random, in eval mode as well. This exercise uses no dropout."
                return Place(expression, problem, _hints_on_second_call(expression))
        return None

    def _other_dtype(self) -> Place | None:
        """Return the first expression in which the right numbers get the dtype that is not right."""
        if not self.failing:
            return None
        failing = self.failing[0]
        right = self.known.expected[failing.index].get("output")
        output = self._normalized(failing, failing.trace)
        if not side_effect_source.is_other_dtype(output, right):
            return None
        assert isinstance(output, Tensor) and isinstance(right, Tensor)
        made = side_effect_source.sources_of_dtype(self.traced.expressions, failing.trace, output.dtype)
        if not made or not self._mends_all(
            lambda one: side_effect_source.values_in_dtype(one.trace, made, right.dtype)
        ):
            return None
        first, *others = made
        now, should = (str(one.dtype).removeprefix("torch.") for one in (output, right))
        report = [f"{_underlined(first)} has dtype {now} instead of {should}."]
        if others:
            report.append(f"So does {_where(others[0])}.")
        elif self._mends_large(lambda one: side_effect_source.values_in_dtype(one.trace, made, right.dtype)):
            report.append(REST_IS_RIGHT)
        return Place(first, " ".join(report), _hints_on_dtype(first, should))

    def _of_steps(self) -> Place | None:
        """Return the first place that the right value of a step mends."""
        given: dict[int, str] = {}
        first: tuple[Expression, str] | None = None
        for _ in range(3):  # more than three mistakes are not taken apart
            found = self._mending(given)
            early = self._earlier(given, found)
            if early is None and found is None:
                return self._place_of(*first, proven=False, supposed=True) if first else None
            if early is None:
                assert found is not None
                return self._place_of(*(first or found), proven=first is None)
            first = first or early
            given[early[0].number] = early[1]
        return self._place_of(*first, proven=False, supposed=True) if first else None

    def _mending(self, given: Mapping[int, str], among: Collection[str] | None = None) -> tuple[Expression, str] | None:
        """Return the earliest step whose value mends everything, and the expression where it does.

        A later step may happen to do in many places, so the earliest step is taken. Of its expressions the last is
        taken that is more than a name, for what is normalized later on may be anything before; and then the largest
        around it where the same step does. Only ``among`` some steps is looked for where it is known which are wrong.
        """
        failing = self.failing[0]
        for step in failing.right:
            if among is not None and step not in among:
                continue
            mending = [
                self.traced.expressions[number]
                for number in self._order(failing.trace)
                if number not in given
                and not self._holds_a_given(number, given)
                and self._may_stand(failing, number, step)
                and self._mends({**given, number: step})
                and not self._is_idle(number, step, given)
            ]
            if mending:
                last = ([one for one in mending if not one.is_name] or mending)[-1]
                expression = next(one for one in mending if self._give_the_same(one, last))
                for larger in expression.inside:
                    is_other = self._is_condition(failing, larger) or larger in given
                    if not is_other and self._mends({**given, larger: step}):
                        expression = self.traced.expressions[larger]
                return expression, step
        return None

    def _give_the_same(self, one: Expression, other: Expression) -> bool:
        """Return whether two expressions gave the same, as a call and what its function returns."""
        mine, others = (self.failing[0].trace.values(each.number) for each in (one, other))
        return one is other or (not one.is_name and bool(mine) and same(mine, others))

    def _is_idle(self, number: int, step: str, given: Mapping[int, str]) -> bool:
        """Return whether other numbers in the same place would do as well, so that it proves nothing."""
        failing = self.failing[0]
        put = self._put({**given, number: step}, failing)
        if not isinstance(put[number], int | float):
            return self._decides_a_comparison(number, put, failing)
        put[number] = 3 * put[number] + 1
        return self._is_mended(failing, self._run(failing.index, put))

    def _decides_a_comparison(self, number: int, put: Mapping[int, Any], failing: _Case) -> bool:
        """Return whether what is put makes a comparison of numbers around it come out the same everywhere.

        Then it takes away what the comparison was for, such as a mask, and is no right value of anything.
        """
        around = [
            one for one in self.traced.expressions[number].inside if self.traced.expressions[one].kind == "Compare"
        ]
        if not around:
            return False
        trace = self._run(failing.index, put, is_watched=True)
        return any(_is_decided(trace.values(one)) and not _is_decided(failing.trace.values(one)) for one in around)

    def _is_the_answer(self, step: str) -> bool:
        right = self.failing[0].right
        return step == self.steps.last or distance(right[step], right[self.steps.last]) <= 1

    def _is_certain(self, place: Expression, step: str) -> bool:
        """Return whether it goes wrong in an expression, and not in something that it is made of."""
        if step not in self.steps.steps and place.text == step:
            return True  # an argument that was overwritten
        return self._is_made_of_right_values(place) and (not self._is_the_answer(step) or self._is_reached())

    def _may_be_a_loop(self, place: Expression) -> bool:
        """Return whether an expression may be in a loop that ends too early: then that is wrong, and not its line."""
        indents = [len(one.source_line) - len(one.source_line.lstrip()) for one in (place, *self.traced.expressions)]
        return indents[0] > min(indents) and all(len(one.trace.values(place.number)) < 2 for one in self.cases)

    def _is_reached(self) -> bool:
        """Return whether all that the answer is made of is right somewhere."""
        failing = self.failing[0]
        now = self._recognized(failing, failing.trace)
        needed = [need for need in needs(self.steps.steps[self.steps.last]) if need in self.steps.steps]
        return all(need in now for need in needed if isinstance(failing.right[need], Tensor))

    def _is_made_of_right_values(self, place: Expression) -> bool:
        """Return whether all names in an expression hold right values: of arguments, steps, or sizes."""
        names = [one for one in self.traced.expressions if one.is_name and (one is place or place.number in one.inside)]
        if place.kind == "AugAssign":
            return False  # what it changes is not watched before
        return all(
            any(is_right(values, right) or is_right_as_it_is(values, right) for right in one.right.values())
            or all(_is_known_number(value, one.right.values()) for value in values)
            for one in self.cases
            for name in names
            if (values := one.trace.values(name.number))
        )

    def _earlier(self, given: Mapping[int, str], found: tuple[Expression, str] | None) -> tuple[Expression, str] | None:
        """Return an expression that goes wrong before the one that was found.

        That is one where the right value of a step brings later steps right that nothing is now.
        """
        failing = self.failing[0]
        again = self._run(failing.index, self._put(given, failing), is_watched=True) if given else failing.trace
        now = self._recognized(failing, again)
        names = list(self.steps.steps)
        end = names.index(found[1]) if found and found[1] in names else len(names) - 1
        for step in names[:end]:
            needed = [need for need in needs(self.steps.steps[step]) if need in self.steps.steps]
            needed = [need for need in needed if isinstance(failing.right[need], Tensor)]
            if step in now or not isinstance(failing.right[step], Tensor) or not now.issuperset(needed):
                continue
            best: tuple[int, int] | None = None
            for number in self._order(failing.trace):
                if found and number == found[0].number:
                    break
                if number in given or self.traced.expressions[number].is_name:
                    continue
                events = failing.trace.values(number)
                if not self._may_stand(failing, number, step) or not has_the_shape(events, failing.right[step]):
                    continue  # what has another shape may be meant for something else
                if any(
                    is_right(events, right)
                    for name, right in failing.right.items()
                    if name != step and _is_table(right)
                ):
                    continue  # it is right as something else
                trace = self._run(failing.index, self._put({**given, number: step}, failing), is_watched=True)
                gained = len(self._recognized(failing, trace) - now - {step})
                if gained and (best is None or gained > best[0]):
                    best = (gained, number)
            if best is not None:
                return self.traced.expressions[best[1]], step
        return None

    def _place_of(self, expression: Expression, step: str, *, proven: bool, supposed: bool = False) -> Place | None:
        failing = self.failing[0]
        events = failing.trace.values(expression.number)
        noun = StepWords(self.steps).noun(step)
        if expression.text == step and step not in self.steps.steps:
            noun += ", unchanged"
        other = expression.is_name and expression.text != step
        misplaced = other and any(is_right_as_it_is(events, right) for right in failing.right.values())
        certain = self._is_certain(expression, step)
        is_answer = self._is_the_answer(step)
        if is_answer and not certain:
            return None  # whatever is wrong before it, the answer should be the answer
        right = in_layout(events, failing.right[step])
        difference = ""
        if len(events) == 1 and not misplaced:
            elsewhere = [to_plain_data(one.right[step]) for one in self.cases]
            difference = describe_difference(events[0], to_plain_data(right), elsewhere)
        if not events and failing.trace.error:
            difference = f"it crashes ({failing.trace.error[0]})"
        problem = _in_words(
            expression,
            noun,
            difference,
            is_misplaced=misplaced,
            is_proven=proven,
            is_supposed=supposed,
            is_certain=certain,
            is_wrong_after=not (proven or supposed) and self._is_wrong_after(expression, step),
            is_piece=isinstance(right, ValueSequence),
            is_all=proven
            and certain
            and not is_answer
            and self._mends_large(lambda one: self._put({expression.number: step}, one)),
            before=None if supposed else self._right_before(expression, noun),
        )
        hints = _hints(self.steps, expression, step)
        return Place(expression, problem, hints, step, proven, misplaced, is_certain=proven and certain)

    def _is_wrong_after(self, expression: Expression, step: str) -> bool:
        """Return whether the answer is still wrong with the right value of a step there."""
        failing = self.failing[0]
        trace = self._run(failing.index, self._put({expression.number: step}, failing))
        return not self._is_at_its_end() and not self._is_mended(failing, trace)

    def _right_before(self, place: Expression, wanted: str) -> tuple[Expression, str] | None:
        """Return the last expression before a place that is a step in every small case, unless it is the one wanted."""
        order = self._order(self.failing[0].trace)
        until = order.index(place.number) if place.number in order else len(order)
        for number in reversed(order[:until]):
            expression = self.traced.expressions[number]
            if expression.is_name or len(expression.text) < 3 or expression.line == place.line:
                continue
            shared = [name for name in self.steps.steps if all(self._is_step(one, number, name) for one in self.cases)]
            if shared and shared[0] != self.steps.last and self.steps.has_noun(shared[0]):
                noun = StepWords(self.steps).noun(shared[0])
                return (expression, noun) if noun != wanted else None
        return None

    def _is_step(self, one: _Case, number: int, step: str) -> bool:
        values = one.trace.values(number)
        return is_right(values, one.right[step]) and (len(values) > 1 or has_the_shape(values, one.right[step]))

    def _may_stand(self, one: _Case, number: int, step: str) -> bool:
        """Return whether the value of a step may belong where an expression stands: not where that is right already."""
        expression, right = self.traced.expressions[number], one.right[step]
        if self._is_at_its_end():
            return False
        if not isinstance(right, Tensor) and type(right) not in (int, float):
            return False
        events = one.trace.values(number)
        if not events:
            return number == one.trace.crashed_in or one.trace.crashed_in in self._parts(number)
        if not all(_is_in_pieces(each.trace.values(number), each.right[step]) for each in self.cases):
            return False  # what comes of all rounds cannot come of each
        if any(self._is_condition(one, holder) for holder in (number, *expression.inside)):
            return False  # anything that is not 0 would turn it
        if isinstance(right, Tensor) != isinstance(events[0], Tensor) and not isinstance(right, int | float):
            return False
        if isinstance(right, int | float) and not is_number(events[0]):
            return False
        if is_right_as_it_is(events, right) or self._is_filled_later(one, expression):
            return False
        if isinstance(right, Tensor) and expression.is_name and self._is_read_for_its_size(expression):
            return False  # any value of that size would do
        if any(is_right_as_it_is(events, other) for other in one.right.values()):
            return expression.is_name and step != self.steps.last  # a right value is not blamed, a misplaced name is
        return True

    def _is_read_for_its_size(self, name: Expression) -> bool:
        """Return whether of the value of a name nothing but its size is read."""
        if name.source_line[: name.columns[0]].endswith("len("):
            return True
        return (
            re.match(r"\.(?:shape|size|dim|ndim|numel|dtype|device)\b", name.source_line[name.columns[1] :]) is not None
        )

    def _is_filled_later(self, one: _Case, expression: Expression) -> bool:
        """Return whether an expression makes a table that the code then writes into: it may well start as it does."""
        made = re.match(r"\s*(\w+)\s*(?::[^=]*)?=\s*", expression.source_line)
        if made is None or not _FACTORY.match(expression.text) or made.end() != expression.columns[0]:
            return False
        read = [other for other in self.traced.expressions if other.is_name and other.text == made[1]]
        values = one.trace.values(expression.number)
        return any(not same([value], values) for other in read for value in one.trace.values(other.number))

    def _is_condition(self, one: _Case, number: int) -> bool:
        return any(type(value) is bool for value in one.trace.values(number))

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
        return self._mends_all(lambda one: self._put(given, one))

    def _mends_all(self, put: Callable[[_Case], Mapping[int, Any]]) -> bool:
        """Return whether what is put makes all cases come right, those that fail first."""
        for one in [*self.failing, *(one for one in self.cases if one not in self.failing)]:
            if not self._is_mended(one, self._run(one.index, put(one))):
                return False
        return True

    def _mends_large(self, put: Callable[[_Case], Mapping[int, Any]]) -> bool:
        """Return whether what mends the small cases mends all others as well."""
        small = {one.index for one in self.cases}
        for index, case in enumerate(self.known.cases):
            if index in small:
                continue
            if case.kind == "sampler":
                return False
            one = _Case(index, self._right_values(index), self._run(index, {}, is_watched=True))
            if not self._is_mended(one, self._run(index, put(one))):
                return False
        return True

    def _put(self, given: Mapping[int, str], one: _Case) -> dict[int, Any]:
        """Return the right values in the layout that the learner's code has."""
        return {number: in_layout(one.trace.values(number), one.right[step]) for number, step in given.items()}

    def _is_mended(self, one: _Case, trace: Trace) -> bool:
        if trace.error is not None:
            return False
        known, besides = self.known, self.besides
        right = known.expected[one.index] if besides is None else known.output(besides, one.index)
        return distance(self._normalized(one, trace), right.get("output")) <= 1

    def _normalized(self, one: _Case, trace: Trace) -> Any:
        return self.known.exercise.normalize(trace.output, self.known.cases[one.index])

    def _recognized(self, one: _Case, trace: Trace) -> set[str]:
        recorded = [trace.values(number) for number in self._order(trace)]
        return {
            name
            for name in self.steps.steps
            if isinstance(one.right[name], Tensor)
            and not self._is_at_its_end()
            and any(is_right(values, one.right[name]) for values in recorded)
        }

    def _is_at_its_end(self) -> bool:
        return self.runs > MAX_RUNS

    def _run(self, index: int, put: Mapping[int, Any], *, is_watched: bool = False) -> Trace:
        self.runs += 1
        if self._is_at_its_end():
            return Trace(error=("TookTooLong", ""))
        return self.traced.run(self.known.cases[index], put, is_watched=is_watched)

    def _right_values(self, index: int) -> dict[str, Any]:
        if self.known.exercise.steps is None:
            return {}
        case = self.known.cases[index]
        inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
        module = [load_module(self.known.exercise.reference, case)] if self.steps.is_module else []
        values = self.steps.values(self.steps.arguments.bind(*module, *inputs.values(), **keywords))
        values.pop("self", None)
        return {name: _detached(value) for name, value in values.items()}


_FACTORY = re.compile(r"[\w.]*\b(?:zeros|ones|empty|full)(?:_like)?\(|[\w.]*\.new_(?:zeros|ones|empty|full)\(")
"""Calls that make a table to be filled."""
_READS = re.compile(r"[\w.]+\.(?:shape\[[^\]]*\]|size\([^)]*\)|numel\(\))|len\(\w+\)|self\.\w+(?:\.m?T)?")
"""An expression that reads a size, or what a constructor has made: many sizes are equal, so that another one mends all
proves little, and what is wrong with an attribute is wrong where it is made."""
QUOTING_KINDS = (
    "argument_for_another", "values_exchanged", "wrong_input", "taken_for", "not_transposed"
)  # fmt: skip
"""Kinds of generated mistakes whose words quote values: they are untrue of an answer that does not have them. A number
may be there in effect, such as 257 if a counter starts at 256 and is raised first."""
HINTS_ON_DISCARDED = (
    "What does the name in this line hold after the line: the old tensor, or the new one?",
    "Methods of tensors return a new tensor. Only those whose names end in `_` change the tensor itself.",
    "Write the result back: `x = x.method(…)`.",
)
REST_IS_RIGHT = "Fix that, and your output is right."


def _in_words(
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
    """Return what is wrong with an expression: what it should be, how it differs, and what is right before it.

    Args:
        expression: The expression.
        noun: What should stand there.
        difference: How the expression's value differs from it; "" where nothing helpful can be said.
        is_misplaced: Whether it is a name that stands where something else belongs.
        is_proven: Whether the answer comes right with that value in this place alone.
        is_supposed: Whether it does not even with right values in other places besides: then the code may go another
            way, on which something else belongs there.
        is_certain: Whether all that it is made of is right.
        is_wrong_after: Whether it is known not to.
        is_piece: Whether the expression gives that value piece by piece.
        is_all: Whether all cases come right with that value, and it is not the answer itself.
        before: The last expression before it that is as it should be, and what it is.
    """
    if is_misplaced:
        report = [f"Line {expression.line}: you use `{_one_line(expression.text)}` instead of {noun}."]
    else:
        what = f"the part of {noun} for that iteration" if is_piece else noun
        if is_supposed:
            report = [f"Line {expression.line}: if the underlined part is meant to be {what}, it is wrong."]
        else:
            verb = "should be" if is_proven else "is not"
            report = [f"{_underlined(expression)} {verb}{' in each iteration' * is_piece} {what}."]
    if difference:
        report.append(f"{difference[:1].upper()}{difference[1:]}.")
    if is_supposed:
        return " ".join(report)
    if not is_certain:
        report.append("The bug is there, or in a value that it uses.")
    if is_wrong_after:
        report.append("There is another bug after it.")
    elif is_all:
        report.append(REST_IS_RIGHT)
    if before:
        report.append(f"Line {before[0].line} is right: it gives {before[1]}.")
    return " ".join(report)


def _hints(steps: InSteps, place: Expression, step: str) -> tuple[str, ...]:
    """Return hints on a place: which step it is, what the step is for, its formula, and its code."""
    where = _where(place)
    if step not in steps.steps:
        return (f"Look at your {where}. Which argument should it be?", f"Use `{step}` there, unchanged.")
    return (
        f"Look at your {where}. Which step of the answer do you take there?",
        f"Here, you should {StepWords(steps).imperative(step)}.",
        f"The result should be {steps.formula(step)}.",
        f"The step alone, as a function:\n{code_block(steps.code(step))}",
    )


def _hints_on_second_call(place: Expression) -> tuple[str, ...]:
    return (
        f"Look at your {_where(place)}. What does it need that is not an argument?",
        "An answer that depends only on its arguments draws no random numbers, and reads nothing that an earlier call "
        "left behind: not in a global name, a default argument or `self`.",
    )


def _hints_on_dtype(place: Expression, dtype: str) -> tuple[str, ...]:
    return (
        f"Look at your {_where(place)}. What is the `.dtype` of what goes in, and of what comes out?",
        f"It should be {dtype} all the way. A tensor that is made without `dtype=` gets a dtype by its contents, and "
        "methods such as `.double()`, `.half()` and `.int()` change it.",
    )


def _underlined(place: Expression) -> str:
    """Return the beginning of a sentence about an expression that is underlined beneath."""
    return f"Line {place.line}: the underlined part"


def _where(place: Expression) -> str:
    return f"line {place.line}, `{_one_line(place.text)}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_decided(events: Sequence[Any]) -> bool:
    return all(isinstance(one, Tensor) and bool(one.all() or not one.any()) for one in events)


def _is_table(value: Any) -> bool:
    return isinstance(value, Tensor) and value.numel() > 1


def _is_in_pieces(events: Sequence[Any], right: Any) -> bool:
    """Return whether a right value can be given in as many pieces as an expression gives."""
    return len(events) < 2 or (isinstance(right, Tensor) and any(True for _ in fitting_layouts(events, right)))


def _is_known_number(value: Any, right: Collection[Any]) -> bool:
    """Return whether a value is one of the right numbers, or a size of one of the right tensors."""
    if not is_number(value) and not (isinstance(value, Tensor) and value.numel() == 1):
        return False
    sizes = [size for one in right if isinstance(one, Tensor) for size in one.shape]
    numbers = [one for one in right if is_number(one) or (isinstance(one, Tensor) and one.numel() == 1)]
    return any(abs(float(value) - float(one)) <= 1e-6 * abs(float(one)) for one in (*sizes, *numbers))


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
