"""Tests that the losses stored for lesson 11 match the lesson's models."""

import json

import pytest

from authoring.stored_runs import defined
from authoring.train_block_seeds import COMMAND, FILE, LEARNING_RATES, LESSON, SEEDS, losses


def test_file_contains_loss_for_every_run():
    card = json.loads(FILE.read_text(encoding="utf-8"))
    assert card["command"] == COMMAND
    assert list(card["losses"]) == [str(rate) for rate in LEARNING_RATES]
    for by_model in card["losses"].values():
        assert list(by_model) == list(defined({"RMSNorm", "CHANGES"}, LESSON)["CHANGES"])
        assert {len(by_seed) for by_seed in by_model.values()} == {len(SEEDS)}


LAST, ALL_BUT_LAST = slice(-1, None), slice(-1)
"""Slices that select from the five models. The last model has all changes."""


@pytest.mark.parametrize("models", [LAST, pytest.param(ALL_BUT_LAST, marks=pytest.mark.thorough)])
def test_command_reproduces_stored_losses(models: slice):
    stored = json.loads(FILE.read_text(encoding="utf-8"))["losses"]["0.03"]
    for name, again in losses((0.03,), SEEDS[:1], models)["0.03"].items():
        assert again == pytest.approx(stored[name][:1], abs=0.06), name
