"""Describe a crash: what was raised, and on which of the learner's own lines."""

import functools
import inspect
import traceback
from types import CodeType
from typing import Any


def describe(error: BaseException, attempt: Any) -> dict[str, Any]:
    """Say what was raised, and on which line of the attempt's own source."""
    try:
        message = str(error)
    except BaseException:  # a learner's own class of error may have a bug, too
        message = ""
    own = _source_files(attempt)
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    told: dict[str, Any] = {"type": type(error).__name__, "message": message}
    return told | ({"line": lines[-1].lineno, "code": lines[-1].line} if lines else {})


def _source_files(attempt: Any) -> set[str]:
    """Find the files that the attempt is written in, below decorators and partial arguments."""
    while isinstance(attempt, functools.partial):
        attempt = attempt.func
    kind = attempt if isinstance(attempt, type) else type(attempt)
    own = [base for base in kind.__mro__ if base.__module__ == kind.__module__]  # its bases, but not nn.Module
    codes = [_code(thing) for thing in (attempt, *(f for base in own for f in vars(base).values()))]
    return {code.co_filename for code in codes if code is not None}


def _code(thing: Any) -> CodeType | None:
    try:
        code = inspect.unwrap(thing).__code__
    except Exception:  # no function, or one that hides it
        return None
    return code if isinstance(code, CodeType) else None
