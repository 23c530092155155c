"""Tests that the accuracies stored for lesson 07 match the lesson's models and support its claims."""

import json
from itertools import product

import pytest

from authoring.stored_runs import defined
from authoring.train_decoder_runs import (
    COMMAND,
    DEPTHS,
    DIFFUSION_STEPS,
    EXCHANGE_STEPS,
    FAMILIES,
    FILE,
    LESSON,
    NEEDED,
    SEEDS,
    train_diffusion,
    train_family,
    train_layer_to_layer,
)

CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_row_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    families = [
        (run["model"], int(run["layers"][0]), run["steps"], run["formats"], run["seed"]) for run in CARD["families"]
    ]
    assert families == [(*family, seed) for family in FAMILIES for seed in SEEDS]
    exchanged = [(run["n_layers"], run["steps"], run["seed"]) for run in CARD["exchanged"]]
    assert exchanged == list(product(DEPTHS, EXCHANGE_STEPS, SEEDS))
    steps = [(run["formats"], run["seed"], run["steps"]) for run in CARD["diffusion"]]
    assert steps == [(n, seed, step) for n in (1, 2) for seed in SEEDS for step in DIFFUSION_STEPS]


def test_lesson_claims_hold_for_every_seed():
    losses = [run["used layer to layer"] - run["used last layer"] for run in CARD["exchanged"]]
    assert min(losses) < 0.1 and sum(loss > 0.2 for loss in losses) >= 9, "worse in most runs, but not in all"
    families = {(model, formats): [] for model, _, _, formats in FAMILIES}
    for run in CARD["families"]:
        if (run["model"], run["layers"], run["steps"]) != ("DecoderOnly", "1", 300):
            families[run["model"], run["formats"]].append((run["sampled"], run["greedy"]))
    assert min(map(min, families["EncoderOnly", "1"])) > 0.8
    assert max(map(max, families["EncoderOnly", "1 : 1"])) < 0.1
    assert min(greedy for _, greedy in families["EncoderOnly", "4 : 1"]) > 0.5
    assert min(min(run) for model in ("DecoderOnly", "Translator") for run in families[model, "1 : 1"]) > 0.5
    dates = {(run["formats"], run["seed"], run["steps"]): run["real dates"] for run in CARD["diffusion"]}
    for seed in SEEDS:
        of_two_formats = [dates[2, seed, steps] for steps in DIFFUSION_STEPS]
        assert of_two_formats[0] < 0.1 and of_two_formats[-1] > 0.8
        assert of_two_formats == sorted(of_two_formats), "more steps must give more real dates"
        assert dates[1, seed, 3] < dates[1, seed, 2]


def test_command_reproduces_model_with_one_date_format():
    again = train_family(defined(NEEDED, LESSON), "EncoderOnly", 2, 300, "1", SEEDS[0])
    assert again["greedy"] == pytest.approx(CARD["families"][0]["greedy"], abs=0.1)


@pytest.mark.thorough
def test_command_reproduces_layer_to_layer_model():
    again, stored = (
        train_layer_to_layer(defined(NEEDED, LESSON), DEPTHS[0], EXCHANGE_STEPS[0], SEEDS[0]),
        CARD["exchanged"][0],
    )
    for how in ("used layer to layer", "used last layer"):
        assert again[how] == pytest.approx(stored[how], abs=0.25)


@pytest.mark.thorough
def test_command_reproduces_diffusion_model():
    again, stored = (
        train_diffusion(defined(NEEDED, LESSON), 2, SEEDS[0]),
        [r for r in CARD["diffusion"] if r["formats"] == 2],
    )
    for run, kept in zip(again, stored, strict=False):
        assert run["real dates"] == pytest.approx(kept["real dates"], abs=0.2)
