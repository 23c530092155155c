"""Tests that the accuracies stored for lesson 03 match its own models."""

import json
from itertools import product

import pytest
import torch

from authoring.stored_runs import defined
from authoring.train_neighbor_runs import (
    COMMAND,
    FILE,
    INPUTS,
    LESSON,
    LONG_RUN_STEPS,
    NEEDED,
    SEEDS,
    SHORT_RUN_STEPS,
    accuracies,
)

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_has_row_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    found = [(run["n_heads"], run["compared"], run["averaged"], run["seed"]) for run in CARD["runs"]]
    assert sorted(found) == sorted((n, *inputs, seed) for n, inputs, seed in product((1, 2), INPUTS, SEEDS))
    assert all((str(LONG_RUN_STEPS) in run) == (run["n_heads"] == 1) for run in CARD["runs"])


def test_accuracies_are_means_over_the_last_20_steps():
    def train(n_heads, **arguments):
        assert (n_heads, arguments.pop("steps")) == (3, LONG_RUN_STEPS)
        assert arguments == {"seed": 7, "compared": "both", "averaged": "positions", "width": 64}
        return None, torch.arange(float(LONG_RUN_STEPS))

    found = accuracies(3, "both", "positions", 7, LONG_RUN_STEPS, {"train": train})
    assert found == {str(SHORT_RUN_STEPS): SHORT_RUN_STEPS - 10.5, str(LONG_RUN_STEPS): LONG_RUN_STEPS - 10.5}


def test_command_reproduces_run_with_two_heads():
    [stored] = [run for run in CARD["runs"] if (run["n_heads"], run["seed"]) == (2, 0) and _inputs(run) == INPUTS[0]]
    again = accuracies(2, *INPUTS[0], 0, SHORT_RUN_STEPS, defined(NEEDED, LESSON))
    assert again[str(SHORT_RUN_STEPS)] == pytest.approx(stored[str(SHORT_RUN_STEPS)], abs=0.1)


def _inputs(run):
    return run["compared"], run["averaged"]
