"""Stop code that runs too long, and how long it may run in a lesson."""

import contextlib
import ctypes
import math
import threading
import time
from collections.abc import Iterator


class TookTooLong(BaseException):  # not an Exception: a learner's own `except Exception` must not catch it
    """The code inside ``time_limit`` was stopped."""


_limited = threading.local()

SECONDS_PER_CHECK = 10.0
"""Time of computing that all cases of one check may take together: loops in plain Python are slow, but may be right."""
MAX_IDLE_S = 12.0
"""Seconds of the clock after which a check is stopped if the code computes next to nothing, as in a sleep."""
MIN_BUSY_FRACTION = 0.01
"""Code that gets at least this fraction of a processor is not idle, however many other programs are running."""
SHORTEST_WAIT = 0.001
"""Seconds of the clock between two checks of how much has been computed."""


class Stopwatch:
    """How long a block has run since this was made, and how long it has computed."""

    def __init__(self) -> None:
        self._begun, self._begun_computing = time.monotonic(), time.process_time()
        self._busy_until, self._busy_computing = 0.0, 0.0

    @property
    def clock(self) -> float:
        """Seconds of the clock."""
        return time.monotonic() - self._begun

    @property
    def computing(self) -> float:
        """Seconds of processor time of this process; threads side by side count once, so never more than the clock."""
        return min(time.process_time() - self._begun_computing, self.clock)

    def left(self, seconds: float, clock: float | None, max_idle: float = math.inf) -> float:
        """Return the seconds that are left at least, of a number by the clock, or of computing with a ``clock``."""
        if clock is None:
            return seconds - self.clock
        now, computing = self.clock, self.computing
        if computing - self._busy_computing >= MIN_BUSY_FRACTION * max_idle:
            self._busy_until, self._busy_computing = now, computing
        return min(seconds - computing, clock - now, self._busy_until + max_idle - now)


@contextlib.contextmanager
def time_limit(seconds: float, clock: float | None = None, max_idle: float = math.inf) -> Iterator[None]:
    """Raise ``TookTooLong`` inside the block once it has run for a number of seconds.

    With ``clock``, the seconds are those of computing: on a machine that does other work as well, the block gets as
    much as elsewhere. What computes nothing, such as a sleep, is stopped after ``clock`` seconds of the clock, or as
    soon as it has computed next to nothing for ``max_idle`` seconds.

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
    stopwatch = Stopwatch()

    def send(error: type[BaseException] | None) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
        )

    def watch() -> None:
        nonlocal sent
        while (wait := stopwatch.left(seconds, clock, max_idle)) > 0:
            if over.acquire(timeout=max(wait, SHORTEST_WAIT)):
                return
        while True:
            with sending:
                if not finished:
                    sent = True
                    send(TookTooLong)
            if over.acquire(timeout=0.2):  # and again, in case the code caught it and went on
                return

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
        with contextlib.suppress(
            RuntimeError
        ):  # the code has used up all threads: the sandbox has the operating system
            threading.Thread(target=watch, daemon=True).start()
        yield
    finally:
        try:
            stop()
        except TookTooLong:  # it arrived just here: the block had ended anyway
            stop()
