"""Tests that invalid training settings are rejected immediately."""

import pytest

from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.schedules import cosine_rate, noam_rate

VALID = {"steps": 100, "batch_tokens": 50, "lr": 1e-3, "warmup": 10}


@pytest.mark.parametrize("schedule", ["cosine", "noam"])
def test_learning_rate_follows_the_schedule(schedule):
    config = TrainingConfig(**VALID, schedule=schedule)
    for step in (1, 10, 50, 100):
        expected = cosine_rate(step, 1e-3, 10, 100) if schedule == "cosine" else 1e-3 * noam_rate(step, 64, 10)
        assert config.lr_at(step, d_model=64) == expected


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"steps": 0}, "steps must be positive; got steps=0"),
        ({"batch_tokens": -1}, "got batch_tokens=-1"),
        ({"lr": 0.0}, r"got lr=0\.0"),
        ({"lr": float("nan")}, "got lr=nan"),
        ({"clip": 0.0}, r"got clip=0\.0"),
        ({"log_every": 0}, "got log_every=0"),
        ({"save_every": 0}, "got save_every=0"),
        ({"weight_decay": -0.1}, r"weight_decay must not be negative; got weight_decay=-0\.1"),
        ({"seed": -1}, "got seed=-1"),
        ({"label_smoothing": 1.0}, r"must be at least 0 and less than 1; got label_smoothing=1\.0"),
        ({"ema": 1.0}, r"must be at least 0 and less than 1; got ema=1\.0"),
        ({"warmup": 0}, "warmup must be positive; got warmup=0"),
        ({"warmup": 100}, "less than steps; got warmup=100, steps=100"),
    ],
)
def test_rejects_out_of_range_settings(wrong, message):
    with pytest.raises(ValueError, match=message):
        TrainingConfig(**VALID | wrong)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"schedule": "linear"}, "schedule must be one of cosine, noam; got schedule='linear'"),
        ({"optimizer": "adam"}, "optimizer must be one of adamw, muon; got optimizer='adam'"),
    ],
)
def test_rejects_unknown_names(wrong, message):
    config = TrainingConfig(**VALID)
    vars(config).update(wrong)  # bypasses the constructor's type check, which is active only in tests
    with pytest.raises(ValueError, match=message):
        config.__post_init__()


def test_noam_warmup_may_exceed_steps():
    TrainingConfig(**VALID | {"warmup": 4000}, schedule="noam")
