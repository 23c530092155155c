"""Check calls against the shapes that their annotations promise: each kind of call once.

Training and decoding make the same call thousands of times, and to check it takes longer than many a small layer. What
an annotation promises depends on the shapes and types of the arguments, and on the numbers among them that stand for
sizes, so a call that is like an earlier one in all of these needs no second look.
"""

from collections.abc import Callable, Collection, Hashable
from functools import cache
from typing import Any

from beartype import BeartypeConf, beartype
from torch import Tensor

MOST = 10_000
"""So many kinds of calls of one function are remembered at most."""
_CONF = BeartypeConf(is_pep484_tower=True)
"""The numeric tower: where a float is wanted, 0 will do."""


class _Unknown(Exception):
    """What an annotation says of a value may depend on more than its kind."""


def check_once(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that checks its arguments as beartype does, unless it has seen arguments of the same kind.

    It is the type checker of jaxtyping's import hook, which calls it with the arguments, and with what comes back, too.

    Args:
        function: A function with the annotations to check.
    """
    passed: set[Hashable] = set()

    @cache
    def checked() -> Callable[..., None]:  # made when it is first needed: of what is imported, most is never called
        return beartype(conf=_CONF)(function)

    def check(*args: Any, **keywords: Any) -> None:
        __tracebackhide__ = True
        try:
            kind = (_kind(args), *keywords, _kind(tuple(keywords.values())))
        except _Unknown:
            checked()(*args, **keywords)
            return
        if kind not in passed:
            checked()(*args, **keywords)
            if len(passed) >= MOST:
                passed.clear()
            passed.add(kind)

    return check


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
