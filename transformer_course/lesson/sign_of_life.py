"""Show that a slow check is running, and when it will be stopped."""

import contextlib
import contextvars
import os
import threading
import time
from collections.abc import Iterator

SILENT_S = 2.0
"""Most checks take less time, and show only their verdict."""


@contextlib.contextmanager
def sign_of_life(limit: float) -> Iterator[None]:
    """Tell a learner in a live notebook that the block is running, if it takes long.

    Args:
        limit: Seconds of processor time after which the block will be stopped.
    """
    if os.environ.get("TRANSFORMER_LAB_LIVE") != "1":  # not live, so the message would only add an output to store
        yield
        return
    from IPython.display import DisplayHandle

    begun, has_ended, handle = time.monotonic(), threading.Event(), DisplayHandle()

    def tell() -> None:
        if has_ended.wait(SILENT_S):
            return
        said = f"Your code is running. It is stopped once it has computed for {limit:.0f} seconds."
        handle.display({"text/plain": said}, raw=True)
        has_ended.wait()
        handle.update({"text/plain": f"The check took {time.monotonic() - begun:.0f} seconds."}, raw=True)

    context = contextvars.copy_context()  # carries the current cell
    thread = threading.Thread(target=context.run, args=(tell,), daemon=True)
    try:
        with contextlib.suppress(RuntimeError):  # too many threads
            thread.start()
        yield
    finally:
        has_ended.set()
        if thread.ident is not None:
            thread.join(SILENT_S)  # so that no message follows the verdict
