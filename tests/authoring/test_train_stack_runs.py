"""Tests that the results stored for lesson 06 match the lesson's layers and support its claims."""

import json
from itertools import product

import pytest

from authoring.stored_runs import defined
from authoring.train_stack_runs import (
    COMMAND,
    FACTS_KINDS,
    FILE,
    GAPS_STEPS,
    LESSON,
    MASKS,
    NEEDED,
    SEEDS,
    UNTRAINED,
    UNTRAINED_DEPTHS,
    Setting,
    default_matrices,
    facts,
    facts_settings,
    layer_class,
    losses,
    settings,
)

NEEDED_TO_MEASURE = {"size", "alike", "stack", "as_drawn", "measure", "NormsOnly", "SumsOnly", "Neither", "CutStream"}
CARD = json.loads(FILE.read_text(encoding="utf-8"))


def test_file_contains_result_for_every_setting_and_seed():
    assert CARD["command"] == COMMAND
    assert {tuple(row[:-1]) for row in CARD["facts"]} == set(facts_settings())
    assert {Setting(*row[:-1]) for row in CARD["runs"]} == set(settings())
    assert {tuple(row[:-1]) for row in CARD["gaps"]} == set(product(MASKS, GAPS_STEPS))
    assert len(CARD["letters"]) == len(SEEDS)
    assert {tuple(row[:-1]) for row in CARD["default_matrices"]} == set(product(UNTRAINED, UNTRAINED_DEPTHS))
    assert {len(row[-1]) for row in CARD["facts"] + CARD["runs"] + CARD["gaps"]} == {len(SEEDS)}


def test_finds_layers_in_lesson_and_library():
    lesson = defined(NEEDED, LESSON)
    classes = {name: layer_class(name, lesson) for name, *_ in FACTS_KINDS.values()}
    assert classes["NoReLU"] is lesson["NoReLU"]
    assert classes["EncoderLayer"] is lesson["parts"].EncoderLayer


def test_each_seed_has_loss_that_depends_on_warmup():
    lesson = defined(NEEDED, LESSON)
    without, with_warm_up = (losses(Setting("pre-norm", 2, 0.01, 6, warmup), lesson) for warmup in (0, 6))
    assert len(without) == len(SEEDS) and without != with_warm_up


def test_stored_results_support_lesson_claims():
    known = {(kind, rate): sum(found) / len(SEEDS) for kind, rate, steps, found in CARD["facts"] if steps == 250}
    later = {kind: sum(found) / len(SEEDS) for kind, _, steps, found in CARD["facts"] if steps == 1000}
    assert later["one layer without ReLU"] - later["one layer without FFN"] < 0.1
    assert later["one layer"] - later["one layer without ReLU"] > 0.25
    assert min(known for kind, known in later.items() if "without" not in kind) > 0.98
    assert known["one layer", 0.01] > 0.9
    for rate in (0.003, 0.01):
        assert known["one layer without ReLU", rate] - known["one layer without FFN", rate] < 0.1
        assert known["one layer", rate] - known["one layer without ReLU", rate] > 0.25
    assert known["one layer", 0.01] - known["three attention layers", 0.01] > 0.08
    for layout in ("", ", pre-norm"):
        assert known[f"three attention layers{layout}", 0.003] - known[f"one layer{layout}", 0.003] > 0.1
    assert known["one layer, pre-norm", 0.03] - known["one layer, sums only", 0.03] > 0.3
    assert known["one layer, sums only", 0.03] > known["one layer", 0.03]
    ends = {Setting(*setting): losses for *setting, losses in CARD["runs"]}
    assert min(ends["post-norm", 8, 0.003, 1000, 0]) > 2.2 and max(ends["post-norm", 8, 0.003, 1000, 300]) < 0.5
    assert min(ends["post-norm", 8, 0.001, 1000, 0]) > 1.5 and min(ends["post-norm", 12, 0.003, 1000, 300]) > 1.5
    assert max(ends["post-norm", 4, 0.003, 1000, 0]) < 0.5 and max(ends["pre-norm", 8, 0.003, 200, 0]) < 0.5
    assert min(ends["pre-norm", 8, 0.001, 200, 0]) > 1.5
    found = {(mask, steps): fractions for mask, steps, fractions in CARD["gaps"]}
    assert 0.7 < sum(found["both ways", 300]) / 3 < 0.9
    assert max(found["only back", 300] + found["only back", 1200]) < 0.2
    assert CARD["letters"] == [["m"]] * len(SEEDS)
    assert max(sum(weights[3:]) for weights in CARD["heads"]) > 0.5, "a head must attend to tokens after the gap"


