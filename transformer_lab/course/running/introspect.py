"""Look inside an attempt without running it: what it is made of, and what it takes from the notebook around it."""

import dis
import functools
import inspect
import math
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from torch import Tensor

DATA = (Tensor, np.ndarray, bool, int, float, complex, str, list, tuple, dict, set)
"""What an experiment leaves behind, unlike functions, classes, modules and ``parts``."""


def functions_of(attempt: Any) -> list[FunctionType]:
    """List the functions it is written as, below decorators and partial arguments; of a class, its own methods."""
    try:
        while isinstance(attempt, functools.partial):
            attempt = attempt.func
        kind = attempt if isinstance(attempt, type) else type(attempt)
        own = [base for base in kind.__mro__ if base.__module__ == kind.__module__]  # its bases, but not nn.Module
        below = map(_unwrapped, (attempt, *(thing for base in own for thing in vars(base).values())))
        return [function for function in below if isinstance(function, FunctionType)]
    except Exception:  # objects may break whoever looks at them
        return []


def notebook_dependencies(attempt: Any) -> dict[str, list[str]]:
    """Name the data it ``reads`` from the notebook, itself or by a function of the notebook, and the functions that
    it calls though they are ``unfinished``.

    Constants in capitals are meant to be read, and so are those of ``math``.
    """
    reads: dict[str, None] = {}
    unfinished: dict[str, None] = {}
    try:
        reached = [f for f in functions_of(attempt) if f.__globals__.get("__name__") == "__main__"]
        for function in reached:  # it grows on the way
            for name in _global_names(function.__code__):
                value = function.__globals__.get(name)
                if type(value) is FunctionType and value.__globals__ is function.__globals__:
                    if _is_empty(value):
                        unfinished[name] = None
                    elif value not in reached:
                        reached.append(value)
                elif isinstance(value, DATA) and not name.isupper() and not _is_of_math(name, value):
                    reads[name] = None
    except Exception:  # so may what else is in the notebook
        return {"reads": [], "unfinished": []}
    return {"reads": list(reads), "unfinished": list(unfinished)}


def _unwrapped(thing: Any) -> Any:
    try:
        return inspect.unwrap(thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing)
    except Exception:  # one that hides what it wraps
        return None


def _global_names(code: CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _is_of_math(name: str, value: Any) -> bool:
    return isinstance(value, float) and repr(value) == repr(getattr(math, name, None))


def _is_empty(function: FunctionType) -> bool:
    """Tell whether nothing has been written yet, whatever the arguments and the docstring."""
    return _steps(function) in _EMPTY


def _steps(function: FunctionType) -> list[tuple[str, Any]]:
    return [(step.opname, step.argval) for step in dis.get_instructions(function) if step.opname not in _IDLE]


def _raises() -> None:
    raise NotImplementedError


def _raises_an_instance() -> None:
    raise NotImplementedError()


def _does_nothing() -> None: ...


_IDLE = ("RESUME", "NOP")
_EMPTY = [_steps(_unwrapped(stub)) for stub in (_raises, _raises_an_instance, _does_nothing)]
