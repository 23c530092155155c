"""What holds for every test: shapes are checked, one torch thread, no screen, and no test fails for being slow."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.own_exercises import OWN_EXERCISES
from tests.helpers.thoroughness import Thoroughness

os.environ["TRANSFORMER_LAB_CHECK_SHAPES"] = "1"  # read when the library is first imported; lessons inherit it


@pytest.fixture
def own_file(tmp_path: Path) -> Iterator[Path]:
    """A file with exercises of an instructor's own, which are forgotten afterwards."""
    from transformer_course import exercises

    path = tmp_path / "week_3.py"
    path.write_text(OWN_EXERCISES)
    yield path
    exercises.remove_own_lessons()


def pytest_configure(config: pytest.Config) -> None:
    """Make a process ready for tests. One that leaves them to workers, who wait for it, need not import torch."""
    if config.getoption("dist", "no") == "no":
        _prepare(Thoroughness(config.option.thorough, config.option.seed))


def _prepare(thoroughness: Thoroughness) -> None:
    import matplotlib
    import torch
    from hypothesis import Phase, settings

    from transformer_lab import shape_checks

    # Exercises are checked here and not wherever the library is: a lesson loads all of them with its first check.
    shape_checks.install("transformer_course.exercises")

    matplotlib.use("Agg")  # not by MPLBACKEND, which the kernels of lessons would inherit
    torch.set_num_threads(1)
    settings.register_profile(
        "tests",
        deadline=None,
        max_examples=thoroughness.examples,
        # Mutations fail on purpose: that should be quick, and raise a plain AssertionError.
        phases=[phase for phase in Phase if phase != Phase.explain],
        report_multiple_bugs=False,
    )
    settings.load_profile("tests")
