"""Test the values and gradients of the fused last layer and loss against torch's separate operations."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lab.fast import vocabulary_loss as module
from transformer_lab.fast.vocabulary_loss import vocabulary_loss


def draw(bias: bool, dtype: torch.dtype = torch.float64):
    rng = torch.Generator().manual_seed(3)
    x, weight, b = (torch.randn(*shape, generator=rng, dtype=dtype) for shape in ((7, 5), (11, 5), (11,)))
    tensors = [x, weight, b] if bias else [x, weight]
    return [tensor.requires_grad_() for tensor in tensors], torch.randint(11, (7,), generator=rng)


def plain(tensors, targets, smoothing):
    return F.cross_entropy(F.linear(*tensors), targets, label_smoothing=smoothing, reduction="sum")


def fast(tensors, targets, smoothing):
    x, weight, bias = (*tensors, None)[:3]
    return vocabulary_loss(x, weight, bias, targets, smoothing)


@pytest.mark.parametrize("rows_at_once", [1, 3, 7])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_value_and_gradients_match_torch(monkeypatch, rows_at_once, bias, dtype):
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", rows_at_once)
    for smoothing in (0.0, 0.1):
        tensors, targets = draw(bias, dtype)
        ours, theirs = fast(tensors, targets, smoothing), plain(tensors, targets, smoothing)
        assert_close(ours, theirs)
        assert_close(torch.autograd.grad(ours / 7, tensors), torch.autograd.grad(theirs / 7, tensors))


@pytest.mark.parametrize("rows_at_once", [2, 3, 7])
def test_ignores_rows_after_last_target(monkeypatch, rows_at_once):
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", rows_at_once)
    tensors, targets = draw(bias=True)
    ours = fast(tensors, targets[:3], 0.1)
    theirs = plain([tensors[0][:3], *tensors[1:]], targets[:3], 0.1)
    assert_close(ours, theirs)
    assert_close(torch.autograd.grad(ours, tensors), torch.autograd.grad(theirs, tensors))


def test_loss_is_finite_for_extreme_logits():
    tensors, targets = draw(bias=True)
    large = [1000 * tensor.detach() for tensor in tensors]
    assert_close(fast(large, targets, 0.1), plain(large, targets, 0.1))


@pytest.mark.parametrize("bias", [False, True])
def test_empty_input_returns_zero_loss_and_gradients(bias):
    tensors, targets = draw(bias)
    value = fast([tensors[0][:0], *tensors[1:]], targets[:0], 0.1)
    assert value.item() == 0
    assert not any(gradient.any() for gradient in torch.autograd.grad(value, tensors))


def test_computes_only_value_when_gradients_are_disabled():
    tensors, targets = draw(bias=True)
    with torch.no_grad():
        value = fast(tensors, targets, 0.1)
    assert not value.requires_grad
    assert_close(value, plain(tensors, targets, 0.1).detach())


def test_computes_logits_in_chunks(monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", 2)
    chunk_sizes = []
    linear = module._linear
    monkeypatch.setattr(module, "_linear", lambda rows, *rest: chunk_sizes.append(len(rows)) or linear(rows, *rest))
    fast(*draw(bias=False), 0.0)
    assert chunk_sizes == [2, 2, 2, 1]


def test_second_backward_raises():
    tensors, targets = draw(bias=False)
    value = fast(tensors, targets, 0.1)
    value.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="compute the loss again"):
        value.backward()
