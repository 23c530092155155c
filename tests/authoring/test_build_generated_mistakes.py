"""Tests that the stored catalogs match the current steps and contain no duplicates of known mistakes."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from authoring.build_generated_mistakes import (
    MAX_WEIGHT,
    ROUNDING_TOLERANCES,
    SEED,
    behavior_key,
    build_catalog,
    check_messages_are_used,
    distinct,
    evaluated_edits,
    stale_reasons,
    update,
)
from transformer_course.checking.expected_behavior import behavior, in_isolation
from transformer_course.checking.judge import judge
from transformer_course.checking.tolerance import agree
from transformer_course.exercise import Mistake
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes import catalog
from transformer_course.generated_mistakes.catalog import FOLDER, Outline, catalog_of, outline, read
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.running.observe import observe

IN_STEPS = [exercise for exercise in every_exercise().values() if exercise.steps is not None]
FAST_EXERCISES = ("rnn_step", "additive_scores", "keeps_the_stream", "accumulate")
"""Exercises whose generated mistakes all terminate within seconds. Others, such as ``beam_search``, have generated
mistakes with infinite loops, which run until the time limit.
"""
OFF_BY_ONE = {"past": "return (columns - n_query) - 1"}
"""Code of the generated mistake that is equivalent to the handwritten mistake in the ``stored`` fixture."""
EXERCISES = [one if one.name in FAST_EXERCISES else pytest.param(one, marks=pytest.mark.thorough) for one in IN_STEPS]


def test_every_step_by_step_exercise_has_catalog():
    assert {path.stem for path in FOLDER.glob("*.json")} == {exercise.name for exercise in IN_STEPS}
    assert [exercise.name for exercise in IN_STEPS if not catalog_of(exercise).edits] == []


@pytest.fixture(scope="module")
def changed(thoroughness):
    """Rebuild catalogs in a process without shape checks, and return the changes by exercise."""
    names = [one.name for one in IN_STEPS] if thoroughness.enabled else FAST_EXERCISES
    command = [sys.executable, "-m", "authoring.build_generated_mistakes", "--check", *names]
    environment = os.environ | {"TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    changes = dict(re.match(r"(\w+) +[\d.]+ s +(.*)", line).groups() for line in result.stdout.splitlines())
    assert set(changes) == set(names), result.stderr
    return changes


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.name)
def test_rebuilt_catalog_matches_stored_catalog(exercise, changed):
    assert changed[exercise.name] == "", f"run `python -m authoring.build_generated_mistakes {exercise.name}`"


@pytest.fixture(scope="module")
def masks():
    """The exercise ``causal_mask`` without its message for the mistake that the ``stored`` fixture adds by hand."""
    exercise = every_exercise()["causal_mask"]
    messages = {key: wording for key, wording in exercise.messages.items() if key != "shifted_past: § - 1"}
    assert len(messages) == len(exercise.messages) - 1
    return replace(exercise, messages=messages)


@pytest.fixture(scope="module")
def stored(masks, tmp_path_factory):
    """A catalog for ``causal_mask`` in which a handwritten mistake replaces a generated mistake."""
    off_by_one = masks.steps.but(allowed=lambda matrix, past: matrix.tril(past - 1))
    not_itself = Mistake("not_itself", off_by_one, summary="no position sees itself")
    path = tmp_path_factory.mktemp("catalogs") / f"{masks.name}.json"
    known = behavior(replace(masks, mistakes=[*masks.mistakes, not_itself]), SEED)
    with in_isolation():
        path.write_text(build_catalog(known, evaluated_edits(known)).as_text(), encoding="utf-8")
    return path


@pytest.fixture
def folder(stored, tmp_path, monkeypatch):
    """A catalog folder that contains only the ``stored`` catalog."""
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    return shutil.copy(stored, tmp_path)


def no_position_sees_itself(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query - 1)


def test_rebuild_restores_mistake_after_handwritten_duplicate_is_removed(masks, folder):
    assert update(masks, is_check=False) != []
    observed = [observe(no_position_sees_itself, case) for case in masks.cases(SEED)]
    assert judge(masks, SEED, observed).mistakes == ("shifted_past",)
    assert update(masks, is_check=False) == []


def test_check_lists_missing_mistake_without_writing(masks, folder):
    before = read(masks.name).as_text()
    changes = update(masks, is_check=True)
    assert any(change.startswith("shifted_past is missing") for change in changes)
    assert read(masks.name).as_text() == before


@pytest.fixture(scope="module")
def built(masks):
    """The known behaviors and the catalog of ``causal_mask`` without the handwritten mistake."""
    known = behavior(masks, SEED)
    with in_isolation():
        return known, build_catalog(known, evaluated_edits(known))


def test_check_lists_obsolete_mistake(built):
    known, stored = built
    remaining = [one for one in stored.edits if dict(one.code) != OFF_BY_ONE]
    changes = stale_reasons(known, replace(stored, edits=remaining), stored)
    assert changes == ["shifted_past is obsolete: {'past': '(columns - n_query) - 1'}"]


def test_check_lists_changed_kind_weight_and_outlines(built):
    known, stored = built
    first, *rest = stored.edits
    for change in (
        {"kind": "sign"},
        {"weight": first.weight + 0.1},
        {"outlines": [Outline("other")] * len(first.outlines)},
    ):
        changed = replace(stored, edits=[replace(first, **change), *rest])
        assert len(stale_reasons(known, stored, changed)) == 1


def test_check_lists_changed_steps_and_cases(built):
    known, stored = built
    for change in ({"names": ["other"]}, {"cases": [0]}, {"right": [Outline("other")] * len(stored.right)}):
        assert stale_reasons(known, stored, replace(stored, **change)) == ["the steps or the cases have changed"]


def test_check_allows_extra_equivalent_mistake(built):
    known, stored = built
    [first] = [one for one in stored.edits if dict(one.code) == OFF_BY_ONE]
    code = {name: f"({text.removeprefix('return ')})" for name, text in first.code.items()}
    doubled = replace(stored, edits=[*stored.edits, replace(first, code=code, weight=2.9)])
    assert stale_reasons(known, stored, doubled) == stale_reasons(known, doubled, stored) == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.name)
def test_generated_mistakes_are_wrong_and_recognizable(exercise):
    known = behavior(exercise, SEED)
    with in_isolation():
        for mistake in list(known.generated.values())[::25]:
            results = [known.output(mistake.variants[0], index) for index in range(len(known.cases))]
            assert not agree(results, known.expected, ROUNDING_TOLERANCES, numbers_only=True), mistake.name
            assert mistake in known.generated_like(results), mistake.name


@pytest.mark.parametrize(
    ("message", "unused"),
    [
        ({"shifted_pasts": "x"}, "shifted_pasts"),
        ({"shifted_past: § - 9": "x"}, "shifted_past: § - 9"),
        ({"shifted_past": "x", "ignored_all": "y"}, "ignored_all"),
    ],
)
def test_rejects_message_for_mistake_not_in_catalog(built, message, unused):
    known, stored = built
    with pytest.raises(ValueError, match=rf"causal_mask has messages .* \d+ in its catalog: {unused}\. "):
        check_messages_are_used(replace(known.exercise, messages=message), stored)
    check_messages_are_used(replace(known.exercise, messages={"shifted_past: § - 1": "x", "shifted_past": "y"}), stored)


def test_build_rejects_message_for_unknown_mistake(masks, folder):
    with pytest.raises(ValueError, match="causal_mask has messages"):
        update(replace(masks, messages={"shifted_pasts": "x"}), is_check=False)


def test_keeps_unlikely_mistake_only_with_message(masks, built):
    _, stored = built
    key = "ignored_n_query: 64"
    assert max(edit.weight for edit in stored.edits) <= MAX_WEIGHT
    assert not any(key in edit.keys for edit in stored.edits)
    with in_isolation():
        edits = [edit for edit, _ in evaluated_edits(behavior(replace(masks, messages={key: "x"}), SEED))]
    assert key in edits[0].keys
    assert edits[0].weight > MAX_WEIGHT


def test_keeps_likeliest_mistake_if_code_is_equal():
    likely, rare = (
        AnswerEdit("a", "left_out", weight=1.0, code={"a": "b"}),
        AnswerEdit("a", "taken_for", weight=2.0, code={"a": "return b"}),
    )
    assert distinct([rare, likely]) == [likely]


def test_keeps_mistake_that_differs_only_in_later_calls():
    exercise = every_exercise()["GroupedQueryAttention"]
    in_training_only = exercise.steps.but(visible=lambda self, mask: mask if self.training else None)
    known = behavior(replace(exercise, mistakes=[Mistake("in_training_only", in_training_only, summary="x")]), 0)
    [ignored] = [one.edit for one in known.generated.values() if one.name == "ignored_mask"]
    as_always = exercise.steps.but(mask=lambda: None)
    with in_isolation():
        found = [
            behavior_key(known.output(variant, index) for index in range(len(known.cases)))
            for variant in (as_always, in_training_only)
        ]
        assert found[0] == found[1]
        outlines = [outline(known.output(as_always, index)) for index in range(len(known.cases))]
        assert len(build_catalog(known, [(replace(ignored, outlines=outlines), found[0])]).edits) == 1