def test_default_matrices_support_lesson_claims():
    last = {(name, depth): found for name, depth, found in CARD["default_matrices"]}
    assert max(last["norms only", 24]["w_q"] + last["norms only", 96]["w_q"]) < 1e-6
    assert min(last["sums only", 96]["w_q"]) > 1 > max(last["sums only", 24]["w_q"])
    assert min(last["post-norm", 96]["cosine"]) > 0.99 and max(last["post-norm", 96]["w_q"]) < 1e-4
    assert max(last["pre-norm", 96]["cosine"]) < 0.95 and min(last["pre-norm", 96]["w_q"]) > 1e-4
    assert min(last["post-norm", 24]["w_q"] + last["pre-norm", 24]["w_q"]) > 1e-3


def test_file_covers_default_matrices_with_every_seed():
    found = default_matrices("pre-norm", 2, defined(NEEDED, LESSON))
    assert {len(numbers) for numbers in found.values()} == {len(SEEDS)}
    assert len(set(found["w_q"])) > 1, "the results must depend on the seed"


@pytest.mark.slow
def test_untrained_stacks_support_lesson_claims():
    """Use 24 layers and the library's initialization, as in the lesson, but with more seeds."""
    lesson = defined(NEEDED_TO_MEASURE, LESSON)
    parts, seeds = lesson["parts"], range(5)
    kinds = {name: lesson[name] for name in ("NormsOnly", "SumsOnly", "Neither", "CutStream")}
    kinds |= {"post-norm": parts.EncoderLayer, "pre-norm": parts.PreNormEncoderLayer}
    found = {name: [lesson["measure"](kind, seed) for seed in seeds] for name, kind in kinds.items()}

    def exponents(name: str, what: str) -> list[list[float]]:
        """Return the base-10 logarithm of a measurement, by seed and layer, with 0 replaced by 1e-30."""
        return [run[what].clamp(min=1e-30).log10().tolist() for run in found[name]]

    assert all(abs(run[0] - run[-1]) < 2 for run in exponents("NormsOnly", "x"))
    assert all(max(run[4:]) < -6 for run in exponents("NormsOnly", "w_q"))
    assert all(run[0] - run[-1] > 3 for run in exponents("SumsOnly", "x"))
    assert all(run[-1] > 4 for run in exponents("SumsOnly", "RMS"))
    assert all(run[-1] < -9 for run in exponents("SumsOnly", "w_q"))
    assert all(run[0] - run[-1] < -5 for run in exponents("Neither", "x"))
    assert all(run[-1] < -5 for run in exponents("Neither", "RMS"))
    assert all(run["cosine"][-1] > 0.99 for name in ("post-norm", "CutStream") for run in found[name])
    assert all(run[-1] < -5 for name in ("post-norm", "CutStream") for run in exponents(name, "w_q"))
    assert all(min(run) > -3 for run in exponents("pre-norm", "w_q"))
    assert all(run["cosine"][-1] < 0.97 for run in found["pre-norm"])


@pytest.mark.thorough
def test_command_reproduces_stored_facts_run():
    (stored,) = [known for *setting, known in CARD["facts"] if setting == ["one layer", 0.01, 250]]
    assert facts("one layer", 0.01, 250, defined(NEEDED, LESSON)) == pytest.approx(stored, abs=0.05)
