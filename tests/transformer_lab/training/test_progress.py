"""Tests for a run's progress, that is, the logged averages, the best score and the JSON round trip."""

import json
from dataclasses import asdict

import pytest

from transformer_lab.training.progress import Progress


def test_row_averages_the_losses_since_the_last_row():
    progress = Progress(step=9, seconds=10.0, loss_sum=30.0, n_tokens=20, logged_at=6.0)
    assert progress.row(1e-3) == {"loss": 1.5, "lr": 1e-3, "tokens_per_second": 5}
    progress.loss_sum, progress.n_tokens, progress.seconds = 4.0, 8, 12.0
    assert progress.row(1e-3) == {"loss": 0.5, "lr": 1e-3, "tokens_per_second": 4}


def test_records_the_best_score():
    progress = Progress()
    assert [progress.record_score(score) for score in (0.0, 5.0, 5.0, 4.0, 6.0, 1.0)] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]
    assert progress == Progress(best=6.0)


@pytest.mark.parametrize("invalid", [float("nan"), float("-inf"), float("inf")])
def test_best_score_is_always_finite(invalid):
    progress = Progress()
    assert [progress.record_score(score) for score in (invalid, 5.0, invalid, 6.0)] == [False, True, False, True]
    assert progress == Progress(best=6.0)
    unscored = Progress()
    assert not unscored.record_score(invalid)
    assert Progress.from_json(json.loads(json.dumps(asdict(unscored)))) == Progress()


def test_json_round_trip_is_exact():
    progress = Progress(3, 0.1 + 0.2, None, 1e16 / 3, 5, 1 / 3)
    assert Progress(**json.loads(json.dumps(asdict(progress)))) == progress
