"""Stop code that runs too long, and define the time limits of a check."""

import contextlib
import ctypes
import math
import threading
import time
from collections.abc import Iterator


class TookTooLong(BaseException):  # not an Exception, which a learner's `except Exception` would catch
    """The code inside ``time_limit`` was stopped."""


_limited = threading.local()

SECONDS_PER_CHECK = 10.0
"""CPU time limit in seconds for all cases of one check. Plain Python loops are slow but may be correct."""
MAX_IDLE_S = 12.0
"""Seconds of wall-clock time after which code that uses almost no CPU time, such as a sleep, is stopped."""
MIN_BUSY_FRACTION = 0.01
"""Code that uses at least this fraction of a core is not idle. The fraction is small because other programs may use the
core."""
MIN_WAIT_S = 0.001
"""Minimum wall-clock time in seconds between two measurements of the CPU time."""


class Stopwatch:
    """A stopwatch for the wall-clock time and the CPU time since its creation."""

    def __init__(self) -> None:
        self._begun, self._begun_computing = time.monotonic(), time.process_time()
        self._busy_until, self._busy_computing = 0.0, 0.0

    @property
    def clock(self) -> float:
        """Wall-clock time in seconds."""
        return time.monotonic() - self._begun

    @property
    def computing(self) -> float:
        """CPU time of this process in seconds. Parallel threads count once, so it never exceeds wall-clock time."""
        return min(time.process_time() - self._begun_computing, self.clock)

    def left(self, seconds: float, clock: float | None, max_idle: float = math.inf) -> float:
        """Return a lower bound on the wall-clock time in seconds until a limit is reached.

        Args:
            seconds: The limit: CPU time if ``clock`` is given, otherwise wall-clock time.
            clock: The additional wall-clock limit, if there is one.
            max_idle: Seconds of wall-clock time that the code may be idle, if ``clock`` is given.
        """
        if clock is None:
            return seconds - self.clock
        now, computing = self.clock, self.computing
        if computing - self._busy_computing >= MIN_BUSY_FRACTION * max_idle:
            self._busy_until, self._busy_computing = now, computing
        return min(seconds - computing, clock - now, self._busy_until + max_idle - now)


def _raise_in(thread: int) -> None:
    """Make a thread raise ``TookTooLong`` before its next Python instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TookTooLong))


def _catch_pending(thread: int) -> None:
    """Raise and catch this thread's pending ``TookTooLong`` here, so that it is not raised in other code.

    Clearing the pending exception does not work: in Python 3.11, a flag stays set, which slows down all later code and
    makes any function called under a profiler hang.
    """
    with contextlib.suppress(TookTooLong):
        _raise_in(thread)  # replaces the pending exception
        while True:
            pass


@contextlib.contextmanager
def time_limit(seconds: float, clock: float | None = None, max_idle: float = math.inf) -> Iterator[None]:
    """Raise ``TookTooLong`` inside the block after a number of seconds.

    With ``clock``, the seconds are CPU time, so the limit does not depend on other programs. Code that uses no CPU
    time, such as a sleep, is stopped after ``clock`` seconds of wall-clock time, or once it has been idle for
    ``max_idle`` seconds.

    This works on every platform and in any thread, but only between two Python instructions: a long call into C (a
    sleep, a huge product) finishes first, and code that catches every exception continues. For these cases, the grader
    relies on the operating system. If such blocks are nested, only the outermost limit applies.
    """
    if getattr(_limited, "now", False):
        yield
        return
    # Use locks implemented in C, because an exception raised inside a Python lock could leave it locked.
    thread, sending, over = threading.get_ident(), threading.Lock(), threading.Lock()
    finished = sent = False
    over.acquire()
    stopwatch = Stopwatch()

    def watch() -> None:
        nonlocal sent
        while (wait := stopwatch.left(seconds, clock, max_idle)) > 0:
            if over.acquire(timeout=max(wait, MIN_WAIT_S)):
                return
        while True:
            with sending:
                if not finished:
                    sent = True
                    _raise_in(thread)
            if over.acquire(timeout=0.2):  # repeat, in case the code caught the exception and continued
                return

    def stop() -> None:
        nonlocal finished
        with sending:
            finished = True
        if sent:
            _catch_pending(thread)
        _limited.now = False
        if over.locked():
            over.release()

    _limited.now = True
    try:
        # If the code has used up all threads, only the operating system can stop it.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=watch, daemon=True).start()
        yield
    finally:
        try:
            stop()
        except TookTooLong:  # raised after the block had already ended
            stop()
