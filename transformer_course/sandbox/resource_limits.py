"""Define the resource limits of a job."""

from dataclasses import asdict, dataclass

MAX_LIMIT = 1_000_000
"""Upper bound for every limit: more than any job needs, and small enough for every system call."""
GRACE_S = 1.0

CLOCK_FACTOR = 6.0
"""Maximum wall-clock time of a job on a busy machine, as a multiple of the job's time limit."""
MIN_CLOCK_S = 60.0
"""Lower bound for the maximum wall-clock time: short limits are not enough if twenty programs share a CPU."""
SUPERVISOR_TIMEOUT_S = 30.0
"""Seconds that a supervisor may take to enforce a time limit before it is killed together with the fork server."""
MAX_JOB_BYTES = 1 << 30
"""Maximum size of each part of a job."""


@dataclass(frozen=True)
class Limits:
    """Resource limits for one exercise in one submission.

    Args:
        seconds: Wall-clock time for all cases, minus the time during which other programs used the CPUs.
        memory_mb: Memory in addition to Python and torch.
        processes: Number of processes and threads.
        file_mb: Size of each written file.
        disk_mb: Size of all files.
        files: Number of files and folders.
        open_files: Number of open files.
        answer_mb: Size of the reply.

    Raises:
        ValueError: A limit is not positive, or exceeds ``MAX_LIMIT``.
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
        """Seconds until the process is killed, including time for the process to report a timeout itself."""
        return self.seconds + self.grace

    @property
    def grace(self) -> float:
        """Seconds in which the process may still report its timeout."""
        return min(GRACE_S, self.seconds / 4)

    @property
    def clock(self) -> float:
        """Maximum wall-clock seconds for all cases on a busy machine."""
        return max(CLOCK_FACTOR * self.seconds, MIN_CLOCK_S)

    @property
    def max_kill_after(self) -> float:
        """Wall-clock seconds after which the process is killed even if the machine is busy."""
        return self.clock + self.grace
