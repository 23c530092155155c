"""What a job may use."""

from dataclasses import asdict, dataclass

LARGEST = 1_000_000
"""More than any limit needs, and little enough for every system call."""


@dataclass(frozen=True)
class Limits:
    """What one exercise of one learner may use.

    Args:
        seconds: Of wall-clock time, for all its cases together.
        memory_mb: On top of what Python and torch take.
        processes: And threads.
        file_mb: Per file it writes.
        open_files: At once.
        answer_mb: Of observations it gives back.
    """

    seconds: float = 10.0
    memory_mb: int = 2048
    processes: int = 32
    file_mb: int = 16
    open_files: int = 64
    answer_mb: int = 16

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value <= LARGEST:
                raise ValueError(f"{name}={value} should be a number above 0 and not above {LARGEST:,}")

    @property
    def patience(self) -> float:
        """The seconds after which the process is killed: long enough for it to say itself that time is up."""
        return self.seconds + 1.0
