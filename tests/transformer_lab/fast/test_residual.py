"""The residual connection with gradients by hand beside the plain operations, with the same random numbers."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.fast.dropout import dropout
from transformer_lab.fast.residual import add, add_and_normalise


class Halved(nn.Module):
    def forward(self, x):
        _batch, _n, _d = x.shape  # as a learner's may be written
        return x / 2


class Centred(nn.LayerNorm):
    def forward(self, x):
        return x - x.mean(-1, keepdim=True) + self.bias


NORMS = {
    "norm": nn.LayerNorm(5, eps=0.1),
    "without bias": nn.LayerNorm(5, bias=False),
    "without parameters": nn.LayerNorm(5, elementwise_affine=False),
    "root mean square": nn.RMSNorm(5),
    "a learner's": Centred(5),
}
DROPOUTS = {
    "drops": nn.Dropout(0.4),
    "drops nothing": nn.Dropout(0.0),
    "evaluates": nn.Dropout(0.4).eval(),
    "a learner's": Halved(),
}


def draw() -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(2)
    return [torch.randn(11, 5, generator=rng, dtype=torch.float64, requires_grad=True) for _ in range(2)]


def assert_same(ours, theirs, inputs) -> None:
    outputs = []
    for compute in (ours, theirs):
        torch.manual_seed(3)  # the same features are dropped
        y = compute()
        outputs.append((y, *torch.autograd.grad((y * torch.arange(55).view(11, 5)).sum(), inputs)))
    assert_close(*outputs)
    torch.manual_seed(3)
    with torch.no_grad():
        assert_close(ours(), outputs[1][0])


@pytest.mark.parametrize("dropped", DROPOUTS)
def test_the_sum_is_that_of_the_plain_operations(dropped):
    (x, y), module = draw(), DROPOUTS[dropped]
    assert_same(lambda: add(x, module, y), lambda: x + dropout(module, y), [x, y])


@pytest.mark.parametrize("dropped", DROPOUTS)
@pytest.mark.parametrize("name", NORMS)
def test_the_normalised_sum_is_that_of_the_plain_operations(name, dropped):
    (x, y), module, norm = draw(), DROPOUTS[dropped], NORMS[name].double()
    inputs = [x, y, *norm.parameters()] if name != "a learner's" else [x, y, norm.bias]
    assert_same(lambda: add_and_normalise(x, module, y, norm), lambda: norm(x + dropout(module, y)), inputs)


def test_under_autocast_it_is_the_plain_operations():
    x, y = (tensor.float() for tensor in draw())
    norm, module = nn.LayerNorm(5), nn.Dropout(0.4)
    with torch.autocast("cpu", torch.bfloat16):
        half = y.bfloat16()
        torch.manual_seed(3)
        ours = add_and_normalise(x, module, half, norm)
        torch.manual_seed(3)
        assert_close(ours, norm(x + dropout(module, half)))
