"""Test the norms against torch's implementations, and test their invariances and numerical range."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from torch import Tensor, nn
from torch.autograd import grad
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.strategies import generators, normal, sizes
from transformer_lab.layers.norms import layer_norm, make_norm, rms_norm

EPS = st.sampled_from([1e-5, 0.1, 3.0])
"""These values of eps are so large that the result depends on where eps is added."""
shapes = st.integers(1, 4).flatmap(sizes)


def unshifted_layer_norm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    return layer_norm(x, weight, torch.zeros_like(weight), eps)


both_norms = pytest.mark.parametrize("norm", [unshifted_layer_norm, rms_norm])


@given(shape=shapes, rng=generators(), eps=EPS)
def test_layer_norm_matches_torch(shape, rng, eps):
    x, weight, bias = (normal(rng, *size).requires_grad_() for size in (shape, shape[-1:], shape[-1:]))
    ours = layer_norm(x, weight, bias, eps)
    theirs = F.layer_norm(x, shape[-1:], weight, bias, eps)
    assert_close(ours, theirs)
    leaves = [x, weight, bias]
    probe = normal(rng, *shape)
    assert_close(grad((ours * probe).sum(), leaves), grad((theirs * probe).sum(), leaves))


@given(shape=shapes, rng=generators(), eps=EPS)
def test_rms_norm_matches_torch(shape, rng, eps):
    theirs = nn.RMSNorm(shape[-1], eps, dtype=torch.float64)
    nn.init.normal_(theirs.weight, generator=rng)
    x, probe = normal(rng, *shape).requires_grad_(), normal(rng, *shape)
    assert_close(rms_norm(x, theirs.weight, eps), theirs(x))
    leaves = [x, theirs.weight]
    assert_close(grad((rms_norm(x, *leaves[1:], eps) * probe).sum(), leaves), grad((theirs(x) * probe).sum(), leaves))


@given(rng=generators(), size=st.sampled_from([1e-3, 1.0, 1e3]), shift=st.sampled_from([-7.0, 0.0, 7.0]))
def test_norms_ignore_scale_and_layer_norm_ignores_offset(rng, size, shift):
    x, weight = normal(rng, 5, 7), normal(rng, 7)
    assert_close(unshifted_layer_norm(size * x + shift, weight, eps=0.0), unshifted_layer_norm(x, weight, eps=0.0))
    assert_close(rms_norm(size * x, weight, eps=0.0), rms_norm(x, weight, eps=0.0))


@both_norms
@given(rng=generators(), data=st.data())
def test_normalizes_each_position_independently(norm, rng, data):
    x, weight = normal(rng, 2, 5, 7), normal(rng, 7)
    sentence, position = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 4))
    changed = x.clone()
    changed[sentence, position] = 9 * normal(rng, 7)
    others = torch.ones(2, 5, dtype=torch.bool)
    others[sentence, position] = False
    assert torch.equal(norm(changed, weight)[others], norm(x, weight)[others])
    assert not torch.allclose(norm(changed, weight)[~others], norm(x, weight)[~others])


@both_norms
@pytest.mark.parametrize("dtype, tolerance", [(torch.float16, 2e-3), (torch.bfloat16, 2e-2)], ids=str)
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_half_precision_preserves_dtype_without_overflow(norm, dtype, tolerance, size):
    torch.manual_seed(0)
    x, weight = (size * torch.randn(5, 7)).to(dtype), torch.randn(7).to(dtype)
    normalized = norm(x, weight)
    assert normalized.dtype == dtype
    assert_close(normalized.double(), norm(x.double(), weight.double()), rtol=tolerance, atol=tolerance)


@both_norms
def test_zero_input_stays_zero_with_finite_gradients(norm):
    x, weight = torch.zeros(1, 7, requires_grad=True), torch.ones(7)
    normalized = norm(x, weight)
    (gradient,) = grad(normalized.sum(), x)
    assert torch.equal(normalized, torch.zeros(1, 7))
    assert gradient.isfinite().all()


@both_norms
def test_rejects_weight_with_the_wrong_width(norm):
    with pytest.raises(TypeCheckError, match="parameter 'weight'"):
        norm(torch.ones(5, 7), torch.ones(5))


@pytest.mark.parametrize("bias", [True, False])
def test_make_norm_returns_the_requested_norm(bias):
    layer, rms = (make_norm(name, 7, eps=0.1, bias=bias) for name in ("layer", "rms"))
    assert type(layer) is nn.LayerNorm
    assert type(rms) is nn.RMSNorm
    assert [layer.normalized_shape, rms.normalized_shape] == [(7,), (7,)]
    assert [layer.eps, rms.eps] == [0.1, 0.1]
    assert (layer.bias is not None) is bias
