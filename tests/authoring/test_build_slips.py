"""The catalogues are what the steps make today, and hold nothing that is known already."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from authoring.build_slips import NEARLY, SEED, distinct, selected, shown
from transformer_course.checking.expected_behaviour import behaviour, in_isolation
from transformer_course.checking.tolerance import agree
from transformer_course.exercise import Mistake
from transformer_course.exercises import every_exercise
from transformer_course.slips.catalogue import FOLDER, Outline, catalogue_of
from transformer_course.slips.slip import Slip

IN_STEPS = [exercise for exercise in every_exercise().values() if exercise.steps is not None]
FAST = ("rnn_step", "additive_scores", "keeps_the_stream", "accumulate")
"""Exercises whose slips come to an end in seconds: where loops run away, as in ``beam_search``, each is waited for."""
SOME = [one if one.name in FAST else pytest.param(one, marks=pytest.mark.thorough) for one in IN_STEPS]


def test_there_is_a_catalogue_of_every_exercise_in_steps_and_no_other():
    assert {path.stem for path in FOLDER.glob("*.json")} == {exercise.name for exercise in IN_STEPS}
    assert [exercise.name for exercise in IN_STEPS if not catalogue_of(exercise).slips] == []


@pytest.fixture(scope="module")
def changed(thoroughness):
    """Make catalogues anew where exercises are as they are elsewhere: here, their shapes are checked, too."""
    names = [one.name for one in IN_STEPS] if thoroughness.enabled else FAST
    command = [sys.executable, "-m", "authoring.build_slips", "--check", *names]
    environment = os.environ | {"TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    told = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert set(told) == set(names), done.stderr
    return {name for name, line in told.items() if line.endswith("changed")}


@pytest.mark.parametrize("exercise", SOME, ids=lambda one: one.name)
def test_a_catalogue_is_made_again_as_it_is_stored(exercise, changed):
    assert exercise.name not in changed, f"run `python -m authoring.build_slips {exercise.name}`"


@pytest.mark.parametrize("exercise", SOME, ids=lambda one: one.name)
def test_no_slip_is_right_and_each_is_among_those_that_may_be_what_it_shows(exercise):
    known = behaviour(exercise, SEED)
    with in_isolation():
        for mistake in list(known.slips.values())[::25]:
            shown = [known.output(mistake.ways[0], index) for index in range(len(known.cases))]
            assert not agree(shown, known.expected, NEARLY, numbers_only=True), mistake.name
            assert mistake in known.slips_like(shown), mistake.name


def test_of_slips_with_the_same_code_the_likeliest_is_kept():
    likely, rare = (
        Slip("a", "left_out", weight=1.0, code={"a": "b"}),
        Slip("a", "taken_for", weight=2.0, code={"a": "return b"}),
    )
    assert distinct([rare, likely]) == [likely]


def test_a_slip_is_kept_that_a_written_mistake_equals_only_when_it_is_first_called():
    exercise = every_exercise()["GroupedQueryAttention"]
    in_training_only = exercise.steps.but(visible=lambda self, mask: mask if self.training else None)
    known = behaviour(replace(exercise, mistakes=[Mistake("in_training_only", in_training_only, does="x")]), 0)
    [ignored] = [one.slip for one in known.slips.values() if one.name == "ignored_mask"]
    as_always = exercise.steps.but(mask=lambda: None)
    with in_isolation():
        seen = [
            shown(known.output(way, index) for index in range(len(known.cases)))
            for way in (as_always, in_training_only)
        ]
        assert seen[0] == seen[1]
        assert (
            len(selected(known, [(replace(ignored, shows=[Outline("other")] * len(known.cases)), seen[0])]).slips) == 1
        )
