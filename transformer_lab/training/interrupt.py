"""Ctrl-C, noted first and obeyed when it suits."""

import signal
import threading
from types import FrameType, TracebackType


class Interruption:
    """While it is entered, Ctrl-C, or a polite kill, is only noted, so that a step can be finished and saved.

    A second one is obeyed at once. Outside the main thread, where Python handles no signals, nothing is changed.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # it is what signal.signal gave

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
