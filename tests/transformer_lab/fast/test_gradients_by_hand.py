"""Functions with gradients by hand: without gradients, only what they compute is computed."""

import pytest
import torch
from torch import Tensor

from transformer_lab.fast.gradients_by_hand import apply


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)
        return 3 * x

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        return 3 * gradient


def test_with_gradients_they_come_from_the_function():
    x = torch.randn(5, requires_grad=True)
    apply(Triple, x).sum().backward()
    assert torch.equal(x.grad, torch.full((5,), 3.0))


@pytest.mark.parametrize("without", [torch.no_grad, torch.inference_mode])
def test_without_gradients_autograd_is_not_told(without, monkeypatch):
    monkeypatch.setattr(Triple, "apply", lambda *_: pytest.fail("told"))
    x = torch.randn(5, requires_grad=True)
    with without():
        y = apply(Triple, x)
    assert torch.equal(y, 3 * x) and not y.requires_grad
