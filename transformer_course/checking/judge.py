"""Turn observations into a verdict: correct, known mistake, half-finished or wrong.

For submissions, this module runs outside the sandbox.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, cast

from transformer_course.checking.case_display import case_by_hand
from transformer_course.checking.consequence import message_of
from transformer_course.checking.crash_help import crash_help
from transformer_course.checking.expected_behavior import Behavior, behavior, in_isolation
from transformer_course.checking.explain import explain_crash, explain_differences, explain_reading, explain_unfinished
from transformer_course.checking.formatting import join_words, listed_layers, readable
from transformer_course.checking.general_mistakes import CHANGES_ARGUMENT, CHANGES_MODE, GRADIENT_CUT, REMEMBERS_A_CALL
from transformer_course.checking.message_panel import code_block
from transformer_course.checking.mistake_recognition import (
    Recognition,
    recognize,
    recognize_once,
    recognize_side_effect,
)
from transformer_course.checking.named_shapes import absent_arguments, describe_inputs
from transformer_course.checking.side_effects import (
    backward_problem,
    changed_arguments,
    describe_changes,
    explain_gradients,
    is_cut_entirely,
    lost_gradients,
    remembers_a_call,
    unused_inputs,
)
from transformer_course.checking.tolerance import Difference, agree, comparable_error, differences, distance
from transformer_course.checking.verdict import Status, Verdict
from transformer_course.exercise import Exercise, capitalized
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.generated_mistakes.step_words import StepWords
from transformer_course.running.case import Case
from transformer_course.running.observation import Observation
from transformer_course.running.record import call_inputs
from transformer_course.steps import InSteps, needs

STOPS_AT = "stops_at_"
"""Prefix of the name of a half-finished answer, before the step or argument that it returns."""
FIX_FIRST = "Fix the first one and run the check again."
LEFT_STUB = "Delete `raise NotImplementedError` on your line {}: your code stops there."


class OtherCases(Protocol):
    """The same attempt on the cases for a different seed."""

    known: Behavior

    def observed(self) -> Sequence[Observation]:
        """Return the attempt's normalized observations, or an empty list if they are not available."""


def judge(
    exercise: Exercise,
    seed: int,
    observed: Any,
    parts: Collection[str] = (),
    other_cases: OtherCases | None = None,
) -> Verdict:
    """Return the verdict on an attempt.

    An attempt is correct if all its observations equal the observations of the reference. It contains one or two known
    mistakes if its observations, including crashes, equal the observations of an answer with these mistakes. An attempt
    is half-finished if its output is the result of an intermediate step. Otherwise, the verdict explains the first case
    that differs.

    Args:
        exercise: The exercise.
        seed: The seed of the cases.
        observed: Observations on these cases. They may come from an untrusted process and be malformed.
        parts: Names of the exercises available in the lesson's ``parts``.
        other_cases: The attempt on other cases. They are used only to recognize the mistake, because the result may
            already be cached.
    """
    known = behavior(exercise, seed)
    observed_in_cases = known.normalized(_mappings(observed))
    reading, unfinished, warned = _remarks(observed_in_cases, parts)
    if observed_in_cases and _reached_stub(observed_in_cases[0]) and not unfinished:
        if line := _line_of_stub(observed_in_cases[0]):
            return Verdict(exercise.name, "crashed", LEFT_STUB.format(line))
        return Verdict(exercise.name, "not_started", "Not started yet.")
    if agree(observed_in_cases, known.expected, numbers_only=True):
        return _judge_side_effects(known, observed_in_cases, reading)
    judged: tuple[Behavior, Sequence[Observation]] = known, observed_in_cases
    if other_cases:
        others, expected = other_cases.observed(), other_cases.known.expected
        if _has_same_errors(others, observed_in_cases) and not agree(others, expected, numbers_only=True):
            judged = other_cases.known, others
    if found := (recognize if judged[0] is known else recognize_once)(*judged):
        return _recognized(*judged, found, reading, (known, observed_in_cases))
    pairs = enumerate(zip(observed_in_cases, known.expected, strict=False))
    wrong = [index for index, pair in pairs if differences(*pair)]
    if not wrong:
        message = "Your code stopped before the last case without an error message. Run the check again."
        return Verdict(exercise.name, "crashed", message)
    index = _first_explained(known, observed_in_cases, wrong)
    case, observation, right = known.cases[index], observed_in_cases[index], known.expected[index]
    where = f"Case {index + 1} of {len(known.cases)} ({case.label})"
    status: Status = "crashed" if "error" in observation else "wrong"
    idle = unused_inputs(observed_in_cases, known.expected) if status == "wrong" else []
    unused = [_unused_names(listed_layers(idle), is_one=len(idle) == 1)] if idle else []
    # If the reference also draws random numbers, the output is wrong for a different reason.
    is_random = observation.get("repeatable") is False and known.reference_is_random(index)
    if is_random and _is_output_wrong(known, observed_in_cases, index):
        observation = cast(Observation, {**observation, "repeatable": True})
    first = _explain(exercise, where, case, observation, right, differences(observation, right))
    later = _other_failure(known, observed_in_cases, index)
    sentences = [*unfinished, *reading, *unused, first, *later, *warned]
    return Verdict(exercise.name, status, readable("\n".join(sentences)))


