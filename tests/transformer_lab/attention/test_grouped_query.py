"""Test grouped-query attention against loops and against multi-head attention."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.attention import BATCH, D_MODEL, N_HEADS, N_KEY, draw_mask
from tests.helpers.reference_loops import heads_by_loops
from tests.helpers.strategies import generators, normal, sizes
from tests.helpers.torch_parity import drawn, vectors
from transformer_lab.attention.grouped_query import GroupedQueryAttention, repeat_kv
from transformer_lab.attention.masks import causal_mask
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.attention.positions import Positional, Rotation, alibi_bias, apply_rotary
from transformer_lab.inspection.hooks import record_attention


@given(sizes=sizes(4), n_repeats=st.integers(1, 3), rng=generators())
def test_repeat_kv_repeats_each_head_consecutively(sizes, n_repeats, rng):
    x = normal(rng, *sizes)
    repeated = repeat_kv(x, n_repeats)
    assert repeated.shape[1] == sizes[1] * n_repeats
    for head in range(repeated.shape[1]):
        assert torch.equal(repeated[:, head], x[:, head // n_repeats])


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@pytest.mark.parametrize("bias", [False, True])
def test_query_groups_share_keys_and_values(n_kv_heads, bias):
    attention = drawn(GroupedQueryAttention(D_MODEL * 2, 6, n_kv_heads, bias))
    x, mask = vectors(BATCH, N_KEY, D_MODEL * 2), draw_mask(n_query=N_KEY)
    assert_close(attention(x, mask), heads_by_loops(attention, x, x, x, mask))
    assert attention.w_k.weight.shape == attention.w_v.weight.shape == (n_kv_heads * 5, D_MODEL * 2)


def test_equal_head_counts_match_multi_head_attention():
    grouped, multi = GroupedQueryAttention(D_MODEL, N_HEADS, N_HEADS, bias=True), MultiHeadAttention(D_MODEL, N_HEADS)
    multi.double().load_state_dict(drawn(grouped).state_dict())
    x, mask = vectors(BATCH, N_KEY, D_MODEL), draw_mask(n_query=N_KEY)
    assert_close(grouped(x, mask), multi(x, x, x, mask))


def test_applies_rotation_and_bias():
    n, d_k = N_KEY, 4
    attention = drawn(GroupedQueryAttention(3 * d_k, n_heads=3, n_kv_heads=3))
    x, where, bias = vectors(1, n, 3 * d_k), torch.arange(n), alibi_bias(3, n, n).double()
    with record_attention(attention) as recorded:
        attention(x, positional=Positional(bias, Rotation(where, d_k)))
    for head in range(3):
        rows = slice(head * d_k, (head + 1) * d_k)
        q, k = (apply_rotary(x[0] @ w.weight[rows].T, where) for w in [attention.w_q, attention.w_k])
        assert_close(recorded[""][0, head], torch.softmax(q @ k.T / 2 + bias[head], dim=-1))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_does_not_copy_shared_keys_and_values(n_kv_heads, monkeypatch):
    def recording_kernel(q, k, v, **options):
        heads.append((q.shape[1], k.shape[1], v.shape[1]))
        return original(q, k, v, **options)

    heads, original = [], F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", recording_kernel)
    GroupedQueryAttention(D_MODEL * 2, 6, n_kv_heads)(torch.randn(BATCH, N_KEY, D_MODEL * 2), draw_mask(n_query=N_KEY))
    assert heads == [(6, n_kv_heads, n_kv_heads)]


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@pytest.mark.parametrize("is_causal", [False, True])
def test_recording_weights_does_not_change_the_output(n_kv_heads, is_causal):
    attention = drawn(GroupedQueryAttention(D_MODEL * 2, 6, n_kv_heads))
    x = vectors(BATCH, N_KEY, D_MODEL * 2)
    with record_attention(attention) as recorded:
        observed = attention(x, is_causal=is_causal)
    assert_close(observed, attention(x, is_causal=is_causal))
    assert_close(observed, attention(x, causal_mask(N_KEY) if is_causal else None))
    assert recorded[""].shape == (BATCH, 6, N_KEY, N_KEY)
    assert bool((recorded[""].triu(1) == 0).all()) is is_causal


@pytest.mark.parametrize("sizes", [{"d_k": 0}, {"d_k": -1}])
def test_rejects_nonpositive_head_width(sizes):
    with pytest.raises(ValueError, match=f"d_k must be positive; got d_k={sizes['d_k']}"):
        GroupedQueryAttention(15, 3, 1, **sizes)


@pytest.mark.parametrize("n_kv_heads", [2, 0, 6])
def test_rejects_indivisible_head_counts(n_kv_heads):
    with pytest.raises(ValueError, match=f"n_heads=3, n_kv_heads={n_kv_heads}"):
        GroupedQueryAttention(15, 3, n_kv_heads)
