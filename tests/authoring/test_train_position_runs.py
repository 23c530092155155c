"""Tests that the accuracies stored for lesson 05 match the lesson's models."""

import json
from itertools import product

import pytest
import torch

from authoring.stored_runs import defined
from authoring.train_position_runs import (
    BASES,
    COMMAND,
    COUNTERS,
    DEPTHS_AND_STEPS,
    FILE,
    HEAD_WIDTHS,
    LEARNING_RATES,
    LESSON,
    NEEDED,
    SCHEMES,
    SEEDS,
    Setting,
    accuracies,
    counted,
    settings,
)

CARD = json.loads(FILE.read_text(encoding="utf-8"))
RUNS = CARD["runs"]


def test_file_contains_row_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    schemes = {(r["n_layers"], r["steps"], r["scheme"], r["rate"], r["seed"]) for r in RUNS if r["table"] == "schemes"}
    assert schemes == {(*d, s, r, seed) for d, s, r, seed in product(DEPTHS_AND_STEPS, SCHEMES, LEARNING_RATES, SEEDS)}
    bases = {(r["d_model"] // r["n_heads"], r["rotary_base"], r["seed"]) for r in RUNS if r["table"] == "bases"}
    assert bases == set(product(HEAD_WIDTHS, BASES, SEEDS))
    assert len(RUNS) == len(SEEDS) * len(list(settings()))
    for by_seed in CARD["counting"].values():
        assert [len(by_position) for by_position in by_seed] == [16] * len(SEEDS)
    assert list(CARD["counting"]) == list(COUNTERS)


def test_accuracies_are_means_over_three_position_ranges():
    def trained(**arguments):
        assert arguments == {
            "seed": 7, "scheme": "alibi", "rate": 0.1, "steps": 5, "length": 4, "n_layers": 3, "d_model": 6,
            "n_heads": 2, "rotary_base": 10.0, "d_ff": 12,
        }  # fmt: skip
        return None, torch.arange(16.0)

    setting = Setting("alibi", 0.1, 5, 4, n_layers=3, d_model=6, n_heads=2, rotary_base=10.0)
    assert accuracies(setting, 7, {"trained": trained}) == [2.5, 5.5, 11.5]


def _check_stored_run(table: str, **wanted: object):
    """Train again with the first seed of a setting, and compare the result with the stored result."""
    chosen = [(t, s) for t, s in settings() if t == table and all(getattr(s, k) == v for k, v in wanted.items())]
    lesson = defined(NEEDED, LESSON)
    for (name, setting), stored in zip(
        chosen, [r for r in RUNS if r["table"] == table and r["seed"] == 0 and wanted.items() <= r.items()], strict=True
    ):
        kept = [stored[column] for column in ("trained", "twice", "four times")]
        assert accuracies(setting, 0, lesson) == pytest.approx(kept, abs=0.1), (name, setting)


def test_command_reproduces_stored_rotary_run():
    _check_stored_run("schemes", scheme="rotary", n_layers=1, rate=0.01)


@pytest.mark.thorough
def test_command_reproduces_stored_alibi_run():
    _check_stored_run("schemes", scheme="alibi", n_layers=2, rate=0.01)


@pytest.mark.thorough
def test_command_reproduces_stored_run_with_one_head():
    _check_stored_run("heads", scheme="rotary", n_heads=1, rate=0.003)


@pytest.mark.parametrize("name", ["with <bos>", *[pytest.param(n, marks=pytest.mark.thorough) for n in COUNTERS]])
def test_command_reproduces_counting_model(name: str):
    assert sum(counted(name, 0)) / 16 == pytest.approx(sum(CARD["counting"][name][0]) / 16, abs=0.1)
