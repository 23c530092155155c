"""Feed-forward networks with gradients by hand beside the networks themselves."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lab.fast import feed_forward as module
from transformer_lab.fast.feed_forward import feed_forward
from transformer_lab.layers.feed_forward import FeedForward, SwiGLU, make_feed_forward
from transformer_lab.layers.lora import add_lora

X = torch.randn(11, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def assert_same(network: nn.Module) -> None:
    x = X.clone().requires_grad_()
    inputs = [x, *(p for p in network.parameters() if p.requires_grad)]
    outputs = feed_forward(network, x), network(x[None])[0]
    assert_close(*outputs)
    assert_close(*(torch.autograd.grad(y.square().sum(), inputs) for y in outputs))
    with torch.no_grad():
        assert_close(feed_forward(network, x), outputs[1])
    assert torch.equal(x, X)


@pytest.fixture
def taken(monkeypatch) -> list[int]:
    calls: list[int] = []
    original = module._FeedForward.forward
    monkeypatch.setattr(module._FeedForward, "forward", lambda *args: calls.append(1) or original(*args))
    return calls


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_tanh"])
def test_outputs_and_gradients_are_the_networks(name, bias, taken):
    assert_same(make_feed_forward(name, 5, 7, bias).double())
    assert len(taken) == 2


def test_frozen_parameters_get_no_gradient():
    network = FeedForward(5, 7).double()
    network.w_1.requires_grad_(False)
    assert_same(network)
    feed_forward(network, X).sum().backward()
    assert network.w_1.weight.grad is None and network.w_2.weight.grad is not None


class Learners(FeedForward):
    def activation(self, z):
        return torch.tanh(z)


def other(kind: str) -> nn.Module:
    network = Learners(5, 7) if kind == "a learner's" else SwiGLU(5, 7) if kind == "gated" else FeedForward(5, 7)
    if kind == "hooked":
        network.register_forward_hook(lambda module, arguments, output: 2 * output)
    if kind == "with hooked layer":
        network.w_2.register_forward_hook(lambda module, arguments, output: 2 * output)
    if kind == "adapted":
        add_lora(network, ["w_1"], rank=2, alpha=4.0)
    return network.double()


@pytest.mark.parametrize("kind", ["a learner's", "gated", "hooked", "with hooked layer", "adapted"])
def test_other_networks_are_called(kind, taken):
    assert_same(other(kind))
    assert not taken


def test_under_autocast_networks_are_called(taken):
    network, x = FeedForward(5, 7), X.float()
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(feed_forward(network, x), network(x))
    assert not taken
