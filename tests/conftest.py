"""What holds for every test: shapes are checked, one torch thread, no screen, and no test fails for being slow."""

import os
from collections.abc import Iterator
from pathlib import Path

os.environ["TRANSFORMER_LAB_CHECK_SHAPES"] = "1"  # read when the library is first imported; lessons inherit it

import matplotlib
import pytest
import torch
from hypothesis import Phase, settings

from tests.helpers.own_exercises import OWN_EXERCISES
from tests.helpers.thoroughness import Thoroughness
from transformer_course import exercises
from transformer_lab import shape_checks

# Exercises are checked here and not wherever the library is: a lesson loads all of them with its first check.
shape_checks.install("transformer_course.exercises")

matplotlib.use("Agg")  # not by MPLBACKEND, which the kernels of lessons would inherit
torch.set_num_threads(1)
settings.register_profile(
    "tests",
    deadline=None,
    max_examples=Thoroughness(False, 0).examples,
    # Known mistakes fail on purpose: that should be quick, and raise a plain AssertionError.
    phases=[phase for phase in Phase if phase != Phase.explain],
    report_multiple_bugs=False,
)
settings.register_profile("thorough", settings.get_profile("tests"), max_examples=Thoroughness(True, 0).examples)


@pytest.fixture
def own_file(tmp_path: Path) -> Iterator[Path]:
    """A file with exercises of an instructor's own, which are forgotten afterwards."""
    path = tmp_path / "week_3.py"
    path.write_text(OWN_EXERCISES)
    yield path
    exercises.remove_own_lessons()


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples each property is tried on."""
    settings.load_profile("thorough" if config.option.thorough else "tests")
