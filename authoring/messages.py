"""Print every message of an exercise next to the code that causes it: ``python -m authoring.messages NAME [KIND …]``.

The kinds are ``written`` (the exercise's own mistakes), ``worded`` (generated mistakes with a teacher's message),
``composed`` (all other generated mistakes, likeliest first) and ``other`` (unfinished answers, the hints for an
unrecognized attempt, and the message for a passed check). By default, the command prints all kinds. Each message is for
the smallest case that fails. The message is followed by the hints, and by the clause that is used when the attempt has
a second mistake, if that clause differs.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from transformer_course.checking.consequence import message_of
from transformer_course.checking.expected_behavior import AnyVariant, Behavior, behavior, in_isolation
from transformer_course.checking.judge import judge
from transformer_course.checking.message_panel import code_block
from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises import every_exercise
from transformer_course.steps import Variant

SEED = 0
"""Seed of the lessons."""
KINDS = ("written", "worded", "composed", "other")


def messages(exercise: Exercise, kinds: Sequence[str] = KINDS) -> list[str]:
    """Return a text block for each message of an exercise: the mistake's name, the code, the message and the hints."""
    known = behavior(exercise, SEED)
    with in_isolation():  # captures output, so collect everything before printing
        return [*_of_mistakes(known, kinds), *(_others(known) if "other" in kinds else ())]


def _of_mistakes(known: Behavior, kinds: Sequence[str]) -> Iterator[str]:
    for mistake in known.exercise.mistakes if "written" in kinds else ():
        code = "\n".join(map(_code_of, mistake.variants))
        yield _block(known, mistake, "written", code, mistake.variants[0])
    for edit, generated in known.generated.items():
        kind = "worded" if generated.has_own_words else "composed"
        if kind in kinds:
            code = "\n".join(f"{name}: {body}" for name, body in edit.code.items())
            yield _block(known, generated, kind, code, generated.variants[0])


def _block(known: Behavior, mistake: Mistake, kind: str, code: str, variant: AnyVariant) -> str:
    """Return the text block of a mistake, with the message for its first variant."""
    message = message_of(mistake, known.run(variant), known.expected)
    lines = [f"{mistake.name} ({kind})", code_block(code), message]
    if mistake.summary and mistake.summary.lower() not in message.lower():
        lines.append(f"With a second mistake: {mistake.summary}")
    return "\n".join([*lines, *_numbered(mistake.hints)])


def _others(known: Behavior) -> Iterator[str]:
    """Yield the messages about unfinished answers, unrecognized attempts and a passed check."""
    exercise = known.exercise
    for name in [*exercise.steps.steps][:-1] if exercise.steps else ():
        assert exercise.steps is not None
        verdict = judge(exercise, SEED, known.run(exercise.steps.until(name)))
        if verdict.status == "half_finished":
            yield "\n".join([f"stops at {name}", verdict.message, *_numbered(verdict.hints)])
    yield "\n".join(["not recognized", *_numbered(exercise.hints)])
    yield f"passed\n{exercise.verified}"


def _code_of(variant: AnyVariant) -> str:
    """Return the source of a variant's changes, or of a complete answer."""
    changes = variant.changes.values() if isinstance(variant, Variant) else [variant]
    return "\n".join(map(_source, changes))


def _source(change: Callable[..., Any]) -> str:
    """Return the source of a function or class, or its name if it was created at run time."""
    try:
        return textwrap.dedent(inspect.getsource(change)).strip()
    except OSError:
        return getattr(change, "__qualname__", repr(change))


def _numbered(hints: Sequence[str]) -> list[str]:
    return [f"  {number}. {hint}" for number, hint in enumerate(hints, 1)]


def main(arguments: Sequence[str]) -> int:
    """Print the messages of an exercise."""
    name, *kinds = arguments or [""]
    if name not in every_exercise() or not set(kinds) <= set(KINDS):
        print(f"usage: python -m authoring.messages EXERCISE [{'|'.join(KINDS)} ...]", file=sys.stderr)
        return 2
    for block in messages(every_exercise()[name], kinds or KINDS):
        print(f"{block}\n", flush=True)
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
