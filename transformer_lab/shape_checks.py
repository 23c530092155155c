"""Check calls against their shape annotations, once for each kind of call.

Training and decoding make the same call thousands of times, and a check takes longer than many small layers. The
outcome of a check depends only on the shapes and types of the arguments and of the result, and on integer arguments
that stand for sizes. So a call that matches an earlier call in all these respects is not checked again. Functions
without shape annotations are not checked at all; mypy checks their types.
"""

import threading
from collections.abc import Callable, Collection, Hashable
from functools import cache, wraps
from typing import Any, Literal, get_args, get_origin

import jaxtyping
from beartype import BeartypeConf, beartype
from torch import Tensor

MAX_CACHED_CALLS = 10_000
_JAXTYPED = jaxtyping.jaxtyped
_HOOK = jaxtyping.install_import_hook.__module__
_BEARTYPE = beartype(conf=BeartypeConf(is_pep484_tower=True))
"""Type checks with the numeric tower: an int is accepted as a float."""

_COMPUTED = threading.local()
"""Thread-local state: ``result`` is the return value of the call while that value is being checked."""


class _Unknown(Exception):
    """Raised if the check of a value may depend on more than the value's kind."""


def install(*packages: str) -> None:
    """Check calls of functions with shape annotations in all modules of these packages that are imported later."""
    jaxtyping.install_import_hook(packages, None)
    jaxtyping.jaxtyped = _jaxtyped


def _jaxtyped(*args: Any, **keywords: Any) -> Any:
    """Replace ``jaxtyping.jaxtyped``, but only for calls from jaxtyping's import hook."""
    by_hook = getattr(keywords.get("typechecker"), "__module__", None) == _HOOK
    return checked if by_hook else _JAXTYPED(*args, **keywords)


def checked(thing: Any) -> Any:
    """Return a wrapped class or function that also checks shapes, or the original if it has no shape annotations."""
    if isinstance(thing, type):
        return _JAXTYPED(typechecker=_BEARTYPE)(thing)
    return check_once(thing) if has_shapes(thing) else thing


def has_shapes(function: Callable[..., Any]) -> bool:
    """Return whether a function's annotations contain a shape, or an unevaluated string that may contain a shape."""
    return any(map(_has_shapes, function.__annotations__.values()))


def _has_shapes(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, jaxtyping.AbstractArray):
        return True
    if get_origin(annotation) is Literal:  # the strings in a Literal are not annotations
        return False
    # The annotation of a callable contains a list of its arguments.
    parts = annotation if isinstance(annotation, list) else get_args(annotation)
    return isinstance(annotation, str) or any(map(_has_shapes, parts))


def check_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapped function that checks arguments and result unless the same kind of call has passed before.

    Args:
        function: A function with shape annotations.
    """
    passed: dict[Hashable, set[Hashable]] = {}

    @cache
    def full_check() -> Callable[..., Any]:  # created on first use, because most imported functions are never called
        return _JAXTYPED(typechecker=_BEARTYPE)(function)

    @cache
    def result_check() -> Callable[..., Any]:
        return _JAXTYPED(typechecker=_BEARTYPE)(wraps(function)(lambda *_, **__: vars(_COMPUTED).pop("result")))

    @wraps(function)
    def check(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        try:
            kind = (_kind(args), *keywords, _kind(tuple(keywords.values())))
        except _Unknown:
            return full_check()(*args, **keywords)
        results = passed.get(kind)
        if results is None:
            result = full_check()(*args, **keywords)
            if len(passed) >= MAX_CACHED_CALLS:
                passed.clear()
            passed[kind] = _kinds(result)
            return result
        result = function(*args, **keywords)
        kinds = _kinds(result)
        if not kinds or not kinds <= results:
            _COMPUTED.result = result
            result_check()(*args, **keywords)  # checks arguments and result without calling the function again
            results |= kinds
        return result

    return check


def _kinds(result: Any) -> set[Hashable]:
    """Return a set with the kind of a result, or an empty set if a check may depend on more than the kind."""
    try:
        return {_kind(result)}
    except _Unknown:
        return set()


def _kind(value: Any) -> Hashable:
    """Return a key with every property of a value that can affect a check.

    Raises:
        _Unknown: The value is a collection, where every item can affect the check.
    """
    if isinstance(value, Tensor):
        return type(value), value.shape, value.dtype
    if type(value) is tuple:
        return tuple(map(_kind, value))
    if value is None or isinstance(value, int | float | str | type):  # a size, or a value of a Literal
        return type(value), value
    if isinstance(value, Collection):
        raise _Unknown
    return (type(value),)
