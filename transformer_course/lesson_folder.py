"""Find the folder of the published lessons, in a clone or in an installed package."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
INSTALLED_LESSONS = Path(__file__).parent / "notebooks"
"""The folder of the lessons in an installed package. In a clone, it is ``notebooks``."""


def is_clone() -> bool:
    """Return whether the course runs in a clone instead of an installed package."""
    return not INSTALLED_LESSONS.is_dir()


def published_lessons() -> Path:
    """Return the folder of the published lessons."""
    return REPOSITORY / "notebooks" if is_clone() else INSTALLED_LESSONS
