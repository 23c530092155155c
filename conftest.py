"""What tests and the lessons that pytest runs find in their environment, set before any of them starts."""

import os
import tempfile

import pytest

os.environ |= {
    "TRANSFORMER_LAB_CHECK_SHAPES": "1",  # read when the library is first imported
    "TRANSFORMER_LAB_STRICT": "0",  # lessons run as published, with nothing solved
    "TRANSFORMER_LAB_PARTS": "",  # and with nothing that was solved in another lesson
    "OMP_NUM_THREADS": "1",
}


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests away from the learner's copy of the lessons."""
    lessons = tempfile.TemporaryDirectory(prefix="lessons-")
    os.environ["TRANSFORMER_LAB_LESSONS"] = lessons.name
    config.add_cleanup(lessons.cleanup)
