"""Tests that the runs stored for the lesson on architectures match the lesson's code."""

import json

import pytest

from authoring.stored_runs import defined
from authoring.train_expert_runs import COMMAND, FILE, LEARNING_RATES, LESSON, NEEDED, SEEDS, runs


def test_file_contains_run_for_every_setting():
    card = json.loads(FILE.read_text(encoding="utf-8"))
    assert card["command"] == COMMAND
    assert list(card["runs"]) == [str(rate) for rate in LEARNING_RATES]
    for by_kind in card["runs"].values():
        assert list(by_kind) == list(defined(NEEDED, LESSON)["KINDS"])
        assert {len(by_seed) for by_seed in by_kind.values()} == {len(SEEDS)}


@pytest.mark.parametrize("kind", ["narrow FFN", pytest.param("sigmoid and bias", marks=pytest.mark.thorough)])
def test_command_reproduces_stored_run(kind: str):
    stored = json.loads(FILE.read_text(encoding="utf-8"))["runs"]["0.02"]
    [[known, _]] = runs((0.02,), SEEDS[:1], [kind])["0.02"][kind]
    assert known == pytest.approx(stored[kind][0][0], abs=0.05)
