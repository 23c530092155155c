"""Make sure that Ctrl-C is never lost.

Python drops a ``KeyboardInterrupt`` that arrives in a callback, such as those that end an import, and code that imports
C extensions may turn it into another error. So a command also remembers that Ctrl-C was pressed.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from types import FrameType

_is_requested = False


@contextmanager
def remembered_interrupts() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at the end of the block if Ctrl-C was pressed inside it, even if the block raised
    another error.

    Does nothing outside the main thread, where Python handles no signals.
    """
    global _is_requested
    _is_requested = False
    try:
        before = signal.signal(signal.SIGINT, _handle)
    except ValueError:  # this is not the main thread
        yield
        return
    try:
        yield
    except Exception:
        raise_if_interrupted()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    raise_if_interrupted()


def raise_if_interrupted() -> None:
    """Raise ``KeyboardInterrupt`` if Ctrl-C was pressed inside ``remembered_interrupts``."""
    if _is_requested:
        raise KeyboardInterrupt


def _handle(number: int, frame: "FrameType | None") -> None:
    global _is_requested
    _is_requested = True
    raise KeyboardInterrupt
