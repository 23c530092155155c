"""Resource limits of one job."""

from dataclasses import asdict, dataclass

MAX_LIMIT = 1_000_000
"""Upper bound of every limit: more than any job needs, and small enough for every system call."""
GRACE_S = 1.0

CLOCK_FACTOR = 6.0
"""By the clock, a job may take this many times its time limit, where it is ready to run and other work goes on."""
MIN_CLOCK_S = 60.0
"""So long it may take at least there: a second is short where twenty programs share a processor."""
SUPERVISOR_TIMEOUT_S = 30.0
"""The supervisor enforces the time limit; if it is late by more than this, it is killed, with the fork server."""
MAX_JOB_BYTES = 1 << 30
"""Size of each of the parts of a job."""


@dataclass(frozen=True)
class Limits:
    """Resource limits of one exercise of one submission.

    Args:
        seconds: Wall-clock time for all cases together, less that for which other programs had the processors.
        memory_mb: Memory on top of what Python and torch take.
        processes: Number of processes and threads.
        file_mb: Size of each file that it writes.
        disk_mb: Size of all files together.
        files: Number of files and folders.
        open_files: Number of files that are open at once.
        answer_mb: Size of the observations that it returns.

    Raises:
        ValueError: A limit is not above 0, or is above ``MAX_LIMIT``.
    """

    seconds: float = 10.0
    memory_mb: int = 2048
    processes: int = 64
    file_mb: int = 16
    disk_mb: int = 64
    files: int = 10_000
    open_files: int = 64
    answer_mb: int = 16

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value <= MAX_LIMIT:
                raise ValueError(f"{name} must be above 0 and at most {MAX_LIMIT:,}; got {name}={value}")

    @property
    def kill_after(self) -> float:
        """Seconds after which the process is killed: long enough for it to report itself that time is up."""
        return self.seconds + self.grace

    @property
    def grace(self) -> float:
        """Seconds in which the process may still report that its time is up."""
        return min(GRACE_S, self.seconds / 4)

    @property
    def clock(self) -> float:
        """Seconds of the clock that all cases together may take on a busy machine."""
        return max(CLOCK_FACTOR * self.seconds, MIN_CLOCK_S)

    @property
    def killed_after(self) -> float:
        """Seconds of the clock after which the process has been killed, however busy the machine is."""
        return self.clock + self.grace
