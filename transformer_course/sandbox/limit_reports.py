"""Explain errors caused by the sandbox's limits, because the system's own messages do not mention them."""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, cast

from transformer_course.running.observation import CrashReport
from transformer_course.sandbox.resource_limits import Limits


def name_limits(answer: Mapping[str, Any], limits: Limits, used_mb: int) -> None:
    """Name the limit in the message of each error that a limit caused.

    Args:
        answer: The result of ``run_job``; its messages are changed in place.
        limits: The limits of the job.
        used_mb: The job's memory use.
    """
    for report in _crash_reports(answer):
        if cause := _cause(report, limits, used_mb):
            report["message"] = f"{report['message']} ({cause})".lstrip()


def is_memory_use_high(used_mb: int, limits: Limits) -> bool:
    """Return whether a job may have timed out because its memory grew without bound."""
    return used_mb > limits.memory_mb // 2


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


def _cause(report: CrashReport, limits: Limits, used_mb: int) -> str:
    if report["type"] == "TookTooLong" and is_memory_use_high(used_mb, limits):
        return f"by then it was using {used_mb} MB of memory; the limit is {limits.memory_mb} MB"
    message = f"{report['type']}: {report['message']}"
    causes = {
        r"^MemoryError|allocate memory": f"the limit is {limits.memory_mb} MB of memory",
        r"^BlockingIOError: \[Errno 11\]|start new thread": f"the limit is {limits.processes} processes and threads",
        r"\[Errno 28\]": f"the limit is {limits.disk_mb} MB and {limits.files} files",
        r"\[Errno 24\]": f"the limit is {limits.open_files} open files",
        r"\[Errno 27\]": f"the limit is {limits.file_mb} MB in one file",
        r"^FileNotFoundError: .*'/": "graded code cannot access files outside its own folder",
        # The semaphores of multiprocessing are files, but the message does not contain a file name.
        r"^FileNotFoundError: \[Errno 2\] No such file or directory$": "graded code may not start processes that "
        "share memory",
        r"^PermissionError": "graded code may not use the network, use files outside its own folder, or start "
        "processes that share memory",
    }
    return next((cause for pattern, cause in causes.items() if re.search(pattern, message)), "")
