"""Add the line of a recognized mistake to its message.

A mistake is recognized by its behavior, so a composed message may be untrue of the learner's code. Therefore an edit
that makes this code correct has priority over a composed message whose line is not found.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from transformer_course.checking.judge import FIX_FIRST
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Mistake, capitalized
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.locating.code_repairs import LOOP_KINDS, NAME_KINDS
from transformer_course.locating.fault import Fault, joined, marked_line, whole_line
from transformer_course.locating.fault_search import FaultSearch
from transformer_course.running.instrumentation import Expression

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


def with_line_of_mistake(
    verdict: Verdict, search: FaultSearch, named: Sequence[Mistake], changed: Sequence[str]
) -> Verdict:
    """Add the line of the first recognized mistake and of a changed argument to a verdict.

    Args:
        verdict: The verdict.
        search: The search for the fault in the attempt.
        named: The mistakes in the verdict's message.
        changed: Arguments that a call changed.
    """
    order = sorted(named, key=lambda mistake: verdict.mistakes.index(mistake.name))
    if found := _with_discarded_result(verdict, search, order):
        return found
    if found := _with_one_slip_for_two_mistakes(verdict, search, order):
        return found
    absent = [mistake for mistake in order if isinstance(mistake, GeneratedMistake) and not mistake.fits(search.code)]
    if len(absent) == 2 and (found := _without_absent_mistakes(verdict, search, order)):
        return found
    if len(order) == 1 and isinstance(order[0], GeneratedMistake):
        located = _with_line_of_generated(verdict, search, order[0])
    else:
        located = _with_line_of_written(verdict, search, order)
        for mistake in absent:
            located = replace(located, message=mistake.in_effect(located.message))
    if (change := search.change_of(changed)) and marked_line(change.expression) not in located.message:
        hints = located.hints if order else change.hints
        located = replace(located, message=joined(located.message, change.message), hints=hints)
    return located


def _with_discarded_result(verdict: Verdict, search: FaultSearch, order: Sequence[Mistake]) -> Verdict | None:
    """Report a result that the code computes and discards, in place of a composed message or before the message."""
    discarded = search.discarded_result()
    if not discarded:
        return None
    is_composed = len(order) == 1 and _is_composed(order[0])
    message = discarded.message if is_composed else joined(discarded.message, verdict.message)
    return replace(verdict, message=message, hints=discarded.hints)


def _with_one_slip_for_two_mistakes(verdict: Verdict, search: FaultSearch, order: Sequence[Mistake]) -> Verdict | None:
    """Report one slip, which is likelier than two mistakes that together behave the same."""
    if len(order) != 2 or not any(map(_is_composed, order)) or not (slip := search.repair()):
        return None
    return _with_fault(verdict, slip, order)


def _without_absent_mistakes(verdict: Verdict, search: FaultSearch, order: Sequence[Mistake]) -> Verdict | None:
    """Report the located fault or only the case, because the code contains neither of two composed mistakes."""
    fault = search.fault()
    return _with_fault(verdict, fault, order) if fault or _case_of_pair(verdict) else None


def _with_fault(verdict: Verdict, fault: Fault | None, order: Sequence[Mistake]) -> Verdict:
    """Report a fault, if it is found, and the case instead of two mistakes."""
    names = [mistake.name for mistake in order]
    others = tuple(name for name in verdict.mistakes if name not in names)
    message = joined(fault.message if fault else "", _case_of_pair(verdict))
    return replace(verdict, status="wrong", message=message, mistakes=others, hints=fault.hints if fault else ())


def _case_of_pair(verdict: Verdict) -> str:
    return verdict.message.partition(f"{FIX_FIRST}\n")[2]


def _with_line_of_generated(verdict: Verdict, search: FaultSearch, mistake: GeneratedMistake) -> Verdict:
    """Add the line of a generated mistake.

    If several generated mistakes have the same behavior, the message describes a mistake whose step is located or a
    mistake that fits the code.
    """
    found = search.mistake(mistake)
    reading = mistake.reading(found[1], found[0].text) if found else mistake.reading(code=search.code)
    is_unproven = not found or reading.edit.kind in UNPROVEN_KINDS
    slip = search.repair() if _is_composed(mistake) and is_unproven else None
    case = verdict.message.partition("\n")[2]
    expression = found[0] if found else None
    if slip and _agree(reading, slip):
        expression = slip.expression
    elif slip and not reading.edit.kind == slip.kind == "number":
        return replace(verdict, message=joined(slip.message, case), hints=slip.hints)
    if reading is not mistake:
        verdict = replace(verdict, message=mistake.reworded(verdict.message, reading), hints=tuple(reading.hints))
    if expression:
        return replace(verdict, message=_insert_line(verdict.message, reading, expression))
    if reading.fits(search.code):
        return _with_line_of_written(verdict, search, [reading], is_searched=True)
    if reading.edit.kind in QUOTING_KINDS and ((fault := search.fault()) or case):
        return replace(
            verdict,
            message=joined(fault.message if fault else "", case),
            hints=fault.hints if fault else verdict.hints,
        )
    if FIX_FIRST in verdict.message:  # one of two candidates for a second mistake
        return _with_fault(verdict, search.fault(), [mistake])
    return replace(verdict, message=reading.in_effect(verdict.message))


def _with_line_of_written(
    verdict: Verdict, search: FaultSearch, order: Sequence[Mistake], *, is_searched: bool = False
) -> Verdict:
    """Add the line of the first mistake, of a slip in a loop or of a wrong name that behaves like the mistake.

    Args:
        verdict: The verdict.
        search: The search for the fault in the attempt.
        order: One or two mistakes, or none.
        is_searched: Whether the line of the mistake was searched before, without success.
    """
    found = None if is_searched or not order else search.mistake(*order)
    if found:
        return replace(verdict, message=_insert_line(verdict.message, order[0], found[0]))
    if len(order) != 1:
        return verdict
    sentence, _, case = verdict.message.partition("\n")
    if slip := search.repair(LOOP_KINDS):
        return replace(verdict, message=joined(slip.message, case), hints=slip.hints)
    if slip := search.repair(NAME_KINDS):
        return replace(verdict, message=joined(sentence, marked_line(whole_line(slip.expression)), case))
    return verdict


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
        return joined(message, marked_line(expression))
    begin = message.index(sentence)
    end = message.find("\n", begin + len(sentence))
    end = len(message) if end < 0 else end
    is_about_you = sentence.startswith(("You ", "Your "))
    located = f"Line {expression.line}: y{sentence[1:]}" if is_about_you else sentence
    rest = message[begin + len(sentence) : end]
    return f"{message[:begin]}{located}{rest}\n{marked_line(expression)}{message[end:]}"
