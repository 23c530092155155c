"""Inspect an attempt without running it: its functions, and the notebook variables and functions that it uses."""

import ast
import dis
import functools
import inspect
import math
import textwrap
from types import CodeType, FunctionType
from typing import Any, TypedDict

import numpy as np
from torch import Tensor, nn

from transformer_course.running.dependencies import names_of_function

DATA_TYPES = (Tensor, np.ndarray, bool, int, float, complex, str, list, tuple, dict, set)
"""Types of the variables that experiments leave in a notebook, unlike functions, classes, modules and ``parts``."""
GRADIENT_CUTS = (
    "detach",
    "detach_",
    "no_grad",
    "inference_mode",
    "data",
    "item",
    "numpy",
    "tolist",
    "tensor",
    "as_tensor",
)
"""Attributes of tensors, and torch functions, that block gradients."""


class NotebookDependencies(TypedDict):
    """The notebook variables that an attempt ``reads``, and the ``unfinished`` functions that it calls."""

    reads: list[str]
    unfinished: list[str]


def exercise_name(attempt: Any, name: Any) -> str | None:
    """Return the exercise's name for an attempt, or None if the object has no name."""
    if isinstance(name, str):
        return name
    try:
        called = attempt if name is None else name
        while isinstance(called, functools.partial):
            called = called.func
        if called.__name__ == "<lambda>":  # find the variable that it was assigned to
            variables = [variable for variable, value in called.__globals__.items() if value is called]
            return variables[0] if variables else "<lambda>"
        return called.__name__ if isinstance(called.__name__, str) else None
    except Exception:  # the object has no name, or inspecting it raises an exception
        return None


def functions_of(attempt: Any) -> list[FunctionType]:
    """List an attempt's functions, without decorators and partials, or the methods that a class itself defines."""
    try:
        while isinstance(attempt, functools.partial):
            attempt = attempt.func
        if isinstance(attempt, FunctionType):
            return [function for function in [_unwrapped(attempt)] if isinstance(function, FunctionType)]
        kind = attempt if isinstance(attempt, type) else type(attempt)
        members = [attempt]
        for base in kind.__mro__:
            if base.__module__ == kind.__module__:  # the class and its base classes in the same module
                members += vars(base).values()
        return [function for function in map(_unwrapped, members) if isinstance(function, FunctionType)]
    except Exception:  # inspecting an object may raise an exception
        return []


def files_of(attempt: Any) -> set[str]:
    """Return the names of the files or cells that contain the functions of an attempt."""
    return {function.__code__.co_filename for function in functions_of(attempt)}


def notebook_dependencies(attempt: Any) -> NotebookDependencies:
    """Return the notebook names that an attempt uses, directly or through other functions of the notebook.

    Uppercase constants and constants of ``math`` are exempt because they are meant to be read.
    """
    reads: dict[str, None] = {}
    unfinished: dict[str, None] = {}
    try:
        reached = [f for f in functions_of(attempt) if f.__globals__.get("__name__") == "__main__"]
        for function in reached:  # the list grows during iteration
            for name in names_of_function(function.__code__):
                value = function.__globals__.get(name)
                if type(value) is FunctionType and value.__globals__ is function.__globals__:
                    if _is_empty(value):
                        unfinished[name] = None
                    elif value not in reached:
                        reached.append(value)
                elif isinstance(value, DATA_TYPES) and not name.isupper() and not _is_of_math(name, value):
                    reads[name] = None
    except Exception:  # inspecting another object of the notebook may raise an exception
        return {"reads": [], "unfinished": []}
    return {"reads": list(reads), "unfinished": list(unfinished)}


def line_of_stub(attempt: Any) -> int | None:
    """Return the line of a ``raise NotImplementedError`` left in finished code, or None."""
    try:
        for function in functions_of(attempt):
            lines, first = inspect.getsourcelines(function)
            definition = ast.parse(textwrap.dedent("".join(lines))).body[0]
            assert isinstance(definition, ast.FunctionDef)
            body = definition.body[1:] if ast.get_docstring(definition) else definition.body
            stubs = [
                node for node in body if isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node)
            ]
            if stubs and len(body) > len(stubs):
                return first + stubs[0].lineno - 1
    except Exception:  # the source is not available
        return None
    return None


def kept_between_calls(attempt: Any) -> list[Any]:
    """Return a fingerprint of the state that an attempt can keep from one call to the next.

    The state consists of its attributes, default arguments, closures, caches and the notebook variables that it uses.
    If a call changes the fingerprint, the attempt has kept a value.
    """
    try:
        kept: list[Any] = [vars(attempt)] if hasattr(attempt, "__dict__") else []
        if isinstance(attempt, nn.Module):
            kept += [part for module in attempt.modules() for part in (vars(module), module._buffers)]
        for function in functions_of(attempt):
            cells = [cell.cell_contents for cell in function.__closure__ or ()]
            named = [function.__globals__.get(name) for name in names_of_function(function.__code__)]
            kept += [vars(function), *(function.__defaults__ or ()), *cells, *named]
        caches = [getattr(attempt, "cache_info", None)]
        return [_identity(value) for value in kept] + [repr(info()) for info in caches if callable(info)]
    except Exception:  # inspecting an object may raise an exception
        return []


def _identity(value: Any) -> Any:
    if isinstance(value, dict):
        return id(value), {key: id(item) for key, item in value.items()}
    return (id(value), [*map(id, value)]) if isinstance(value, list | set) else id(value)


def gradient_cuts(attempt: Any) -> list[str]:
    """Return the items of ``GRADIENT_CUTS`` that occur in an attempt or in the notebook functions that it calls."""
    try:
        reached = functions_of(attempt)
        for function in reached:  # the list grows during iteration
            for name in names_of_function(function.__code__):
                value = function.__globals__.get(name)
                if type(value) is FunctionType and value.__module__ == function.__module__ and value not in reached:
                    reached.append(value)
        names = {name for function in reached for name in _attributes(function.__code__)}
        return [name for name in GRADIENT_CUTS if name in names]
    except Exception:  # inspecting another object of the notebook may raise an exception
        return []


@functools.lru_cache(maxsize=1024)  # called with the same arguments for every case of an attempt
def _attributes(code: CodeType) -> set[str]:
    own = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    return own.union(*(_attributes(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _unwrapped(thing: Any) -> Any:
    try:
        return inspect.unwrap(thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing)
    except Exception:  # inspecting an object may raise an exception
        return None


def _is_of_math(name: str, value: Any) -> bool:
    return isinstance(value, float) and repr(value) == repr(getattr(math, name, None))


def _is_empty(function: FunctionType) -> bool:
    """Return whether a function has no body yet except for its docstring."""
    return _instructions(function.__code__) in _EMPTY_BODIES


@functools.lru_cache(maxsize=1024)
def _instructions(code: CodeType) -> list[tuple[str, Any]]:
    return [(step.opname, step.argval) for step in dis.get_instructions(code) if step.opname not in _NO_OPERATION]


def _raises() -> None:
    raise NotImplementedError


def _raises_an_instance() -> None:
    raise NotImplementedError()


def _does_nothing() -> None: ...


_NO_OPERATION = ("RESUME", "NOP")
_EMPTY_BODIES = [_instructions(_unwrapped(stub).__code__) for stub in (_raises, _raises_an_instance, _does_nothing)]