def _first_explained(known: Behavior, observed: Sequence[Observation], wrong: Sequence[int]) -> int:
    """Return the first case whose output is random but should not be, or else the first wrong case.

    In a small case, an output may be random and still repeat by chance. Explaining that case would be misleading. If
    the reference draws random numbers, too, a case with a wrong output explains more than a case whose output does not
    repeat.
    """
    if "error" in observed[wrong[0]]:
        return wrong[0]
    for index in wrong:
        if observed[index].get("repeatable") is False and not known.reference_is_random(index):
            return index
    return next((index for index in wrong if _is_output_wrong(known, observed, index)), wrong[0])


def _is_output_wrong(known: Behavior, observed: Sequence[Observation], index: int) -> bool:
    """Return whether a case differs in anything other than its repeatability."""
    return any(found.field != "repeatable" for found in differences(observed[index], known.expected[index]))


def _has_same_errors(one: Sequence[Observation], other: Sequence[Observation]) -> bool:
    """Return whether two runs raised the same types of errors in the same cases."""
    return [_error_type(observation) for observation in one] == [_error_type(observation) for observation in other]


def _error_type(observation: Observation) -> object:
    error: object = observation.get("error")
    return error.get("type") if isinstance(error, Mapping) else None


def _judge_side_effects(known: Behavior, observed: Sequence[Observation], reading: Sequence[str]) -> Verdict:
    """Check the gradients and side effects of an attempt with correct outputs, and return the verdict."""
    exercise = known.exercise
    changed = changed_arguments(observed, known.expected)
    cut_entirely = exercise.may_cut_gradients and is_cut_entirely(observed)
    if agree(observed, known.expected) or (cut_entirely and not changed):
        return Verdict(exercise.name, "passed", "\n".join([exercise.verified, *reading]))
    if mistake := recognize_side_effect(known, observed):
        return Verdict(exercise.name, "mistake", "\n".join([*reading, mistake.message]), (mistake.name,))
    message, names = list(reading), []
    if changed:
        message.append(f"Your numbers are right, but {describe_changes(changed)}.")
        names.append(_name_of_change(changed))
    if not cut_entirely and (explained := explain_gradients(known, observed, changed)):
        message.append(explained)
        lost = lost_gradients(observed, known.expected)
        names.append(REMEMBERS_A_CALL if lost and remembers_a_call(observed) else GRADIENT_CUT)
    return Verdict(exercise.name, "mistake", readable("\n".join(message)), tuple(names))


def _name_of_change(changed: Sequence[str]) -> str:
    return CHANGES_MODE if all(name.endswith(".training") for name in changed) else CHANGES_ARGUMENT


