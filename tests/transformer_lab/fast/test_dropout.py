"""Tests for the probability, scale and independence of dropout that splits each random number into four."""

import math

import pytest
import torch
from torch import nn

from transformer_lab.fast.dropout import add_dropout, dropout

N = 400_000


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_drops_the_requested_fraction_and_preserves_the_mean(p):
    torch.manual_seed(0)
    output = dropout(nn.Dropout(p), torch.ones(N - 3))
    dropped = (output == 0).double().mean().item()
    assert dropped == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / N))
    [scale] = output[output > 0].unique().tolist()
    assert scale == pytest.approx(1 / (1 - p), rel=1e-3)


def test_features_sharing_a_random_number_drop_independently():
    torch.manual_seed(0)
    dropped = (dropout(nn.Dropout(0.3), torch.ones(N // 4, 4)) == 0).double()
    assert torch.allclose(torch.corrcoef(dropped.mT), torch.eye(4, dtype=torch.float64), atol=5 / math.sqrt(N // 4))
    assert torch.allclose(dropped.mean(0), torch.tensor(0.3, dtype=torch.float64), atol=5 * 0.46 / math.sqrt(N // 4))


def test_dropout_gradient_is_the_mask():
    x = torch.randn(3, 7, requires_grad=True)
    output = dropout(nn.Dropout(0.5), x)
    output.sum().backward()
    assert torch.equal(output.detach(), x.detach() * x.grad)


def test_seed_determines_the_mask():
    torch.manual_seed(0)
    first, second = (dropout(nn.Dropout(0.5), torch.ones(99)) for _ in range(2))
    torch.manual_seed(0)
    assert torch.equal(dropout(nn.Dropout(0.5), torch.ones(99)), first)
    assert not torch.equal(first, second)


class Doubled(nn.Dropout):
    def forward(self, x):
        return 2 * x


def test_hook_receives_the_dropout_output():
    module, observed = nn.Dropout(0.5), []
    module.register_forward_hook(lambda _module, _args, output: observed.append(output))
    assert torch.equal(dropout(module, torch.ones(3, 5)), observed[0][0])


@pytest.mark.parametrize("p", [2**-18, 1 - 2**-18, 1 - 1e-9])
def test_rounded_probability_of_0_or_1_uses_torch(p):
    torch.manual_seed(0)
    output = dropout(nn.Dropout(p), torch.ones(999, 9))
    torch.manual_seed(0)
    assert torch.equal(output, nn.Dropout(p)(torch.ones(999, 9)))


@pytest.mark.parametrize(
    ("module", "factor"),
    [(nn.Dropout(0.5).eval(), 1), (nn.Dropout(0.0), 1), (nn.Dropout(1.0), 0), (Doubled(0.5), 2), (nn.Identity(), 1)],
)
def test_calls_unsupported_modules_normally(module, factor):
    x = torch.randn(3, 5)
    before = torch.get_rng_state()
    assert torch.equal(dropout(module, x), factor * x)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("module", [nn.Dropout(0.3), nn.Dropout(0.3).eval(), nn.Dropout(0.0), Doubled(0.3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_add_dropout_matches_addition_after_dropout(module, dtype):
    residual, x = torch.randn(5, 7, dtype=dtype), torch.randn(5, 7)
    torch.manual_seed(1)
    expected = residual + dropout(module, x)
    torch.manual_seed(1)
    output = add_dropout(residual, module, x)
    assert output.dtype == expected.dtype
    assert torch.allclose(output, expected, atol=1e-6)
