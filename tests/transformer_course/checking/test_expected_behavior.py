"""The reference and the mistakes are run in full once, and quickly whenever their outputs are needed."""

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


def test_another_seed_has_different_cases():
    assert distance(behavior(SOFTMAX, 3).cases[-1].inputs, behavior(SOFTMAX, 4).cases[-1].inputs) > 100


@pytest.mark.parametrize("name", ["softmax", "EncoderLayer"])
def test_quick_output_matches_full_observation(name):
    known = behavior(every_exercise()[name], 0)
    large = [
        known.exercise.reference,
        *(version for mistake in known.exercise.mistakes for version in mistake.variants),
    ]
    for version in large[:12]:
        for index, observed in enumerate(known.run(version)[:3]):
            with in_isolation():
                quick = known.output(version, index)
            for kind in ("output", "parameters"):
                if kind in quick:
                    assert distance(quick[kind], observed[kind]) <= 1
            if "error" in quick:
                assert (quick["error"]["type"], quick["error"]["message"]) == (
                    observed["error"]["type"],
                    observed["error"]["message"],
                )


def test_pairs_combine_changes_and_are_sorted_by_number():
    pairs = behavior(SOFTMAX, 0).pairs
    changes = [pair.n_changes for pair in pairs]
    assert changes == sorted(changes)
    assert len(pairs) > 100
    for pair in pairs:
        assert any(
            set(pair.variant.changes) == {*one.changes, *other.changes}
            and all(
                name in {*needs(one.changes[name]), *needs(other.changes[name])}  # one builds on the other
                for name in {*one.changes} & {*other.changes}
            )
            for one in pair.mistakes[0].step_variants
            for other in pair.mistakes[1].step_variants
        )


def test_caches_only_small_variant_outputs():
    known = Behavior(SOFTMAX, SOFTMAX.cases(0))
    largest = max(range(len(known.cases)), key=lambda index: known.cases[index].inputs["scores"].numel())
    with in_isolation():
        whole = known.cases[largest].inputs["scores"].numel()
        large = [pair.variant for pair in known.pairs[:80]]
        outputs = [one.get("output") for one in known.outputs(large, largest)]
        variants = [version for version, output in zip(large, outputs, strict=True) if count_numbers(output) >= whole]
        assert len(variants) > 20
        for index, is_kept in ((0, True), (largest, False)):
            first, again = list(known.outputs(variants, index)), list(known.outputs(variants, index))
            assert all(
                (one is other) == (is_kept or count_numbers(one["output"]) <= MAX_CACHED_NUMBERS)
                for one, other in zip(first, again, strict=True)
                if "output" in one
            )
            assert [known.output(variant, index).keys() for variant in variants] == [one.keys() for one in again]
            assert all(
                distance(known.output(variant, index)["output"], one["output"]) <= 1
                for variant, one in zip(variants, again, strict=True)
                if "output" in one
            )


def test_crash_hides_form_of_other_outputs(monkeypatch):
    monkeypatch.setattr(mistake_pairs, "MAX_UNLIKELY_PAIRS", 0)
    known, crash = behavior(SOFTMAX, 0), {"error": {"type": "TypeError", "message": ""}}
    observed = [{"output": one["output"].double()} for one in known.expected]
    stored = catalog_of(SOFTMAX).cases
    hidden = [crash if index in stored else one for index, one in enumerate(observed)]
    with in_isolation():
        pairs = [known.pairs_with_generated(displayed, range(len(displayed))) for displayed in (observed, hidden)]
    tried = [{mistake.name for pair in some for mistake in pair.mistakes} for some in pairs]
    assert all(any(name.startswith("dtype") for name in names) for names in tried)


def test_exercise_without_steps_has_no_pairs():
    assert not Behavior(replace(SOFTMAX, steps=None), []).pairs


def test_isolation_hides_output_and_restores_state(capsys):
    before = torch.get_rng_state()
    with in_isolation():
        print("noise")
        torch.rand(3)
        torch.set_default_dtype(torch.float64)
    assert capsys.readouterr().out == ""
    assert torch.get_default_dtype() == torch.float32
    assert torch.equal(torch.get_rng_state(), before)


def test_normalizes_outputs_of_both_modes():
    known = behavior(every_exercise()["LoRALinear"], 0)
    [index] = [index for index, case in enumerate(known.cases) if case.not_loaded == ("a",)]
    observed = known.expected[index]
    assert observed["output"] == observed["output_in_training"] == {"the output is that of the frozen layer": False}


def test_discards_native_output_of_mistakes(capfd):
    with in_isolation():
        os.write(1, b"** On entry to DLASCL parameter number 4 had an illegal value")
    assert capfd.readouterr() == ("", "")


def test_tries_fewer_pairs_if_the_answer_calls_more_functions():
    before = sys.getprofile()
    with in_isolation():
        few, many = (behavior(every_exercise()[name], 0).max_pairs for name in ("zero_step", "softmax"))
    assert 500 < few < many / 2
    assert sys.getprofile() is before
