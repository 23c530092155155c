"""Define hostile and unlucky answers and their expected results."""

from dataclasses import dataclass

from tests.transformer_course.sandbox.sample_submissions import softmax_after


@dataclass(frozen=True)
class Answer:
    """An answer with its expected result.

    Args:
        name: A description of the answer's attack or accident.
        source: The code, with placeholders. ``VICTIM`` becomes the path of a folder that the answer must not change.
            ``LISTENER`` becomes the number of a port to which the answer must not be able to connect. ``MARK`` becomes
            a text that identifies processes that outlive the grading.
        points: The expected points. A right answer gets all points, even if it attempts an attack that fails.
        message: A regular expression that the feedback must match.
        seconds: Time limit in seconds.
        exercise: The name of the exercise.
    """

    name: str
    source: str
    points: int = 0
    message: str = ""
    seconds: float = 20.0
    exercise: str = "softmax"


def blocked(name: str, body: str) -> Answer:
    """Return a right answer to softmax that first runs a body and ignores the errors that the body raises."""
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    return Answer(name, softmax_after(f"try:\n{lines}\nexcept (OSError, ValueError): pass"), points=2)


def right_after(name: str, statements: str) -> Answer:
    """Return a right answer to softmax whose cell runs further statements before the definition."""
    imports = "import os, sys, time, signal, threading, subprocess"
    return Answer(name, f"{imports}\n{statements}\ndef softmax(s): return s.softmax(-1)", points=2)


def wrong(name: str, body: str, message: str = "", seconds: float = 20.0) -> Answer:
    """Return an answer to softmax that first runs a body that should cost all points."""
    return Answer(name, softmax_after(body), message=message, seconds=seconds)
