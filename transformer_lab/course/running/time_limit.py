"""Stop code that runs too long."""

import contextlib
import ctypes
import threading
from collections.abc import Iterator


class TookTooLong(BaseException):  # not an Exception: a learner's own `except Exception` must not catch it
    """The code inside ``time_limit`` was stopped."""


_limited = threading.local()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TookTooLong`` inside the block once it has run for a number of seconds.

    It works on every platform and in any thread, but only between two steps of Python: one very long call
    into C (a sleep, a huge product) ends first, and code that catches everything, always, goes on. The grader has the
    operating system for those. Inside another such block, the outer one counts.
    """
    if getattr(_limited, "now", False):
        yield
        return
    # Locks made in C: an exception that arrives inside one written in Python could leave it held.
    thread, sending, over = threading.get_ident(), threading.Lock(), threading.Lock()
    finished = sent = False
    over.acquire()

    def send(error: type[BaseException] | None) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
        )

    def watch() -> None:
        nonlocal sent
        wait = seconds
        while not over.acquire(timeout=wait):
            with sending:
                if not finished:
                    sent = True
                    send(TookTooLong)
            wait = 0.2  # and again, in case the code caught it and went on

    def stop() -> None:
        nonlocal finished
        with sending:
            finished = True
            if sent:  # and not yet arrived: it must not surface in other code. (To send None for nothing slows Python.)
                send(None)
        _limited.now = False
        if over.locked():
            over.release()

    _limited.now = True
    try:
        with contextlib.suppress(RuntimeError):  # the code has used up all threads: the jail has the operating system
            threading.Thread(target=watch, daemon=True).start()
        yield
    finally:
        try:
            stop()
        except TookTooLong:  # it arrived just here: the block had ended anyway
            stop()
