"""Tests that the runs stored for lesson 09 match the lesson's code and support its claims."""

import json

import pytest

from authoring.train_few_shot_runs import COMMAND, FILE, LEARNING_RATES, N_BLOCKS, SEEDS, best_possible, runs

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_run_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    settings = [(run["n_blocks"], run["rate"], run["seed"]) for run in CARD["runs"]]
    assert settings == [(n, rate, seed) for n in N_BLOCKS for rate in LEARNING_RATES for seed in SEEDS]


def test_command_reproduces_stored_run():
    [run] = runs(N_BLOCKS[:1], LEARNING_RATES[1:2], SEEDS[:1])
    [stored] = [each for each in CARD["runs"] if all(each[key] == run[key] for key in ("n_blocks", "rate", "seed"))]
    assert run["right"] == pytest.approx(stored["right"], abs=0.05)
    assert run["new"] == pytest.approx(stored["new"], abs=0.05)


@pytest.mark.parametrize("n_blocks", N_BLOCKS)
def test_four_examples_help_at_every_learning_rate(n_blocks: int):
    for run in CARD["runs"]:
        if run["n_blocks"] == n_blocks:
            assert run["right"][4] > run["right"][0] + 0.3


def test_no_run_beats_best_possible_accuracy():
    assert CARD["best"] == pytest.approx(best_possible(), abs=0.001)
    for run in CARD["runs"]:
        assert all(right < best + 0.03 for right, best in zip(run["right"], CARD["best"], strict=True))
