"""See whether an answer calls the very function that it should have been, of the library or of torch.

However it is imported, renamed or wrapped, a function of Python has its code, and one of torch passes by torch's own
hook. It is looked at in the calls that are for gradients, which nobody times.
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
    """Say which names count from now on."""
    global _names
    _names = frozenset(names)
    _found.clear()


def found() -> list[str]:
    """Return what was called so far, such as ``transformer_lab.attention.softmax``."""
    return list(_found)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Look at what is called in the block."""
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
        """Run a function of torch, and note its name."""
        name = getattr(func, "__name__", "").strip("_").removeprefix("special_")
        if name in _names:
            _found[f"torch.{name}"] = None
        return func(*args, **(kwargs or {}))
