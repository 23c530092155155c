"""Configure all tests: shape checks, one torch thread, no display, and no deadline for property tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.own_exercises import OWN_EXERCISES
from tests.helpers.thoroughness import Thoroughness

os.environ["TRANSFORMER_LAB_CHECK_SHAPES"] = "1"  # must be set before the library is imported


@pytest.fixture
def own_file(tmp_path: Path) -> Iterator[Path]:
    """A file with an instructor's own exercises, which are unregistered after the test."""
    from transformer_course import exercises

    path = tmp_path / "week_3.py"
    path.write_text(OWN_EXERCISES)
    yield path
    exercises.remove_own_lessons()


def pytest_configure(config: pytest.Config) -> None:
    """Prepare this process if it runs tests itself.

    A process that only waits for workers does not have to import torch, which is slow.
    """
    if config.getoption("dist", "no") == "no":
        _prepare(Thoroughness(config.option.thorough, config.option.seed))


def _prepare(thoroughness: Thoroughness) -> None:
    import matplotlib
    import torch
    from hypothesis import Phase, settings

    from transformer_lab import shape_checks

    # Lessons do not check shapes in exercises, because that would slow down the first check, which loads all exercises.
    shape_checks.install("transformer_course.exercises")

    matplotlib.use("Agg")  # not set with MPLBACKEND, because the lessons' kernels would inherit it
    torch.set_num_threads(1)
    settings.register_profile(
        "tests",
        deadline=None,
        max_examples=thoroughness.examples,
        # Mutation tests fail on purpose, so they should fail fast and raise a plain AssertionError.
        phases=[phase for phase in Phase if phase != Phase.explain],
        report_multiple_bugs=False,
    )
    settings.load_profile("tests")
