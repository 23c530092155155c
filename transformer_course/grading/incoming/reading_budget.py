"""Limits on the size of a submission, because parsing a zip of a few kilobytes may take gigabytes of memory."""

from transformer_course.grading.incoming.submitted_file import UnreadableFile

MAX_SUBMISSION_BYTES = 128 << 20
"""Maximum total size of a student's notebooks; a complete set of executed lessons takes 8 MB."""
MAX_JSON_VALUES = 500_000
"""Maximum number of commas and opening brackets in a notebook; the largest published lesson contains 16,000."""
MAX_SUBMISSION_JSON_VALUES = 2_000_000
"""Maximum number of commas and opening brackets in all of a student's notebooks."""


class ReadingBudget:
    """The remaining budget for reading a student's submission."""

    def __init__(self) -> None:
        self._bytes, self._values = MAX_SUBMISSION_BYTES, MAX_SUBMISSION_JSON_VALUES

    def check(self) -> None:
        """Check that the budget is not used up. Call this before unpacking each file.

        Raises:
            UnreadableFile: Earlier notebooks have used up the budget.
        """
        if self._bytes < 0 or self._values < 0:
            raise UnreadableFile(
                f"The submission is too large: all notebooks together may have at most {MAX_SUBMISSION_BYTES >> 20} MB "
                f"and {MAX_SUBMISSION_JSON_VALUES:,} JSON values. Clear the outputs, or submit fewer notebooks."
            )

    def spend(self, content: bytes) -> None:
        """Subtract a notebook from the budget. Call this before parsing, because each parsed value takes 60 bytes.

        Raises:
            UnreadableFile: The notebook or the submission contains too many values.
        """
        n_values = sum(map(content.count, (b",", b"[", b"{")))
        self._bytes -= len(content)
        self._values -= n_values
        if n_values > MAX_JSON_VALUES:
            raise UnreadableFile(
                f"The notebook has {n_values:,} JSON values; the limit is {MAX_JSON_VALUES:,}. "
                "Clear the outputs and save the notebook again."
            )
        self.check()
