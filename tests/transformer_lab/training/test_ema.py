"""Tests for computing the exponential moving average (EMA) of parameters and swapping it into the model."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.training.ema import EMA


def drawn(seed):
    return torch.randn(3, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def layer():
    layer = nn.Linear(2, 3, bias=False).double()
    layer.weight.data.copy_(drawn(0))
    return layer


def test_ema_weights_decrease_with_age(layer):
    """At first, step t has weight 9 / (t + 9) in the average. Later, the weights approach powers of the decay."""
    average, n = EMA(layer, decay=0.75), 60
    for step in range(1, n + 1):
        layer.weight.data.copy_(drawn(step))
        average.update(step)
    decays = [min(0.75, step / (step + 9)) for step in range(1, n + 1)]
    expected = drawn(0) * torch.tensor(decays).prod()
    for step, decay in enumerate(decays, start=1):
        expected += drawn(step) * (1 - decay) * torch.tensor(decays[step:]).prod()
    assert_close(average.tensors["weight"], expected, rtol=1e-5, atol=1e-7)
    assert_close(expected, sum(0.25 * 0.75**age * drawn(n - age) for age in range(n)), rtol=0, atol=1e-3)


def test_restores_parameters_after_the_block(layer):
    average = EMA(layer, decay=0.75)
    layer.weight.data.copy_(drawn(1))
    average.update(1)
    mean = average.tensors["weight"].clone()
    with pytest.raises(ZeroDivisionError), average.swapped_in():
        assert torch.equal(layer.weight, mean)
        raise ZeroDivisionError
    assert torch.equal(layer.weight, drawn(1)) and torch.equal(average.tensors["weight"], mean)


def test_averages_shared_parameters_once():
    shared = nn.Linear(2, 2)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    average = EMA(model, decay=0.5)
    with average.swapped_in():
        pass
    assert len(average.tensors) == 2
