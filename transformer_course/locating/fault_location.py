"""Add the line at fault to a verdict, if it can be proven.

If no mistake was recognized, ``FaultSearch`` finds the fault. Otherwise, the search only finds the line of the mistake.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from transformer_course.checking.crash_help import RETURNS_TWO
from transformer_course.checking.expected_behavior import Behavior, in_isolation
from transformer_course.checking.explain import NOT_REPEATABLE, ON_LINE
from transformer_course.checking.general_mistakes import CHANGES_ARGUMENT
from transformer_course.checking.judge import FIX_FIRST
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Mistake, capitalized
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.locating.code_repairs import LOOP_KINDS, NAME_KINDS
from transformer_course.locating.fault import Fault, marked_line, whole_line
from transformer_course.locating.fault_search import FaultSearch
from transformer_course.running.instrumentation import Expression
from transformer_course.running.isolation import restored_globals
from transformer_course.running.time_limit import MAX_IDLE_S, TookTooLong, time_limit
from transformer_course.running.trace import TracedAttempt

SEARCH_TIME_LIMIT_S = 10.0
"""CPU time limit of the search in seconds. Only very slow attempts reach this limit: usually, ``MAX_RUNS`` ends the
search much earlier, so that the result does not depend on the machine.
"""
QUOTING_KINDS = ("argument_for_another", "values_exchanged", "wrong_input", "taken_for", "not_transposed")
"""Kinds of generated mistakes whose message quotes values, which is misleading if the attempt does not contain these
values. An attempt may use a number without containing the number: a counter that starts at 256 and is incremented
before use has the value 257.
"""
UNPROVEN_KINDS = ("moved",)
"""Kinds of generated mistakes whose message names two values, of which the located expression proves only one."""
REMOVED = ("call", "line", "operand")
REPAIRS = {
    "number": ("number", "index", "dim"), "index": ("number", "index"), "axis": ("dim",), "all_axes": ("no_dim",),
    "wrong_input": ("name",), "argument_for_another": ("name",), "taken_for": ("name",), "operator": ("operator",),
    "order": ("swapped",), "inputs_exchanged": ("swapped",), "sibling": ("function",), "sign": ("sign",),
    "function": REMOVED, "scaled": REMOVED, "shifted": REMOVED, "added": REMOVED, "transposed": REMOVED,
    "rounded": REMOVED, "flattened": REMOVED, "squeezed": REMOVED, "done_again": REMOVED, "inverted": REMOVED,
}  # fmt: skip
"""For a kind of generated mistake, the kinds of edits that undo it in the learner's code."""
STOPS_AT = "stops_at_"
"""Prefix of the name of a half-finished answer, before the step at which it stops."""


def can_be_located(verdict: Verdict) -> bool:
    """Return whether a line can be added to a verdict.

    An attempt that seems half-finished may compute the remaining steps and discard the result.
    """
    return verdict.status in ("wrong", "crashed", "mistake", "half_finished")


def add_location(
    verdict: Verdict,
    known: Behavior,
    traced: TracedAttempt,
    changed: Sequence[str] = (),
    note: str = "",
    clock: float = math.inf,
) -> Verdict:
    """Add the line at fault to the message and hints of a verdict, if it can be proven.

    The status and the mistakes stay the same, unless one edit of the code explains what two mistakes did.

    Args:
        verdict: The verdict.
        known: The expected behavior, possibly on different cases than the verdict.
        traced: The attempt, which is run again.
        changed: Arguments that a call changed.
        note: A sentence to insert between the line and the verdict's message.
        clock: Wall-clock limit of the search in seconds.
    """
    if not can_be_located(verdict):
        return verdict
    is_changed = CHANGES_ARGUMENT in verdict.mistakes
    named = known.named(verdict.mistakes, verdict.message)
    try:
        with restored_globals(), in_isolation(), time_limit(SEARCH_TIME_LIMIT_S, clock, MAX_IDLE_S):
            search = FaultSearch(known, traced, is_random=NOT_REPEATABLE in verdict.message)
            if verdict.status == "half_finished":
                stops_at = verdict.mistakes[0].removeprefix(STOPS_AT)
                unused = search.discarded_result() or search.repair() or search.unused_value(stops_at)
                return replace(verdict, message=unused.message, hints=unused.hints) if unused else verdict
            if verdict.status == "mistake":
                return _with_line_of_mistake(verdict, search, named, changed if is_changed else ())
            is_explained = verdict.status == "crashed" and RETURNS_TWO in verdict.message
            fault = None if is_explained else search.fault()
            shapes = search.shapes_in_crash(verdict)
    except TookTooLong:
        return verdict
    message = verdict.message
    if not fault:
        return replace(verdict, message=_joined(message, shapes))
    # Remove the line from the message of a crash, so that it is not shown twice.
    message = message.replace(f"{ON_LINE.format(fault.expression.line)}{fault.expression.source_line.strip()}", "")
    return replace(verdict, message=_joined(fault.message, note, message, shapes), hints=fault.hints)


