"""Show that a slow check is still running and when it will be stopped."""

import contextlib
import contextvars
import os
import threading
import time
from collections.abc import Iterator

SILENT_S = 2.0
"""Seconds before the message appears. Most checks finish earlier and show only their verdict."""


@contextlib.contextmanager
def sign_of_life(limit: float) -> Iterator[None]:
    """In a live notebook, show a message if the block takes a long time.

    Args:
        limit: Seconds of CPU time after which the block will be stopped.
    """
    if os.environ.get("TRANSFORMER_LAB_LIVE") != "1":  # do not store the message in a notebook
        yield
        return
    from IPython.display import DisplayHandle

    start, has_ended, handle = time.monotonic(), threading.Event(), DisplayHandle()

    def report() -> None:
        if has_ended.wait(SILENT_S):
            return
        message = f"Your code is running. It is stopped once it has computed for {limit:.0f} seconds."
        handle.display({"text/plain": message}, raw=True)
        has_ended.wait()
        handle.update({"text/plain": f"The check took {time.monotonic() - start:.0f} seconds."}, raw=True)

    context = contextvars.copy_context()  # so that the message appears below the current cell
    thread = threading.Thread(target=context.run, args=(report,), daemon=True)
    try:
        with contextlib.suppress(RuntimeError):  # if there are too many threads, no message is shown
            thread.start()
        yield
    finally:
        has_ended.set()
        if thread.ident is not None:
            thread.join(SILENT_S)  # so that no message follows the verdict
