"""How a process ended: in a word for programs, and in words for the learner."""

import signal

from transformer_lab.course.jail.limits import Limits


def ending(code: int) -> str:
    """Name an exit code: ``exit 0`` and other statuses, or the signal that ended the process, such as ``SIGSEGV``."""
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:  # one of the many that have no name
        return f"signal {-code}"


def in_words(how: str, limits: Limits) -> str:
    """Tell the learner why there is no answer.

    Args:
        how: The ending, or ``time`` or ``size`` if the process was stopped for taking too much of these, or ``keeper``
            if it ended or blocked what looks after it.
        limits: What it was allowed.
    """
    if how in ("time", "SIGXCPU"):
        return f"Stopped: no answer within {limits.seconds:g} s. Either a loop in it does not end, or it is very slow."
    if how == "size":
        return f"Stopped: it gave back more than {limits.answer_mb} MB."
    if how == "keeper":
        return "It ended, or kept busy, the process that looked after it."
    if how == "exit 0":
        return "What came back cannot be read. Does your code write to files or pipes that it did not open?"
    if how.startswith("exit "):
        return f"Your code ended the process with {how} before there was an answer. Is there an `exit` in it?"
    reason = {
        "SIGSEGV": "it broke into memory that is not its own, or a recursion went too deep",
        "SIGKILL": "it killed itself, or the machine ran out of memory",
        "SIGXFSZ": f"it wrote a file of more than {limits.file_mb} MB",
    }.get(how, "something in it ended the process")
    return f"The process was ended by {how}: {reason}."
