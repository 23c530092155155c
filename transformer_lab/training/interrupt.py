"""Let Ctrl-C stop a program between two steps instead of in the middle of a step."""

import signal
import threading
from types import FrameType, TracebackType


class Interruption:
    """A context manager in which the first SIGINT or SIGTERM only sets ``requested``, so a step can finish.

    A second signal raises ``KeyboardInterrupt``. Outside the main thread, the context manager has no effect.
    """

    def __init__(self) -> None:
        self.requested = False
        self._old_handlers: dict[int, object] = {}

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            self._old_handlers = {
                number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # signal.signal returned it

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
