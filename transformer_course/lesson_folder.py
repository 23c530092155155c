"""The folder of the published lessons: in the clone, or in the installed package."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
INSTALLED_LESSONS = Path(__file__).parent / "notebooks"
"""Where a wheel puts the lessons; a clone has them in ``notebooks``."""


def is_clone() -> bool:
    """Return whether the course runs in a clone, not from an installed package."""
    return not INSTALLED_LESSONS.is_dir()


def published_lessons() -> Path:
    """Return the folder of the published lessons."""
    return REPOSITORY / "notebooks" if is_clone() else INSTALLED_LESSONS
