"""Exchange requests and replies with a traced job. The replies are untrusted bytes."""

import time

from transformer_course.sandbox import framing
from transformer_course.sandbox.interpreter import Interpreter

REASON_BYTES = 1 << 10
"""Maximum size of the frame with the reason why a process ended."""


class Conversation:
    """The trusted side of a conversation with a traced job.

    Args:
        interpreter: The interpreter that runs the job.
        seconds: Time limit in seconds for all replies.
        max_bytes: Maximum size of each reply.
    """

    def __init__(self, interpreter: Interpreter, seconds: float, max_bytes: int) -> None:
        self._interpreter, self._timeout, self._max_bytes = interpreter, seconds, max_bytes
        self._is_waiting = False
        self.is_over = False
        """Whether the process has ended, after which there are no more replies."""
        self.waited = 0.0
        """Seconds during which other programs used the CPUs, set when the conversation ends."""
        self.seconds = 0.0
        """Seconds spent waiting for replies."""
        self.reason = b""
        """The reason why the process ended, or empty while it runs."""

    def receive(self) -> bytes | None:
        """Return the first reply, which needs no request, or None if the process has ended."""
        return self._exchange()

    def ask(self, question: bytes) -> bytes | None:
        """Return the reply to a request, or None if the process has ended."""
        return self._exchange(question)

    def end(self) -> bool:
        """End the job, and return whether its supervisor is ready for another job."""
        if self._is_waiting:  # the last exchange was interrupted in the middle of a reply
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
