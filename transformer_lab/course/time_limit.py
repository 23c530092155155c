"""Stop code that does not come back."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TookTooLong(BaseException):  # not an Exception: a learner's own `except Exception` must not catch it
    """The code inside ``time_limit`` was stopped."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TookTooLong`` inside this block once it has run for so many seconds.

    It works on every platform and in any thread, but only between two steps of Python: one very long call
    into C (a sleep, a huge product) ends first. The grader has the operating system for those.
    """
    thread, finished, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def send(error: type[BaseException] | None) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
        )

    def watch() -> None:
        wait = seconds
        while not finished.wait(wait):
            with lock:
                if not finished.is_set():
                    send(TookTooLong)
            wait = 0.2  # and again, in case the code caught it and went on

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        while not finished.is_set():
            try:
                with lock:
                    finished.set()
                    send(None)  # one sent but not yet arrived must not surface in somebody else's code
            except TookTooLong:  # it arrived just here: the block had ended anyway
                finished.clear()
