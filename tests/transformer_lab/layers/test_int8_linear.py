"""Weights in 8 bits: within half a step of the weights, and in a quarter of the bytes."""

from copy import deepcopy

import pytest
import torch
from hypothesis import given
from torch import nn
from torch.testing import assert_close

from tests.helpers.language_models import SMALL, drawn
from tests.helpers.strategies import generators, normal
from transformer_lab.layers.int8_linear import Int8Linear, parameter_bytes, quantise_int8


def linear_of(rng: torch.Generator, bias: bool = True) -> nn.Linear:
    linear = nn.Linear(5, 7, bias).double()
    for parameter in linear.parameters():
        nn.init.normal_(parameter, generator=rng)
    linear.weight.data *= torch.logspace(-3, 3, 7, dtype=torch.float64)[:, None]  # rows of all sizes
    return linear


@given(rng=generators())
def test_weights_are_rounded_to_127ths_of_the_largest_of_their_row(rng):
    linear = linear_of(rng)
    layer = Int8Linear(linear)
    for row, rounded, scale in zip(linear.weight.tolist(), layer.rounded.tolist(), layer.scale.tolist(), strict=True):
        largest = max(map(abs, row))
        assert scale == pytest.approx(largest / 127, rel=1e-12)
        assert rounded == [round(w / scale) for w in row]
        assert max(map(abs, rounded)) == 127
    assert layer.rounded.dtype == torch.int8


@pytest.mark.parametrize("bias", [True, False])
@given(rng=generators())
def test_outputs_are_wrong_by_at_most_half_a_step_of_each_weight(bias, rng):
    linear, x = linear_of(rng, bias), normal(rng, 2, 3, 5)
    layer = Int8Linear(linear)
    bound = layer.scale * x.abs().sum(dim=-1, keepdim=True) / 2
    error = (layer(x) - linear(x)).abs()
    assert (error <= bound * (1 + 1e-9)).all()
    assert (error > 0).any()


def test_a_row_of_zeros_stays_one():
    linear = nn.Linear(5, 7)
    nn.init.zeros_(linear.weight[3])
    assert_close(Int8Linear(linear)(torch.randn(2, 5))[:, 3], linear.bias[3].expand(2))


def test_a_model_takes_a_quarter_of_the_bytes_and_says_nearly_the_same():
    model = drawn(SMALL, torch.Generator().manual_seed(0)).float()
    small, tokens = deepcopy(model), torch.tensor([[1, 2, 4, 5]])
    quantise_int8(small)
    linears = [module for module in model.modules() if isinstance(module, nn.Linear) and module is not model.head]
    saved = sum(3 * module.weight.numel() - 4 * module.out_features for module in linears)
    assert len(linears) == 12
    assert parameter_bytes(model) - parameter_bytes(small) == saved
    assert parameter_bytes(model) == 4 * sum(parameter.numel() for parameter in model.parameters())
    logits = model(tokens)
    assert 0 < (small(tokens) - logits).abs().max() < 0.05 * logits.std()
    assert small.head.weight is small.embedding.weight


def test_a_quantised_model_can_be_saved_and_loaded():
    torch.manual_seed(0)
    layer, other = Int8Linear(nn.Linear(5, 7)), Int8Linear(nn.Linear(5, 7))
    other.load_state_dict(layer.state_dict())
    x = torch.randn(3, 5)
    assert torch.equal(other(x), layer(x))
