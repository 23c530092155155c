"""What a lesson imports: ``check``, ``hint``, ``solution``, ``parts`` and ``compare``."""

import difflib
import functools
import os
from collections import Counter
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from transformer_lab.course.checking.explain import format_value
from transformer_lab.course.checking.judge import behaviour, judge
from transformer_lab.course.checking.panel import Panel
from transformer_lab.course.checking.speed import SLOW, slowdown
from transformer_lab.course.checking.verdict import Verdict
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import LESSONS, every_exercise, exercises_of
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.introspect import functions_of
from transformer_lab.course.running.isolation import suppressed_output
from transformer_lab.course.running.observe import observe_all
from transformer_lab.course.running.parts import Parts
from transformer_lab.course.workspace import saved_parts

__all__ = ["NotPassed", "check", "compare", "hint", "parts", "solution"]

torch.set_num_threads(1)  # on a busy machine, a second thread makes small models several times slower

SEED = 0
"""Of the cases a lesson checks with; the grader has others."""
SECONDS = 10.0
"""How long all cases of one check may take together: loops in plain Python are slow, but may be right."""

parts = Parts(lambda name: every_exercise()[name].reference)
"""Working pieces by name: ``parts.softmax`` is your own once it has passed, the library's until then."""

_hints_given: Counter[tuple[str, str | None]] = Counter()


class NotPassed(AssertionError):
    """A check that did not pass while ``TRANSFORMER_LAB_STRICT`` is 1."""


def check(attempt: Any, name: Any = None) -> Verdict:
    """Say whether your function or class is right, and if not, which mistake it makes.

    Args:
        attempt: The function or class itself, not the result of a call.
        name: The exercise, where it is not called as the attempt is.

    Returns:
        The verdict, which shows itself as a panel in a notebook and as text in a terminal. Nothing is raised,
        unless the environment variable ``TRANSFORMER_LAB_STRICT`` is 1 and the verdict is not ``passed``.
    """
    verdict = _verdict(attempt, name)
    if os.environ.get("TRANSFORMER_LAB_STRICT") == "1" and not verdict.passed:
        raise NotPassed(str(verdict))
    return verdict


def hint(attempt: Any, name: Any = None) -> Panel:
    """Give the next hint: for the mistake your attempt makes, if it is a known one. Call again for more."""
    with suppressed_output():
        verdict = _verdict(attempt, name)
    exercise = every_exercise().get(verdict.exercise)
    if exercise is None:
        return Panel("No such exercise", _unknown(attempt, _called(attempt, name), "hint").message, "help")
    if verdict.passed:
        return Panel("No hint needed", verdict.message, "help")
    ladder = next((m.hints for m in exercise.mistakes if m.name == verdict.mistake), exercise.hints)
    key = (exercise.name, verdict.mistake)
    step = min(_hints_given[key], len(ladder) - 1)
    _hints_given[key] += 1
    last = f"\nThat was the last hint. `solution({exercise.name})` shows an answer." if step == len(ladder) - 1 else ""
    return Panel(f"{exercise.name}: hint {step + 1} of {len(ladder)}", ladder[step] + last, "help")


def solution(attempt: Any, name: Any = None) -> Panel:
    """Show an answer."""
    called = _called(attempt, name)
    exercise = every_exercise().get(called or "")
    if exercise is None:
        return Panel("No such exercise", _unknown(attempt, called, "solution").message, "help")
    code = "\n".join(f"    {line}" for line in exercise.solution.splitlines())
    return Panel(f"{exercise.name}: a solution", code, "help")


def compare(prediction: Any, measured: Any) -> None:
    """Answer a prediction: print what was said beside what was measured.

    Args:
        prediction: A number or a word, or ``...`` as long as none was made.
        measured: What the experiment gave.
    """
    value = measured.item() if isinstance(measured, torch.Tensor) and measured.numel() == 1 else measured
    seen = f"{value + 0.0:.3g}" if isinstance(value, float) else _say(value)  # + 0.0 makes 0 of -0
    said = "you made no prediction" if prediction is ... else f"you said {_say(prediction)}"
    print(f"{said}, measured {seen}")


