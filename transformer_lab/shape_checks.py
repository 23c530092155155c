"""Check calls against the shapes that their annotations promise: each kind of call once.

Training and decoding make the same call thousands of times, and to check it takes longer than many a small layer. What
an annotation promises depends on the shapes and types of the arguments, and on the numbers among them that stand for
sizes, so a call that is like an earlier one in all of these needs no second look, if its result is like the earlier one
too. What has no shapes needs none at all: other types are checked without running anything.
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
"""With the numeric tower: where a float is wanted, 0 will do."""

_COMPUTED = threading.local()
"""Its ``result`` is what a call has returned, while that is checked."""


class _Unknown(Exception):
    """What an annotation says of a value may depend on more than its kind."""


def install(*packages: str) -> None:
    """Check the calls of functions with shapes in all modules of some packages that are imported from now on."""
    jaxtyping.install_import_hook(packages, None)
    jaxtyping.jaxtyped = _jaxtyped


def _jaxtyped(*args: Any, **keywords: Any) -> Any:
    """Take the place of ``jaxtyping.jaxtyped`` where its import hook calls it, and there alone."""
    by_hook = getattr(keywords.get("typechecker"), "__module__", None) == _HOOK
    return checked if by_hook else _JAXTYPED(*args, **keywords)


def checked(thing: Any) -> Any:
    """Return a class or function that does the same, and checks shapes, or the thing itself if it has none."""
    if isinstance(thing, type):
        return _JAXTYPED(typechecker=_BEARTYPE)(thing)
    return check_once(thing) if has_shapes(thing) else thing


def has_shapes(function: Callable[..., Any]) -> bool:
    """Return whether an annotation of a function has a shape, or may have one: it is text that is not evaluated yet."""
    return any(map(_has_shapes, function.__annotations__.values()))


def _has_shapes(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, jaxtyping.AbstractArray):
        return True
    if get_origin(annotation) is Literal:  # its strings are values
        return False
    parts = annotation if isinstance(annotation, list) else get_args(annotation)  # a list: the arguments of a callable
    return isinstance(annotation, str) or any(map(_has_shapes, parts))


def check_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same, and checks its arguments and result unless it has seen such a call before.

    Args:
        function: A function with the annotations to check.
    """
    passed: dict[Hashable, set[Hashable]] = {}

    @cache
    def in_full() -> Callable[..., Any]:  # made when it is first needed: of what is imported, most is never called
        return _JAXTYPED(typechecker=_BEARTYPE)(function)

    @cache
    def of_result() -> Callable[..., Any]:
        return _JAXTYPED(typechecker=_BEARTYPE)(wraps(function)(lambda *_, **__: vars(_COMPUTED).pop("result")))

    @wraps(function)
    def check(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        try:
            kind = (_kind(args), *keywords, _kind(tuple(keywords.values())))
        except _Unknown:
            return in_full()(*args, **keywords)
        results = passed.get(kind)
        if results is None:
            result = in_full()(*args, **keywords)
            if len(passed) >= MAX_CACHED_CALLS:
                passed.clear()
            passed[kind] = _kinds(result)
            return result
        result = function(*args, **keywords)
        kinds = _kinds(result)
        if not kinds or not kinds <= results:
            _COMPUTED.result = result
            of_result()(*args, **keywords)  # beside its arguments, and without computing it again
            results |= kinds
        return result

    return check


def _kinds(result: Any) -> set[Hashable]:
    """Return the kind of a result as a set, which is empty if an annotation can ask for more."""
    try:
        return {_kind(result)}
    except _Unknown:
        return set()


def _kind(value: Any) -> Hashable:
    """Return all of a value that an annotation can ask for.

    Raises:
        _Unknown: That would be each item of a collection.
    """
    if isinstance(value, Tensor):
        return type(value), value.shape, value.dtype
    if type(value) is tuple:
        return tuple(map(_kind, value))
    if value is None or isinstance(value, int | float | str | type):  # a size, or one of the values of a Literal
        return type(value), value
    if isinstance(value, Collection):
        raise _Unknown
    return (type(value),)
