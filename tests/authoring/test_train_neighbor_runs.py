"""Tests that the accuracies stored for lesson 03 match the lesson's models."""

import json

import pytest
import torch

from authoring.stored_runs import defined
from authoring.train_neighbor_runs import (
    COMMAND,
    FILE,
    INPUTS,
    LESSON,
    LESSON_RATE,
    LONG_RUN_STEPS,
    LONGER_RUN_STEPS,
    NEEDED,
    SHORT_RUN_STEPS,
    accuracies,
    settings,
)

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_row_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    keys = ("n_heads", "compared", "averaged", "rate")
    found = [(*(run[key] for key in keys), run["seed"]) for run in CARD["runs"]]
    assert found == [(*(setting[key] for key in keys), seed) for setting, seeds in settings() for seed in seeds]
    assert all((str(LONG_RUN_STEPS) in run) == (run["n_heads"] == 1) for run in CARD["runs"])


@pytest.mark.parametrize(("n_heads", "steps"), [(1, LONG_RUN_STEPS), (2, LONGER_RUN_STEPS)])
def test_accuracies_are_means_over_20_steps(n_heads, steps):
    def train(heads, **arguments):
        assert (heads, arguments.pop("steps")) == (n_heads, steps)
        assert arguments == {"seed": 7, "rate": 0.5, "compared": "both", "averaged": "positions", "width": 64}
        return None, torch.arange(float(steps))

    found = accuracies(n_heads, "both", "positions", 0.5, 7, steps, {"train": train})
    assert found == {str(SHORT_RUN_STEPS): SHORT_RUN_STEPS - 10.5, str(steps): steps - 10.5}


def test_command_reproduces_run_with_two_heads():
    [stored] = [run for run in CARD["runs"] if (run["n_heads"], run["seed"]) == (2, 0) and _inputs(run) == INPUTS[0]]
    again = accuracies(2, *INPUTS[0], LESSON_RATE, 0, SHORT_RUN_STEPS, defined(NEEDED, LESSON))
    assert again[str(SHORT_RUN_STEPS)] == pytest.approx(stored[str(SHORT_RUN_STEPS)], abs=0.1)


def _inputs(run):
    return run["compared"], run["averaged"]
