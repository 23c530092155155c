"""What attention must do, whatever the scores; and what single functions of it compute."""

import math
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import grad, gradcheck
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.reference_loops import by_loops, dot, heads_by_loops, scaled_dot
from tests.helpers.strategies import attention_inputs, generators, normal, sizes
from tests.helpers.torch_parity import drawn, vectors
from transformer_lab.attention.multi_head import split_heads

Attention = Callable[..., Tensor]
"""From queries, keys, values and a mask to the output."""

BATCH, N_QUERY, N_KEY, D_MODEL, N_HEADS = 2, 5, 7, 15, 3
"""Sizes of multi-head attention."""


def draw_mask(*leading: int, n_key: int = N_KEY, n_query: int = N_QUERY) -> Tensor:
    """Draw a mask that leaves every query its first key at least."""
    mask = torch.rand(*leading, n_query, n_key) < 0.6
    mask[..., 0] = True
    return mask


@given(sizes=sizes(3), rng=generators())
def assert_soft_lookup(lookup: Callable[[Tensor, Tensor, Tensor], Tensor], sizes, rng):
    n, d, d_v = sizes
    query, keys, values = normal(rng, d), normal(rng, n, d), normal(rng, n, d_v)
    assert_close(lookup(query, keys, values), by_loops(dot, query[None], keys, values)[0])


@given(inputs=attention_inputs())
def assert_scaled_dot_product_attention(attention: Attention, inputs):
    q, k, v, _ = inputs
    assert_close(attention(q, k, v), by_loops(scaled_dot, q, k, v))


@given(inputs=attention_inputs())
def assert_masked_attention(attention: Attention, inputs):
    assert_close(attention(*inputs), by_loops(scaled_dot, *inputs))


@given(inputs=attention_inputs())
def assert_mask_means_what_it_means_to_torch(attention: Attention, inputs):
    q, k, v, mask = inputs
    assert_close(attention(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


def assert_hides_a_key_however_badly_the_others_match(attention: Attention):
    q, k, v = torch.tensor([[1.0]]), torch.tensor([[-1e12], [0.0]]), torch.tensor([[3.0], [5.0]])
    assert_close(attention(q, k, v, torch.tensor([[True, False]])), torch.tensor([[3.0]]))


@given(inputs=attention_inputs(), data=st.data())
def assert_keys_have_no_order(attention: Attention, inputs, data):
    q, k, v, mask = inputs
    order = data.draw(st.permutations(range(k.shape[-2])))
    shuffled = attention(q, k[..., order, :], v[..., order, :], mask[..., order])
    assert_close(shuffled, attention(q, k, v, mask))


@given(inputs=attention_inputs(), data=st.data())
def assert_permuting_queries_permutes_outputs(attention: Attention, inputs, data):
    q, k, v, mask = inputs
    order = data.draw(st.permutations(range(q.shape[-2])))
    assert_close(attention(q[..., order, :], k, v, mask[..., order, :]), attention(q, k, v, mask)[..., order, :])


@given(inputs=attention_inputs())
def assert_outputs_stay_within_visible_values(attention: Attention, inputs):
    output = attention(*inputs)
    seen, values = inputs.mask.unsqueeze(-1), inputs.v.unsqueeze(-3)
    highest = values.where(seen, -torch.inf).amax(dim=-2)
    lowest = values.where(seen, torch.inf).amin(dim=-2)
    some = inputs.mask.any(dim=-1)
    assert (output <= highest + 1e-9)[some].all()
    assert (output >= lowest - 1e-9)[some].all()


@given(inputs=attention_inputs())
def assert_fully_masked_query_gets_zeros_and_finite_gradients(attention: Attention, inputs):
    q, k, v, mask = (x.clone() for x in inputs)
    leaves = [x.requires_grad_() for x in (q, k, v)]
    with torch.autograd.set_detect_anomaly(True):  # no nan on the way either
        output = attention(q, k, v, mask)
        gradients = grad(output.square().sum(), leaves)
    assert (output[~mask.any(dim=-1)] == 0).all()
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][~mask.any(dim=-1)] == 0).all()