def _say(value: Any) -> str:
    return value if isinstance(value, str) else format_value(value)


def _called(attempt: Any, name: Any) -> str | None:
    """Find the name to look the exercise up by; there is none where a result is given instead of a function."""
    if isinstance(name, str):
        return name
    try:
        called = attempt if name is None else name
        while isinstance(called, functools.partial):
            called = called.func
        return called.__name__ if isinstance(called.__name__, str) else None
    except Exception:  # it has no name, or breaks whoever looks at it
        return None


def _unknown(attempt: Any, called: str | None, asked: str = "check") -> Verdict:
    if called is None:
        message = f"It takes the function or class itself; this is a value of type {type(attempt).__name__}."
    else:
        close = [*difflib.get_close_matches(called, _of_this_lesson(attempt), n=2, cutoff=0.4), "exercise"]
        own = own if (own := _called(attempt, None) or "").isidentifier() else "attempt"
        ways = " or ".join(f'`{asked}({own}, "{exercise}")`' for exercise in close[:-1] or close)
        message = f"No exercise is called {called}. To say which one it answers: {ways}."
    return Verdict(called or asked, "wrong", message)


def _of_this_lesson(attempt: Any) -> list[str]:
    """List the exercises of the lesson whose functions stand beside the attempt: others would give lessons away."""
    beside = {name for function in functions_of(attempt) for name in function.__globals__}
    return [name for lesson in LESSONS if beside & (names := {e.name for e in exercises_of(lesson)}) for name in names]


def _verdict(attempt: Any, name: Any) -> Verdict:
    called = None
    try:
        called = _called(attempt, name)
        exercise = every_exercise().get(called or "")
        return _unknown(attempt, called) if exercise is None else _verdict_on(exercise, attempt)
    except Exception as error:  # a check that raises would stop a whole lesson
        return Verdict(called or "check", "crashed", f"The check itself failed: {type(error).__name__}: {error}")


def _verdict_on(exercise: Exercise, attempt: Any) -> Verdict:
    if isinstance(exercise.reference, type) and not (isinstance(attempt, type) and issubclass(attempt, nn.Module)):
        return Verdict(exercise.name, "wrong", f"{exercise.name} should be a class made from `nn.Module`.")
    if parts.refuses(exercise.name):
        return Verdict(exercise.name, "wrong", "It is being checked already, by the check that called it.")
    known = behaviour(exercise, SEED)
    with parts.without(exercise.name):
        observed = observe_all(attempt, list(known.cases), SECONDS)
        verdict = judge(exercise, SEED, observed)
        if not verdict.passed:
            return verdict
        remark = _remark(attempt, exercise, known.cases[-1], observed[-1], known.expected[-1])
    if remark or observed[0]["remarks"]["reads"]:
        parts.remove(exercise.name)
        remark += " The lessons go on with the library's."
    else:
        parts.add(exercise.name, attempt)
        problem = saved_parts.save_part(exercise.name, attempt)
        remark = f"\nOne thing: it could not be kept for later lessons: {problem}." if problem else ""
    return replace(verdict, message=verdict.message + remark)


def _remark(attempt: Any, exercise: Exercise, largest: Case, seen: Any, right: Any) -> str:
    """Say why a right answer is not what the lessons should train with, if so."""
    if right["remarks"]["differentiable"] and not seen["remarks"]["differentiable"]:
        return "\nOne thing: no gradient passes through your version (`.item()`, `.tolist()` and `.numpy()` cut it)."
    times = slowdown(attempt, exercise.reference, largest, seen["remarks"]["seconds"], SECONDS)
    return f"\nOne thing: your version takes {times:.0f} times as long as the reference." if times > SLOW else ""


saved_parts.load_parts(parts)
