"""Detect whether an answer calls the library's or torch's implementation of the function that it should implement.

A Python function is recognized by its code object, and a torch function by ``TorchFunctionMode``, so imports, aliases
and wrappers don't hide a call. Only calls that compute gradients are watched, because these calls are not timed.
"""

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from types import FrameType
from typing import Any

from torch.overrides import TorchFunctionMode

_names: Collection[str] = ()
_found: dict[str, None] = {}


def look_for(names: Collection[str]) -> None:
    """Set the names to detect from now on."""
    global _names
    _names = frozenset(names)
    _found.clear()


def found() -> list[str]:
    """Return the names of the functions called so far, such as ``transformer_lab.attention.softmax``."""
    return list(_found)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Detect calls inside the ``with`` block."""
    if not _names:
        yield
        return
    before = sys.getprofile()
    try:
        with _TorchCalls():
            sys.setprofile(_note_frame)
            yield
    finally:
        sys.setprofile(before)


def _note_frame(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        module, name = frame.f_globals.get("__name__"), frame.f_code.co_qualname.partition(".")[0]
        if name in _names and str(module).partition(".")[0] in ("transformer_lab", "torch"):
            _found[f"{module}.{name}"] = None


class _TorchCalls(TorchFunctionMode):
    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a torch function and record its name."""
        name = getattr(func, "__name__", "").strip("_").removeprefix("special_")
        if name in _names:
            _found[f"torch.{name}"] = None
        return func(*args, **(kwargs or {}))
