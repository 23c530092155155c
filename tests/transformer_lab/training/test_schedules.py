"""Test learning rate schedules against independent formulas and against torch."""

import math
from itertools import product

import pytest
import torch

from transformer_lab.training.schedules import cosine_rate, noam_rate


def test_noam_rate_matches_its_formula():
    for step, d_model, warmup in product([1, 2, 399, 400, 401, 10**6], [1, 7, 512], [1, 400, 10**5]):
        peak = 1 / math.sqrt(d_model * warmup)
        expected = peak * step / warmup if step < warmup else peak * math.sqrt(warmup / step)
        rate = noam_rate(step, d_model, warmup)
        assert type(rate) is float
        assert rate == pytest.approx(expected, rel=1e-9, abs=0)


def test_cosine_rate_matches_torch():
    warmup, total, peak = 7, 40, 3e-3
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=peak)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total - warmup)
    for step in range(warmup, total + 1):
        assert cosine_rate(step, peak, warmup, total) == pytest.approx(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()


def test_cosine_rate_rises_linearly_and_stays_at_zero():
    assert [cosine_rate(step, 0.8, 4, 10) for step in range(1, 5)] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert [cosine_rate(step, 0.8, 4, 10) for step in (10, 11, 999)] == pytest.approx([0.0] * 3)


@pytest.mark.parametrize("step, warmup", [(0, 4), (3, 0)])
def test_rejects_step_below_one(step, warmup):
    for rate in (lambda: noam_rate(step, 8, warmup), lambda: cosine_rate(step, 1.0, warmup, 10)):
        with pytest.raises(ValueError, match=f"got step={step}, warmup={warmup}"):
            rate()


def test_rejects_warmup_that_fills_the_run():
    with pytest.raises(ValueError, match="warmup=10, total=10"):
        cosine_rate(1, 1.0, 10, 10)
