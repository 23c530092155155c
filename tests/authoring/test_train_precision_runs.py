"""Tests that the losses stored for lesson 13 match the lesson's models and support its claims."""

import json
from itertools import product

import pytest

from authoring.stored_runs import defined
from authoring.train_precision_runs import COMMAND, FILE, LESSON, NEEDED, PRECISION_RATES, PRECISIONS, SEEDS, precision

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_run_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    found = [(run["rate"], run["kind"], run["seed"]) for run in CARD["precisions"]]
    assert found == list(product(PRECISION_RATES, PRECISIONS, SEEDS))


def test_reported_losses_average_ten_steps():
    def train_in_16_bits(*arguments):
        assert arguments == (7, True, False, 0.5)
        return [float(step) for step in range(60)], 0.25

    found = precision(0.5, "mixed precision", 7, {"train_in_16_bits": train_in_16_bits})
    assert found == {"losses": [4.5, 14.5, 24.5, 34.5, 44.5, 54.5], "unchanged": 0.25}


def test_command_reproduces_stored_run():
    [stored] = [r for r in CARD["precisions"] if (r["rate"], r["kind"], r["seed"]) == (0.01, "float32", 0)]
    again = precision(0.01, "float32", 0, defined(NEEDED, LESSON))
    assert again["losses"] == pytest.approx(stored["losses"], abs=0.05)


def test_lesson_claims_hold_for_every_seed():
    losses = {(r["rate"], r["kind"], r["seed"]): r["losses"][-1] for r in CARD["precisions"]}
    for rate, seed in product(PRECISION_RATES, SEEDS):
        exact = losses[rate, "float32", seed]
        assert abs(losses[rate, "mixed precision", seed] - exact) < 0.02
        assert (losses[rate, "all in bfloat16", seed] - exact > 0.2) == (rate == 0.0003)
