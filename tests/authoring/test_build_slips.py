"""The catalogues are what the steps make today, and hold nothing that is known already."""

import pytest

from authoring.build_slips import NEARLY, SEED, distinct, made, same, shown
from transformer_course.checking.expected_behaviour import behaviour, in_isolation
from transformer_course.checking.tolerance import agree
from transformer_course.exercises import every_exercise
from transformer_course.slips.catalogue import FOLDER, catalogue_of, read
from transformer_course.slips.slip import Slip

IN_STEPS = [exercise for exercise in every_exercise().values() if exercise.steps is not None]
FAST = ("rnn_step", "additive_scores", "leaks_future", "sentence_vectors", "accumulate", "grpo_loss")
"""Exercises whose slips come to an end: where loops run away, as in ``beam_search``, each is waited for."""
SOME = [one if one.name in FAST else pytest.param(one, marks=pytest.mark.thorough) for one in IN_STEPS]


def test_there_is_a_catalogue_of_every_exercise_in_steps_and_no_other():
    assert {path.stem for path in FOLDER.glob("*.json")} == {exercise.name for exercise in IN_STEPS}
    assert [exercise.name for exercise in IN_STEPS if not catalogue_of(exercise).slips] == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stopped amid torch's own tidying up
@pytest.mark.parametrize("exercise", SOME, ids=lambda one: one.name)
def test_a_catalogue_is_made_again_as_it_is_stored(exercise):
    assert same(made(exercise), read(exercise.name)), f"run `python -m authoring.build_slips {exercise.name}`"


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
    known = behaviour(every_exercise()["GroupedQueryAttention"], 0)
    [ignored] = [one for one in known.slips.values() if one.name == "ignored_mask"]
    in_training_only = next(one for one in known.exercise.mistakes if one.name == "mask_only_in_training")
    with in_isolation():
        ways = ignored.ways[0], in_training_only.ways[0]
        first_calls = [[known.output(way, index) for index in range(len(known.cases))] for way in ways]
    assert shown(first_calls[0]) == shown(first_calls[1])
    assert not agree(*map(known.run, ways), numbers_only=True)
