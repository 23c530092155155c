"""Explain errors caused by the sandbox's limits, because the system's own messages would confuse readers."""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, cast

from transformer_course.running.observation import CrashReport
from transformer_course.sandbox.resource_limits import Limits


def name_limits(answer: Mapping[str, Any], limits: Limits, took_mb: int) -> None:
    """Add the name of the limit to the message of each error that was caused by a limit.

    Args:
        answer: The result of ``run_job``, whose messages are changed.
        limits: The limits of the job.
        took_mb: The job's memory use.
    """
    for report in _crash_reports(answer):
        if cause := _cause(report, limits, took_mb):
            report["message"] = f"{report['message']} ({cause})".lstrip()


def is_much(took_mb: int, limits: Limits) -> bool:
    """Return whether a job may have timed out because its memory grew without bound."""
    return took_mb > limits.memory_mb // 2


def peak_kb() -> int:
    """Return the peak memory of this process in KB, or 0 if the system does not report it."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _crash_reports(answer: Mapping[str, Any]) -> Iterator[CrashReport]:
    for result in (answer.get("crash"), *(observed.get("error") for observed in answer.get("records", ()))):
        if result:
            yield cast(CrashReport, result)


def _cause(report: CrashReport, limits: Limits, took_mb: int) -> str:
    if report["type"] == "TookTooLong" and is_much(took_mb, limits):
        return f"by then it had taken {took_mb} of at most {limits.memory_mb} MB of memory"
    message = f"{report['type']}: {report['message']}"
    causes = {
        r"^MemoryError|allocate memory": f"the limit is {limits.memory_mb} MB of memory",
        r"^BlockingIOError: \[Errno 11\]|start new thread": f"the limit is {limits.processes} processes and threads",
        r"\[Errno 28\]": f"the limit is {limits.disk_mb} MB and {limits.files} files",
        r"\[Errno 24\]": f"the limit is {limits.open_files} open files",
        r"\[Errno 27\]": f"the limit is {limits.file_mb} MB in one file",
        r"^FileNotFoundError: .*'/": "graded code sees no files outside its own folder",
        r"^FileNotFoundError: \[Errno 2\] No such file or directory$": "graded code may start no processes that share "
        "memory",  # the semaphores of multiprocessing are files without a name in the message
        r"^PermissionError": "graded code may use neither the network nor files outside its own folder, "
        "and start no processes that share memory",
    }
    return next((cause for pattern, cause in causes.items() if re.search(pattern, message)), "")
