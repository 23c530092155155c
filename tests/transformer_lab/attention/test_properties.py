"""Test properties of additive attention and of dot-product attention with and without weights."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import grad, gradcheck
from torch.testing import assert_close

from tests.helpers.attention import mix
from tests.helpers.strategies import attention_inputs, generators, normal
from transformer_lab.attention.additive import AdditiveAttention
from transformer_lab.attention.dot_product import attend


def additive(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute additive attention with parameters from a fixed seed, for any number of leading dimensions."""
    leading = q.shape[:-2]
    if mask is not None:
        mask = mask.expand(*leading, q.shape[-2], k.shape[-2]).reshape(-1, q.shape[-2], k.shape[-2])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        attention = AdditiveAttention(q.shape[-1], k.shape[-1], d_h=13).to(q.dtype)
    output, _ = attention(*(x.reshape(-1, *x.shape[-2:]) for x in (q, k, v)), mask)
    return output.reshape(*leading, *output.shape[-2:])


any_attention = pytest.mark.parametrize("attention", [mix, attend, additive])


@any_attention
@given(inputs=attention_inputs(), data=st.data())
def test_output_is_invariant_to_key_order(attention, inputs, data):
    q, k, v, mask = inputs
    order = data.draw(st.permutations(range(k.shape[-2])))
    shuffled = attention(q, k[..., order, :], v[..., order, :], mask[..., order])
    assert_close(shuffled, attention(q, k, v, mask))


@any_attention
@given(inputs=attention_inputs(), data=st.data())
def test_permuting_queries_permutes_outputs(attention, inputs, data):
    q, k, v, mask = inputs
    order = data.draw(st.permutations(range(q.shape[-2])))
    assert_close(attention(q[..., order, :], k, v, mask[..., order, :]), attention(q, k, v, mask)[..., order, :])


@any_attention
@given(inputs=attention_inputs())
def test_outputs_stay_within_the_visible_value_range(attention, inputs):
    output = attention(*inputs)
    observed, values = inputs.mask.unsqueeze(-1), inputs.v.unsqueeze(-3)
    highest = values.where(observed, -torch.inf).amax(dim=-2)
    lowest = values.where(observed, torch.inf).amin(dim=-2)
    some = inputs.mask.any(dim=-1)
    assert (output <= highest + 1e-9)[some].all()
    assert (output >= lowest - 1e-9)[some].all()


@any_attention
@given(inputs=attention_inputs())
def test_fully_masked_query_returns_zeros_with_finite_gradients(attention, inputs):
    q, k, v, mask = (x.clone() for x in inputs)
    leaves = [x.requires_grad_() for x in (q, k, v)]
    with torch.autograd.set_detect_anomaly(True):  # also detects NaN in intermediate gradients
        output = attention(q, k, v, mask)
        gradients = grad(output.square().sum(), leaves)
    assert (output[~mask.any(dim=-1)] == 0).all()
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][~mask.any(dim=-1)] == 0).all()


@any_attention
@given(inputs=attention_inputs(), rng=generators(), n=st.integers(1, 4))
def test_appending_masked_keys_preserves_the_output(attention, inputs, rng, n):
    q, k, v, mask = inputs
    longer = (torch.cat([x, 9 * normal(rng, *x.shape[:-2], n, x.shape[-1])], dim=-2) for x in (k, v))
    hidden = torch.zeros(*mask.shape[:-1], n, dtype=torch.bool)
    assert_close(attention(q, *longer, torch.cat([mask, hidden], dim=-1)), attention(q, k, v, mask))


@any_attention
@given(inputs=attention_inputs(), data=st.data())
def test_masks_with_size_one_broadcast(attention, inputs, data):
    q, k, v, mask = inputs
    for axis in data.draw(st.sets(st.sampled_from(range(mask.dim())), min_size=1)):
        mask = mask.narrow(axis, 0, 1)
    whole = mask.expand(inputs.mask.shape).contiguous()
    assert_close(attention(q, k, v, mask), attention(q, k, v, whole))
    assert_close(attention(q, k, v, whole.new_ones(1, 1)), attention(q, k, v))


@any_attention
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 0.05)], ids=str)
@given(inputs=attention_inputs())
def test_preserves_dtype(attention, dtype, tolerance, inputs):
    q, k, v = (x.to(dtype) for x in inputs[:3])
    output = attention(q, k, v, inputs.mask)
    assert output.dtype == dtype
    exact = attention(q.double(), k.double(), v.double(), inputs.mask)
    assert_close(output.double(), exact, rtol=tolerance, atol=tolerance)


@any_attention
@given(inputs=attention_inputs())
def test_gradients_match_finite_differences(attention, inputs):
    leaves = [x.clone().requires_grad_() for x in inputs[:3]]
    assert gradcheck(lambda *x: attention(*x, inputs.mask), leaves, fast_mode=True, raise_exception=False)
