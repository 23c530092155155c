"""Tests for loading the runs that the residual stream view shows."""

from dataclasses import replace

import pytest

from transformer_course.views.residual_runs import stored


def test_rejects_runs_with_missing_numbers():
    run = stored()[0]
    with pytest.raises(ValueError, match=r"one loss for each of the 11 steps; got \[3, 3"):
        replace(run, losses=run.losses[1:])
    with pytest.raises(
        ValueError, match=r"post-norm, no warm-up must have 2 measurements per step, one per layer; got .'size': \[1"
    ):
        replace(run, measures={**run.measures, "size": [row[:1] for row in run.measures["size"]]})
