"""Settings of every test: shapes are checked, one torch thread, no display, and no deadline for properties."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.own_exercises import OWN_EXERCISES
from tests.helpers.thoroughness import Thoroughness

os.environ["TRANSFORMER_LAB_CHECK_SHAPES"] = "1"  # read when the library is first imported; lessons inherit it


@pytest.fixture
def own_file(tmp_path: Path) -> Iterator[Path]:
    """A file with an instructor's own exercises, which are removed after the test."""
    from transformer_course import exercises

    path = tmp_path / "week_3.py"
    path.write_text(OWN_EXERCISES)
    yield path
    exercises.remove_own_lessons()


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a process for tests, unless it only waits for workers, because that would import torch for nothing."""
    if config.getoption("dist", "no") == "no":
        _prepare(Thoroughness(config.option.thorough, config.option.seed))


def _prepare(thoroughness: Thoroughness) -> None:
    import matplotlib
    import torch
    from hypothesis import Phase, settings

    from transformer_lab import shape_checks

    # Only tests check shapes in the exercises: a lesson loads all of them with its first check.
    shape_checks.install("transformer_course.exercises")

    matplotlib.use("Agg")  # not with MPLBACKEND, which the kernels of lessons would inherit
    torch.set_num_threads(1)
    settings.register_profile(
        "tests",
        deadline=None,
        max_examples=thoroughness.examples,
        # Mutations fail on purpose: they should fail fast and raise a plain AssertionError.
        phases=[phase for phase in Phase if phase != Phase.explain],
        report_multiple_bugs=False,
    )
    settings.load_profile("tests")