def _recognized(
    known: Behavior,
    observed: Sequence[Observation],
    found: Recognition,
    reading: Sequence[str],
    judged: tuple[Behavior, Sequence[Observation]],
) -> Verdict:
    """Return the verdict on an attempt with a recognized mistake. The message shows cases from ``judged``."""
    exercise = known.exercise
    status: Status = "half_finished" if found.stops_at else "mistake"
    names: tuple[str, ...]
    if found.stops_at:
        message, names = _half_finished(exercise.steps, found.stops_at), (STOPS_AT + found.stops_at,)
    elif found.alternatives:
        [mistake] = found.mistakes
        second = f"In effect, {found.alternatives[0].summary}"
        message, names = _two_bugs(_sentence(mistake.summary), second), (mistake.name,)
    elif found.has_unknown_mistake:
        [mistake] = found.mistakes
        message = f"{_sentence(mistake.summary)}. Something else is also wrong. Fix this first."
        names = (mistake.name,)
    elif len(found.mistakes) > 1:
        message = _two_bugs(*[_sentence(mistake.summary or mistake.message) for mistake in found.mistakes])
        names = tuple(mistake.name for mistake in found.mistakes)
    else:
        message, names = message_of(found.mistakes[0], judged[1], judged[0].expected), (found.mistakes[0].name,)
    hints: tuple[str, ...] = _next_step(exercise.steps, found.stops_at) if found.stops_at else ()
    if found.mistakes and isinstance(found.mistakes[0], GeneratedMistake):
        hints = tuple(found.mistakes[0].hints)  # other hints are looked up by the mistake's name
    if found.unexplained_case is not None:
        shown, results = judged
        case, right = shown.cases[found.unexplained_case], shown.expected[found.unexplained_case]
        observation = results[found.unexplained_case]
        if unexplained := differences(observation, right):
            what = "your code crashes in" if "error" in observation else "something else goes wrong in"
            where = f"Also, {what} case {found.unexplained_case + 1} of {len(known.cases)} ({case.label})"
            also = _explain(exercise, where, case, observation, right, unexplained)
            return Verdict(exercise.name, status, readable("\n".join([*reading, message, also])), names, hints)
    as_recognized = known.run(found.variant)
    if changed := changed_arguments(observed, as_recognized):
        message += f"\nAlso, {describe_changes(changed)}."
        names = (*names, _name_of_change(changed))
    cut = [] if found.stops_at else lost_gradients(observed, as_recognized)
    if problem := backward_problem(observed):
        message += f"\nAlso, torch cannot compute the gradients: {problem}."
        names = (*names, GRADIENT_CUT)
    elif cut and not (exercise.may_cut_gradients and is_cut_entirely(observed)):
        message += f"\nAlso, no gradient reaches {listed_layers(cut)}."
        names = (*names, GRADIENT_CUT)
    preferred = _shows_first_mistake(found, judged) if len(found.mistakes) == 2 else ()
    panel = "" if found.stops_at else case_by_hand(exercise, judged[0].cases, judged[1], judged[0].expected, preferred)
    return Verdict(exercise.name, status, readable("\n".join(filter(None, [*reading, message, panel]))), names, hints)


def _shows_first_mistake(found: Recognition, judged: tuple[Behavior, Sequence[Observation]]) -> list[int]:
    """Return the cases whose output changes when only the first of two mistakes is fixed."""
    shown, observed = judged
    variants = found.mistakes[1].variants
    indices = range(min(len(shown.cases), len(observed)))
    with in_isolation():
        return [
            index
            for index in indices
            if all(
                distance(shown.output(variant, index).get("output"), observed[index].get("output")) > 1
                for variant in variants
            )
        ]


def _two_bugs(*clauses: str) -> str:
    numbered = [f"{number}. {clause}." for number, clause in enumerate(clauses, 1)]
    return "\n".join(["Your code has two bugs.", *numbered, FIX_FIRST])


def _next_step(steps: InSteps | None, stops_at: str) -> tuple[str, ...]:
    """Return hints for the next step."""
    assert steps is not None
    step = _remaining_steps(steps, stops_at)[0]
    return (
        f"Work out a small case by hand: what should {StepWords(steps).noun(step)} be?",
        f"The next step should give {steps.formula(step)}.",
        f"The step alone, as a function:\n{code_block(steps.code(step))}",
    )