def locate(known: Behavior, traced: TracedAttempt) -> Fault | None:
    """Return the fault in a wrong attempt, or None if it cannot be proven."""
    try:
        with restored_globals(), in_isolation(), time_limit(SEARCH_TIME_LIMIT_S, math.inf, MAX_IDLE_S):
            return FaultSearch(known, traced).fault()
    except TookTooLong:
        return None


def _with_line_of_mistake(
    verdict: Verdict, search: FaultSearch, named: Sequence[Mistake], changed: Sequence[str]
) -> Verdict:
    """Add the line of the first recognized mistake and of a changed argument to a verdict.

    If several generated mistakes have the same behavior, the message describes a mistake whose step is located or a
    mistake that fits the code.
    """
    message, hints = verdict.message, verdict.hints
    if discarded := search.discarded_result():
        is_composed = len(named) == 1 and _is_composed(named[0])
        message = discarded.message if is_composed else f"{discarded.message}\n{message}"
        return replace(verdict, message=message, hints=discarded.hints)
    order = sorted(named, key=lambda mistake: verdict.mistakes.index(mistake.name))
    if len(order) == 2 and any(map(_is_composed, order)) and (slip := search.repair()):
        # One slip is likelier than two mistakes that together behave the same.
        others = tuple(name for name in verdict.mistakes if name not in [mistake.name for mistake in order])
        message = _joined(slip.message, message.partition(f"{FIX_FIRST}\n")[2])
        return replace(verdict, status="wrong", message=message, mistakes=others, hints=slip.hints)
    found = search.mistake(*order) if order else None
    if len(order) == 1 and isinstance(mistake := order[0], GeneratedMistake):
        reading = mistake.reading(found[1], found[0].text) if found else mistake.reading(code=search.code)
        is_unproven = not found or reading.edit.kind in UNPROVEN_KINDS
        slip = search.repair() if _is_composed(mistake) and is_unproven else None
        if slip and _agree(reading, slip):
            found = slip.expression, reading.edit.step
        elif slip and not reading.edit.kind == slip.kind == "number":
            message = _joined(slip.message, message.partition("\n")[2])
            return replace(verdict, message=message, hints=slip.hints)
        if reading is not mistake:
            message, hints, order = mistake.reworded(message, reading), tuple(reading.hints), [reading]
        if not found and not reading.fits(search.code):
            is_quoting = reading.edit.kind in QUOTING_KINDS
            fault, case = search.fault() if is_quoting else None, message.partition("\n")[2]
            if is_quoting and (fault or case):
                message = _joined(fault.message if fault else "", case)
                return replace(verdict, message=message, hints=fault.hints if fault else hints)
            message = reading.in_effect(message)
    if found:
        message = _insert_line(message, order[0], found[0])
    elif len(order) == 1 and (slip := search.repair(LOOP_KINDS)):
        message, hints = _joined(slip.message, verdict.message.partition("\n")[2]), slip.hints
    elif len(order) == 1 and (slip := search.repair(NAME_KINDS)):
        sentence, _, case = message.partition("\n")
        message = _joined(sentence, marked_line(whole_line(slip.expression)), case)
    if (change := search.change_of(changed)) and marked_line(change.expression) not in message:
        message += f"\n{change.message}"
        hints = hints if order else change.hints
    return replace(verdict, message=message, hints=hints)


def _is_composed(mistake: Mistake) -> bool:
    """Return whether no teacher wrote the message about a mistake."""
    return isinstance(mistake, GeneratedMistake) and not mistake.has_own_words


def _agree(mistake: GeneratedMistake, slip: Fault) -> bool:
    """Return whether the message about a mistake describes the same slip as an edit that repairs the code."""
    if slip.kind not in REPAIRS.get(mistake.edit.kind, ()):
        return False
    if slip.kind in ("number", "index", "name"):
        return re.search(rf"(?<![\w.]){re.escape(slip.expression.text)}(?![\w.])", mistake.edit.new) is not None
    return mistake.fits(slip.expression.source_line)


def _insert_line(message: str, mistake: Mistake, expression: Expression) -> str:
    """Insert the line number into the sentence about a mistake and show the line below that sentence."""
    sentences = (mistake.message, capitalized(mistake.summary))
    sentence = next((text for text in sentences if text and text in message), "")
    if not sentence:
        return _joined(message, marked_line(expression))
    begin = message.index(sentence)
    end = message.find("\n", begin + len(sentence))
    end = len(message) if end < 0 else end
    is_about_you = sentence.startswith(("You ", "Your "))
    located = f"Line {expression.line}: y{sentence[1:]}" if is_about_you else sentence
    rest = message[begin + len(sentence) : end]
    return f"{message[:begin]}{located}{rest}\n{marked_line(expression)}{message[end:]}"


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
