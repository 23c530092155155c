"""Tests that LoRA initially matches the original layer, adds a low-rank update, and trains only the added matrices."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lab.layers.lora import LoRALinear


def layers(bias: bool = True) -> tuple[LoRALinear, nn.Linear]:
    torch.manual_seed(0)
    linear = nn.Linear(5, 7, bias).double()
    return LoRALinear(deepcopy(linear), rank=2, alpha=6.0), linear


@pytest.mark.parametrize("bias", [True, False])
def test_output_matches_a_merged_matrix(bias):
    layer, linear = layers(bias)
    nn.init.normal_(layer.b)
    x = torch.randn(2, 3, 5, dtype=torch.float64)
    change = torch.zeros(7, 5, dtype=torch.float64)
    for i in range(7):
        for j in range(5):
            change[i, j] = 6 / 2 * sum(layer.b[i, r] * layer.a[r, j] for r in range(2))
    assert_close(layer(x), F.linear(x, linear.weight + change, linear.bias))


def test_training_updates_only_the_lora_matrices():
    layer, linear = layers()
    x = torch.randn(3, 5, dtype=torch.float64)
    assert torch.equal(layer(x), linear(x))
    assert {name for name, p in layer.named_parameters() if p.requires_grad} == {"a", "b"}
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(x).square().sum().backward()
        optimizer.step()
    assert not torch.allclose(layer(x), linear(x))
    assert torch.equal(layer.linear.weight, linear.weight) and torch.equal(layer.linear.bias, linear.bias)


def test_rejects_rank_0():
    with pytest.raises(ValueError, match="rank must be positive; got rank=0"):
        LoRALinear(nn.Linear(3, 5), rank=0, alpha=1.0)
