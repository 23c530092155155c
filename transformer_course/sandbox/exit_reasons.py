"""Why a job's process ended: as one word for programs, and as a sentence for the learner."""

import signal

from transformer_course.sandbox.resource_limits import Limits

WHILE_OTHERS_RAN = "but for most of them other programs had the processors"
"""What is said of a machine that is too busy."""
KILLED_REASONS = ("SIGKILL", "SIGTERM", "supervisor")
"""Reasons that mean twice in a row that others ended an answer: its process, or the sandbox's, was killed."""
LIMIT_SIGNALS = ("SIGXCPU", "SIGXFSZ", "SIGSYS")
"""Signals by which the system enforces a limit: a second run would end in the same way."""
BUSY_REASON = "busy"
"""The reason of an answer that others ended, too: other programs had the processors."""


def may_be_ended_by_others(reason: str) -> bool:
    """Return whether a job may have ended for something outside it, so that it is worth another run."""
    return reason == "supervisor" or (reason.lower().startswith("sig") and reason not in LIMIT_SIGNALS)


def exit_reason(code: int) -> str:
    """Return the name of an exit code: ``exit 0``, another status, or the fatal signal, such as ``SIGSEGV``.

    Args:
        code: Exit status, or the negative number of a signal, as ``os.waitstatus_to_exitcode`` returns it.
    """
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:  # a real-time signal, most of which have no name
        return f"signal {-code}"


def explain_exit(reason: str, limits: Limits) -> str:
    """Return the sentence that tells the learner why there is no answer.

    Args:
        reason: What ``exit_reason`` returns; or ``time``, ``size``, ``disk`` or ``memory`` if the process was killed
            for exceeding that limit, ``time and memory`` if it had taken much memory when time was up; ``busy`` if
            other programs had the processors most of it; ``unreadable`` if its answer makes no sense; or ``supervisor``
            if it killed or blocked its supervisor.
        limits: Limits that it ran under.
    """
    if reason in ("time", "SIGXCPU"):
        return f"Stopped: no answer within {limits.seconds:g} s. Either it never ends, or it is very slow."
    if reason == "busy":
        return (
            f"Stopped: no answer within {limits.clock:g} s, {WHILE_OTHERS_RAN}. "
            "If your code has not started them, the machine was too busy: ask for it to be graded again."
        )
    if reason == "time and memory":
        return (
            f"Stopped: no answer within {limits.seconds:g} s, and by then it had taken more than half of the "
            f"{limits.memory_mb} MB of memory that it may take. Does something in it grow without end?"
        )
    if reason == "memory":
        return f"Stopped: all that it started took more than {limits.memory_mb} MB of memory together."
    if reason == "disk":
        return f"Stopped: it wrote more than {limits.disk_mb} MB, or more than {limits.files} files."
    if reason == "size":
        return f"Stopped: it gave back more than {limits.answer_mb} MB."
    if reason == "supervisor":
        return "It ended, or kept busy, the process that looked after it."
    if reason == "unreadable":
        return (
            "What came back cannot be read. Has your code started a second process that answered as well, "
            "or does it write to files or pipes that it did not open?"
        )
    if reason.startswith("exit "):
        return f"Your code ended the process with {reason} before there was an answer. Is there an `exit` in it?"
    cause = {
        "SIGSEGV": "it broke into memory that is not its own, or a recursion went too deep",
        "SIGKILL": "it killed itself, or the machine ran out of memory",
        "SIGXFSZ": f"it wrote a file of more than {limits.file_mb} MB",
    }.get(reason, "something in it ended the process")
    return f"The process was ended by {reason}: {cause}."
