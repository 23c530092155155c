"""Compare networks from our library with torch's networks, with parameters copied in either direction."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

OUR_NAMES = {
    "self_attn": "self_attention",
    "multihead_attn": "cross_attention",
    "out_proj": "w_o",
    "linear1": "feed_forward.w_1",
    "linear2": "feed_forward.w_2",
    "norm1": "norm_1",
    "norm2": "norm_2",
    "norm3": "norm_3",
}
either_way = pytest.mark.parametrize("copied_from", ["ours", "torch's"])


def drawn(module: nn.Module) -> nn.Module:
    """Draw every parameter at random, including biases. If a bias were 0, tests would not detect that it is missing."""
    for parameter in module.double().parameters():
        nn.init.normal_(parameter, std=0.5)
    return module


def drawn_network(kind: Callable[[int, int], Any], rng: torch.Generator, d_model: int, d_ff: int) -> nn.Module:
    """Create a float64 network whose parameters, including biases, are drawn from a standard normal distribution."""
    network = kind(d_model, d_ff).double()
    for parameter in network.parameters():
        nn.init.normal_(parameter, generator=rng)
    return network


def vectors(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def by_our_names(theirs: nn.Module, of: Callable[[nn.Parameter], Tensor | None]) -> dict[str, Tensor]:
    """Return the parameters or gradients of torch's network, keyed by our parameter names."""
    named = {}
    for name, parameter in theirs.named_parameters():
        *path, last = name.split(".")
        prefix = "".join(f"{OUR_NAMES.get(word, word)}." for word in path)
        whole = of(parameter)
        assert whole is not None, f"{name} has no gradient"
        if last.startswith("in_proj_"):
            for w, part in zip(["w_q", "w_k", "w_v"], whole.chunk(3), strict=True):
                named[f"{prefix}{w}.{last.removeprefix('in_proj_')}"] = part
        else:
            named[prefix + last] = whole
    return named


def make_twins(ours: nn.Module, theirs: nn.Module, copied_from: str) -> None:
    """Convert both networks to float64, and set all their parameters to the same random values."""
    ours.double()
    theirs.double()
    our_parameters = dict(ours.named_parameters())
    their_parameters = by_our_names(theirs, lambda parameter: parameter.data)
    assert our_parameters.keys() == their_parameters.keys()
    for name, their_part in their_parameters.items():
        our_part = our_parameters[name].data
        source, copy = (our_part, their_part) if copied_from == "ours" else (their_part, our_part)
        source.copy_(torch.randn(source.shape) / 2)
        copy.copy_(source)


def assert_twins(ours: nn.Module, theirs: nn.Module, our_output: Tensor, their_output: Tensor, *inputs: Tensor) -> None:
    """Assert that both networks compute nearly equal outputs and gradients of all inputs and parameters."""
    assert_close(our_output, their_output)
    assert our_output.std() > 0.1
    upstream = torch.randn(our_output.shape, dtype=our_output.dtype)
    our_gradients = gradients_at(inputs, our_output, upstream)
    their_gradients = gradients_at(inputs, their_output, upstream)
    assert_close(our_gradients, their_gradients)
    ours_by_name = {name: parameter.grad for name, parameter in ours.named_parameters()}
    theirs_by_name = by_our_names(theirs, lambda parameter: parameter.grad)
    assert_close(ours_by_name, theirs_by_name)


def gradients_at(inputs: tuple[Tensor, ...], output: Tensor, upstream: Tensor) -> list[Tensor | None]:
    """Run the backward pass, which also sets the parameters' gradients, and return the inputs' gradients."""
    for x in inputs:
        x.grad = None
    output.backward(upstream)
    return [x.grad for x in inputs]
