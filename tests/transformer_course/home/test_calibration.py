"""Tests for the calibration plot, in which predictions are grouped by confidence."""

import pytest

from transformer_course.home.calibration import calibration, calibration_plot
from transformer_course.workspace.progress import Prediction


def predicted(sure, *answers):
    return [Prediction(f"{sure}:{n}", answer, sure, "", "") for n, answer in enumerate(answers)]


def test_groups_predictions_with_similar_confidence():
    predictions = (
        predicted(0.8, "right", "wrong", "close")
        + predicted(0.84, "right")
        + predicted(None, "wrong")
        + predicted(1.0, "right")
    )
    [some, last] = calibration(predictions)
    assert some == (pytest.approx(0.81), pytest.approx(2.5 / 4), 4)
    assert last == (1.0, 1.0, 1)


def test_plot_shows_point_and_description_for_each_group():
    plot = calibration_plot(predicted(0.5, "right", "wrong") + predicted(0.9, "right"))
    assert plot.count("<circle") == 2
    assert "50% sure: 50% of 2 right; 90% sure: 100% of 1 right" in plot
