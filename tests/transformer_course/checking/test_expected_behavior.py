"""Tests that full observations of the expected behavior are cached, and that quick outputs match them."""

import itertools
import os
import sys
from dataclasses import replace

import pytest
import torch

from transformer_course.checking import mistake_pairs
from transformer_course.checking.expected_behavior import MAX_CACHED_NUMBERS, Behavior, behavior, in_isolation
from transformer_course.checking.tolerance import distance
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import catalog_of
from transformer_course.running.plain_data import count_numbers
from transformer_course.steps import needs

SOFTMAX = every_exercise()["softmax"]


def test_runs_every_answer_once_per_seed():
    known = behavior(SOFTMAX, 3)
    assert behavior(SOFTMAX, 3) is known
    assert known.run(SOFTMAX.reference) is known.expected


def test_different_seeds_produce_different_cases():
    assert distance(behavior(SOFTMAX, 3).cases[-1].inputs, behavior(SOFTMAX, 4).cases[-1].inputs) > 100


@pytest.mark.parametrize("name", ["softmax", "EncoderLayer"])
def test_quick_output_matches_full_observation(name):
    known = behavior(every_exercise()[name], 0)
    versions = [known.exercise.reference]
    for mistake in known.exercise.mistakes:
        versions += mistake.variants
    for version in versions[:12]:
        for index, observed in enumerate(known.run(version)[:3]):
            with in_isolation():
                quick = known.output(version, index)
            for kind in ("output", "parameters"):
                if kind in quick:
                    assert distance(quick[kind], observed[kind]) <= 1
            if "error" in quick:
                assert quick["error"]["type"] == observed["error"]["type"]
                assert quick["error"]["message"] == observed["error"]["message"]


def combines(pair, one, other):
    """Return whether a pair's answer changes the steps that two variants change. A step in both must combine them."""
    if set(pair.variant.changes) != {*one.changes, *other.changes}:
        return False
    shared = {*one.changes} & {*other.changes}
    return all(name in {*needs(one.changes[name]), *needs(other.changes[name])} for name in shared)


def test_pairs_combine_changes_and_are_sorted_by_count():
    pairs = behavior(SOFTMAX, 0).pairs
    changes = [pair.n_changes for pair in pairs]
    assert changes == sorted(changes)
    assert len(pairs) > 100
    for pair in pairs:
        first, second = pair.mistakes
        variants = itertools.product(first.step_variants, second.step_variants)
        assert any(combines(pair, one, other) for one, other in variants)


def test_caches_only_small_variant_outputs():
    known = Behavior(SOFTMAX, SOFTMAX.cases(0))
    largest = max(range(len(known.cases)), key=lambda index: known.cases[index].inputs["scores"].numel())
    with in_isolation():
        size = known.cases[largest].inputs["scores"].numel()
        candidates = [pair.variant for pair in known.pairs[:80]]
        variants = []
        for variant, observation in zip(candidates, known.outputs(candidates, largest), strict=True):
            if count_numbers(observation.get("output")) >= size:
                variants.append(variant)
        assert len(variants) > 20
        for index, is_small in ((0, True), (largest, False)):
            first, second = list(known.outputs(variants, index)), list(known.outputs(variants, index))
            for variant, one, other in zip(variants, first, second, strict=True):
                alone = known.output(variant, index)
                assert alone.keys() == other.keys()
                if "output" in one:
                    is_cached = is_small or count_numbers(one["output"]) <= MAX_CACHED_NUMBERS
                    assert (one is other) == is_cached
                    assert distance(alone["output"], other["output"]) <= 1


def test_uses_form_of_crashed_outputs_for_pairs(monkeypatch):
    monkeypatch.setattr(mistake_pairs, "MAX_UNLIKELY_PAIRS", 0)
    known, crash = behavior(SOFTMAX, 0), {"error": {"type": "TypeError", "message": ""}}
    observed = [{"output": observation["output"].double()} for observation in known.expected]
    stored = catalog_of(SOFTMAX).cases
    hidden = [crash if index in stored else observation for index, observation in enumerate(observed)]
    for observations in (observed, hidden):
        with in_isolation():
            pairs = known.pairs_with_generated(observations, range(len(observations)))
        assert any(mistake.name.startswith("dtype") for pair in pairs for mistake in pair.mistakes)


def test_exercise_without_steps_has_no_pairs():
    assert not Behavior(replace(SOFTMAX, steps=None), []).pairs


def test_isolation_suppresses_output_and_restores_state(capsys):
    before = torch.get_rng_state()
    with in_isolation():
        print("noise")
        torch.rand(3)
        torch.set_default_dtype(torch.float64)
    assert capsys.readouterr().out == ""
    assert torch.get_default_dtype() == torch.float32
    assert torch.equal(torch.get_rng_state(), before)


def test_normalizes_outputs_in_both_modes():
    known = behavior(every_exercise()["LoRALinear"], 0)
    [index] = [index for index, case in enumerate(known.cases) if case.not_loaded == ("a",)]
    observed = known.expected[index]
    assert observed["output"] == observed["output_in_training"] == {"the output is that of the frozen layer": False}


def test_isolation_discards_native_output(capfd):
    with in_isolation():
        os.write(1, b"** On entry to DLASCL parameter number 4 had an illegal value")
    assert capfd.readouterr() == ("", "")


def test_tries_fewer_pairs_for_slow_answers():
    before = sys.getprofile()
    with in_isolation():
        few, many = (behavior(every_exercise()[name], 0).max_pairs for name in ("zero_step", "softmax"))
    assert 500 < few < many / 2
    assert sys.getprofile() is before
