"""How much of a submission is read: a zip of a few kilobytes may hold notebooks that take gigabytes to parse."""

from transformer_course.grading.incoming.submitted_files import UnreadableFile

MAX_SUBMISSION_BYTES = 128 << 20
"""Size of all notebooks of a student together; a complete set of executed lessons has 8 MB."""
MAX_JSON_VALUES = 500_000
"""Number of commas and opening brackets in a notebook; the largest published lesson has 16,000."""
MAX_SUBMISSION_JSON_VALUES = 2_000_000
"""The same in all notebooks of a student together."""


class ReadingBudget:
    """What may still be read of a student's submission."""

    def __init__(self) -> None:
        self._bytes, self._values = MAX_SUBMISSION_BYTES, MAX_SUBMISSION_JSON_VALUES

    def check(self) -> None:
        """Check that something may still be read: to be called before a file is unpacked.

        Raises:
            UnreadableFile: The notebooks that were read before have used up the budget.
        """
        if self._bytes < 0 or self._values < 0:
            raise UnreadableFile(
                f"The submission is too large: all its notebooks together may have {MAX_SUBMISSION_BYTES >> 20} MB "
                f"and {MAX_SUBMISSION_JSON_VALUES:,} JSON values. Clear the outputs, or submit fewer notebooks."
            )

    def spend(self, content: bytes) -> None:
        """Count a notebook before it is parsed. Counting takes milliseconds; each value takes 60 bytes once parsed.

        Raises:
            UnreadableFile: The notebook has too many values, or the submission has.
        """
        n_values = sum(map(content.count, (b",", b"[", b"{")))
        self._bytes -= len(content)
        self._values -= n_values
        if n_values > MAX_JSON_VALUES:
            raise UnreadableFile(
                f"The notebook has {n_values:,} JSON values; at most {MAX_JSON_VALUES:,} are read. "
                "Clear the outputs and save it again."
            )
        self.check()
