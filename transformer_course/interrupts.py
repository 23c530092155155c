"""Ensure that a command reacts to Ctrl-C.

Python drops a ``KeyboardInterrupt`` that is raised in a callback, such as at the end of an import, and code that
imports C extensions may turn the interrupt into a different error. A command therefore also records that Ctrl-C was
pressed.
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
    """Raise ``KeyboardInterrupt`` at the end of the block if Ctrl-C was pressed inside the block.

    The interrupt replaces any other error raised in the block. Outside the main thread, where Python handles no
    signals, this context manager does nothing.
    """
    global _is_requested
    _is_requested = False
    try:
        previous_handler = signal.signal(signal.SIGINT, _handle)
    except ValueError:  # this is not the main thread
        yield
        return
    try:
        yield
    except Exception:
        raise_if_interrupted()
        raise
    finally:
        signal.signal(signal.SIGINT, previous_handler)
    raise_if_interrupted()


def raise_if_interrupted() -> None:
    """Raise ``KeyboardInterrupt`` if Ctrl-C was pressed since the block of ``remembered_interrupts`` began."""
    if _is_requested:
        raise KeyboardInterrupt


def _handle(number: int, frame: "FrameType | None") -> None:
    global _is_requested
    _is_requested = True
    raise KeyboardInterrupt
