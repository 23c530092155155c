"""Tests that the residual stream view shows the numbers in the stored runs."""

import pytest
from traitlets import TraitError

from transformer_course.views.residual_runs import MEASURES, stored
from transformer_course.views.residual_stream import ResidualStream


def test_shows_the_numbers_of_the_runs():
    view = ResidualStream(depth=4, step=50, layer=3)
    run = next(run for run in stored() if (run.depth, run.name) == (4, "pre-norm, warm-up"))
    step_index = run.steps.index(50)
    assert view.numbers[run.name] == {
        "loss": pytest.approx(sum(run.losses[step_index]) / 3),
        **{name: run.measures[name][step_index][2] for name in MEASURES},
    }
    assert list(view.numbers) == [
        "post-norm, no warm-up", "post-norm, warm-up", "pre-norm, no warm-up", "pre-norm, warm-up",
    ]  # fmt: skip


def test_description_and_picture_follow_depth_and_step():
    view = ResidualStream(depth=8, step=200, layer=8)
    assert view.words().startswith(
        "Residual stream of stacks with 8 layers after 200 steps, at layer 8. post-norm, no "
    )
    for name, ax in zip(MEASURES, view.still().axes, strict=True):
        drawn = {tuple(line.get_ydata()) for line in ax.lines}
        assert {tuple(run.measures[name][-1]) for run in stored() if run.depth == 8} <= drawn


def test_smaller_stack_limits_the_selected_layer():
    view = ResidualStream(depth=12, layer=10)
    view.depth = 4
    assert view.layer == 4


@pytest.mark.parametrize(
    "state, message",
    [
        ({"depth": 3}, "depth must be one of 2, 4, 8, 12, 24; got 3"),
        ({"step": 7}, "step must be one of 0, 5, 10, .*; got 7"),
        ({"layer": 5}, "layer must be one of 1, 2, 3, 4; got 5"),
    ],
)
def test_rejects_unknown_depths_steps_and_layers(state, message):
    with pytest.raises(TraitError, match=message):
        ResidualStream(**{"depth": 4, **state})
