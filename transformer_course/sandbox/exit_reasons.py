"""Explain why a job's process ended, with a keyword for programs and a sentence for the learner."""

import signal

from transformer_course.sandbox.resource_limits import Limits

WHILE_OTHERS_RAN = "but other programs used the CPUs most of that time"
"""Part of the message that is shown if the machine is too busy."""
KILLED_REASONS = ("SIGKILL", "SIGTERM", "supervisor")
"""If an answer ends twice for one of these reasons, another process killed the answer or the sandbox."""
LIMIT_SIGNALS = ("SIGXCPU", "SIGXFSZ", "SIGSYS")
"""Signals that enforce a limit, so that a second run would end in the same way."""
BUSY_REASON = "busy"
"""Reason for an answer that ran out of time because other programs used the CPUs."""


def may_be_ended_by_others(reason: str) -> bool:
    """Return whether another process may have ended the job, in which case the job should run again."""
    return reason == "supervisor" or (reason.lower().startswith("sig") and reason not in LIMIT_SIGNALS)


def exit_reason(code: int) -> str:
    """Return the name of an exit code: ``exit 0``, another status, or the fatal signal, such as ``SIGSEGV``.

    Args:
        code: Exit status or negative signal number, from ``os.waitstatus_to_exitcode``.
    """
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:  # most real-time signals have no name
        return f"signal {-code}"


def explain_exit(reason: str, limits: Limits) -> str:
    """Return a sentence for the learner that explains why there is no result.

    Args:
        reason: The result of ``exit_reason``; or ``time``, ``size``, ``disk`` or ``memory`` if the process was killed
            for exceeding that limit; ``time and memory`` if it timed out with high memory use; ``busy`` if other
            programs used the CPUs most of the time; ``unreadable`` if its reply is invalid; or ``supervisor`` if the
            job killed or blocked its supervisor.
        limits: The limits of the job.
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
        return "It killed or blocked the process that supervises it."
    if reason == "unreadable":
        return (
            "What came back cannot be read. Has your code started a second process that answered as well, "
            "or does it write to files or pipes that it did not open?"
        )
    if reason.startswith("exit "):
        return f"Your code ended the process with {reason} before there was an answer. Is there an `exit` in it?"
    cause = {
        "SIGSEGV": "it accessed memory it does not own (segmentation fault), or a recursion was too deep",
        "SIGKILL": "it killed itself, or the machine ran out of memory",
        "SIGXFSZ": f"it wrote a file of more than {limits.file_mb} MB",
    }.get(reason, "something in it ended the process")
    return f"The process was ended by {reason}: {cause}."
