"""A conversation with a job that is traced: questions go in, answers come out as untrusted bytes."""

import time

from transformer_course.sandbox import framing
from transformer_course.sandbox.interpreter import Interpreter

REASON_BYTES = 1 << 10
"""Size of the frame that says why a process ended."""


class Conversation:
    """The trusted end of a conversation.

    Args:
        interpreter: Where the job runs; it has been sent there.
        seconds: Time after which no answer can come any more.
        max_bytes: Size of each answer.
    """

    def __init__(self, interpreter: Interpreter, seconds: float, max_bytes: int) -> None:
        self._interpreter, self._timeout, self._max_bytes = interpreter, seconds, max_bytes
        self._is_waiting = False
        self.is_over = False
        """Whether the process has ended, so that no more answer comes."""
        self.waited = 0.0
        """Seconds for which other programs had the processors, which is known when it is over."""
        self.seconds = 0.0
        """Seconds for which answers were awaited."""
        self.reason = b""
        """Why the process ended, once it has."""

    def receive(self) -> bytes | None:
        """Return the answer that comes first, without a question; None if there is none any more."""
        return self._exchange()

    def ask(self, question: bytes) -> bytes | None:
        """Return the answer to a question; None if there is none any more."""
        return self._exchange(question)

    def end(self) -> bool:
        """End the job; return whether the process that looked after it is ready for another."""
        if self._is_waiting:  # it was left in the middle of an answer
            return False
        if not self.is_over:
            self._exchange(b"")
        return self.is_over and not self._is_waiting

    def _exchange(self, question: bytes | None = None) -> bytes | None:
        if self.is_over:
            return None
        self._is_waiting, begun = True, time.monotonic()
        try:
            if question is not None:
                self._interpreter.send(question)
            self.reason, _, waited = self._interpreter.receive(self._timeout, REASON_BYTES).partition(b"\n")
            answer = self._interpreter.receive(self._timeout, self._max_bytes)
        except (framing.BrokenFrame, TimeoutError):
            self.is_over = True
            return None
        finally:
            self.seconds += time.monotonic() - begun
        self._is_waiting = False
        self.is_over, self.waited = bool(self.reason), float(waited or 0.0)
        return None if self.is_over else answer
