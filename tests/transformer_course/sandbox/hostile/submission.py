"""How a hostile or unlucky submission is written down."""

from dataclasses import dataclass

from tests.transformer_course.sandbox.sample_submissions import softmax_after


@dataclass(frozen=True)
class Answer:
    """An answer, and what it deserves.

    Args:
        name: What it does.
        source: Its code. ``VICTIM`` in it becomes the path of a folder of the grader's that must stay as it is,
            ``LISTENER`` the number of a port that nothing may connect to, and ``MARK`` a text by which processes are
            found that outlive the grading.
        points: What it deserves: 2 where the answer is right, whatever it tried in vain beside that, and 0 where not.
        message: Regular expression of what the feedback says.
        seconds: Time limit.
        exercise: What it answers.
    """

    name: str
    source: str
    points: int = 0
    message: str = ""
    seconds: float = 20.0
    exercise: str = "softmax"


def in_vain(name: str, body: str) -> Answer:
    """Return an answer that is right, and tries something before, which fails with an error that it ignores."""
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    return Answer(name, softmax_after(f"try:\n{lines}\nexcept (OSError, ValueError): pass"), points=2)


def right_after(name: str, statements: str) -> Answer:
    """Return a right answer whose cell does something before it defines it."""
    imports = "import os, sys, time, signal, threading, subprocess"
    return Answer(name, f"{imports}\n{statements}\ndef softmax(s): return s.softmax(-1)", points=2)


def wrong(name: str, body: str, message: str = "", seconds: float = 20.0) -> Answer:
    """Return an answer that does something which costs its points."""
    return Answer(name, softmax_after(body), message=message, seconds=seconds)