@given(inputs=attention_inputs(), rng=generators(), n=st.integers(1, 4))
def assert_appending_hidden_keys_changes_nothing(attention: Attention, inputs, rng, n):
    q, k, v, mask = inputs
    longer = (torch.cat([x, 9 * normal(rng, *x.shape[:-2], n, x.shape[-1])], dim=-2) for x in (k, v))
    hidden = torch.zeros(*mask.shape[:-1], n, dtype=torch.bool)
    assert_close(attention(q, *longer, torch.cat([mask, hidden], dim=-1)), attention(q, k, v, mask))


@given(inputs=attention_inputs(), data=st.data())
def assert_masks_broadcast(attention: Attention, inputs, data):
    q, k, v, mask = inputs
    for axis in data.draw(st.sets(st.sampled_from(range(mask.dim())), min_size=1)):
        mask = mask.narrow(axis, 0, 1)
    whole = mask.expand(inputs.mask.shape).contiguous()
    assert_close(attention(q, k, v, mask), attention(q, k, v, whole))
    assert_close(attention(q, k, v, whole.new_ones(1, 1)), attention(q, k, v))


@given(inputs=attention_inputs())
def assert_keeps_dtype(attention: Attention, dtype: torch.dtype, tolerance: float, inputs):
    q, k, v = (x.to(dtype) for x in inputs[:3])
    output = attention(q, k, v, inputs.mask)
    assert output.dtype == dtype
    exact = attention(q.double(), k.double(), v.double(), inputs.mask)
    assert_close(output.double(), exact, rtol=tolerance, atol=tolerance)


@given(inputs=attention_inputs())
def assert_gradients_are_those_of_small_differences(attention: Attention, inputs):
    leaves = [x.clone().requires_grad_() for x in inputs[:3]]
    assert gradcheck(lambda *x: attention(*x, inputs.mask), leaves, fast_mode=True, raise_exception=False)


def score_by_loops(w_q: Tensor, w_k: Tensor, w: Tensor, query: Tensor, key: Tensor) -> float:
    """Compute the additive score of one pair, one hidden number at a time."""
    return sum(w_i.item() * math.tanh(dot(a, query) + dot(b, key)) for a, b, w_i in zip(w_q, w_k, w, strict=True))


@given(sizes=sizes(6), rng=generators())
def assert_additive_scores(score: Callable[..., Tensor], sizes, rng):
    batch, n_query, n_key, d_q, d_k, d_h = sizes
    queries, keys = normal(rng, batch, n_query, d_q), normal(rng, batch, n_key, d_k)
    parameters = normal(rng, d_h, d_q), normal(rng, d_h, d_k), normal(rng, d_h)
    expected = [
        [[score_by_loops(*parameters, query, key) for key in keys[b]] for query in queries[b]] for b in range(batch)
    ]
    assert_close(score(queries, keys, *parameters), torch.tensor(expected, dtype=torch.float64))


@given(sizes=sizes(3), n_heads=st.integers(1, 4), rng=generators())
def assert_splits_heads(split: Callable[[Tensor, int], Tensor], sizes, n_heads, rng):
    batch, n, d_k = sizes
    x = normal(rng, batch, n, n_heads * d_k)
    heads = split(x, n_heads)
    assert heads.shape == (batch, n_heads, n, d_k)
    for head in range(n_heads):
        assert torch.equal(heads[:, head], x[..., head * d_k : (head + 1) * d_k])


@given(sizes=sizes(3), n_heads=st.integers(1, 4), rng=generators())
def assert_merges_heads(merge: Callable[[Tensor], Tensor], sizes, n_heads, rng):
    batch, n, d_k = sizes
    x = normal(rng, batch, n, n_heads * d_k)
    assert torch.equal(merge(split_heads(x, n_heads).contiguous()), x)  # as a matrix product leaves them


def assert_multi_head_attention(multi_head: Callable[[int, int], Any], mask: Tensor | None):
    attention = drawn(multi_head(D_MODEL, N_HEADS))
    inputs = vectors(BATCH, N_QUERY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL)
    assert_close(attention(*inputs, mask), heads_by_loops(attention, *inputs, mask))