def _half_finished(steps: InSteps | None, stops_at: str) -> str:
    assert steps is not None
    next_step, *later = _remaining_steps(steps, stops_at)
    first, others = StepWords(steps).imperative(next_step), [steps.describe(name) for name in later]
    then = f" Then {join_words(others)}." if others else ""
    if stops_at not in steps.steps:
        return f"You return `{stops_at}` unchanged. Begin with the first step: {first}.{then}"
    return f"You return {StepWords(steps).noun(stops_at)}, which is right so far. Next, {first}.{then}"


def _remaining_steps(steps: InSteps, stops_at: str) -> list[str]:
    """List the steps that are still missing, except for steps that only pass a value on."""
    return [
        name
        for name, step in steps.steps.items()
        if stops_at not in steps.reached_from[name] and steps.expression(name) not in needs(step)
    ]


def _other_failure(known: Behavior, observed: Sequence[Observation], index: int) -> list[str]:
    """If this case crashes, describe the first later case that fails in a different way."""
    crash = observed[index].get("error")
    if not isinstance(crash, Mapping):
        return []
    for later in range(index + 1, min(len(observed), len(known.cases))):
        observation, right, case = observed[later], known.expected[later], known.cases[later]
        error: object = observation.get("error")
        is_same = isinstance(error, Mapping) and comparable_error(error) == comparable_error(crash)
        if not is_same and (found := differences(observation, right)):
            where = f"Apart from that, in case {later + 1} of {len(known.cases)} ({case.label})"
            return [_explain(known.exercise, where, case, observation, right, found)]
    return []


def _unused_names(names: str, *, is_one: bool) -> str:
    verb, it = ("has", "it") if is_one else ("have", "them")
    return f"{names} {verb} no effect on your output: you never use {it}, or you discard what you compute from {it}."


def _sentence(clause: str) -> str:
    return capitalized(clause).rstrip(".")


def _explain(
    exercise: Exercise,
    where: str,
    case: Case,
    observation: Observation,
    right: Observation,
    found: Sequence[Difference],
) -> str:
    try:
        if "error" in observation:
            given = {**call_inputs(case), **case.keywords}
            inputs = describe_inputs(exercise.reference, given)
            help = crash_help(exercise, case, observation["error"])
            absent = absent_arguments(exercise.reference, given)
            return explain_crash(where, observation["error"], inputs, absent, help)
        return explain_differences(exercise, where, case, observation, right, found)
    except Exception:  # malformed observations can fail anywhere
        return f"{where}: the recorded result cannot be read."


def _mappings(observed: Any) -> list[Observation]:
    """Return the observations that are mappings. An untrusted process may send any plain data."""
    if not isinstance(observed, list | tuple):
        return []
    return cast(list[Observation], [observation for observation in observed if isinstance(observation, Mapping)])


def _remarks(observed: Sequence[Observation], parts: Collection[str]) -> tuple[list[str], list[str], list[str]]:
    """Describe the remarks about the first call: notebook variables, unfinished functions and warnings."""
    remarks: object = observed[0].get("remarks") if observed else None

    def lines(key: str) -> list[str]:
        found = remarks.get(key) if isinstance(remarks, Mapping) else None
        return [readable(line) for line in found if isinstance(line, str)] if isinstance(found, list) else []

    reads, unfinished, warned = lines("reads"), lines("unfinished"), lines("warned")
    return (
        [explain_reading(reads)] if reads else [],
        [explain_unfinished(unfinished[0], parts)] if unfinished else [],
        [f"Your code gave a warning: {warned[0]}"] if warned else [],
    )


def _line_of_stub(observation: Observation) -> int | None:
    """Return the line of a ``raise NotImplementedError`` left in finished code, according to an untrusted process."""
    remarks: object = observation.get("remarks")
    line = remarks.get("left_stub") if isinstance(remarks, Mapping) else None
    return line if type(line) is int else None


def _reached_stub(observation: Observation) -> bool:
    """Return whether the code reached a ``raise NotImplementedError``. If torch raises this error, it has a message."""
    error: object = observation.get("error")
    return isinstance(error, Mapping) and error.get("type") == "NotImplementedError" and not error.get("message")
