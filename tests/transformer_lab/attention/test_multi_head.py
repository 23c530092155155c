"""Test multi-head attention against loops and against torch, and test properties of every head."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from tests.helpers.attention import BATCH, D_MODEL, N_HEADS, N_KEY, N_QUERY, draw_mask
from tests.helpers.reference_loops import heads_by_loops
from tests.helpers.strategies import generators, normal, sizes
from tests.helpers.torch_parity import assert_twins, drawn, either_way, make_twins, vectors
from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.kv_cache import KVCache, SourceKV
from transformer_lab.attention.masks import causal_mask, mask_of_heads
from transformer_lab.attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from transformer_lab.inspection.hooks import record_attention


@given(sizes=sizes(3), n_heads=st.integers(1, 4), rng=generators())
def test_each_head_gets_adjacent_features(sizes, n_heads, rng):
    batch, n, d_k = sizes
    x = normal(rng, batch, n, n_heads * d_k)
    heads = split_heads(x, n_heads)
    assert heads.shape == (batch, n_heads, n, d_k)
    for head in range(n_heads):
        assert torch.equal(heads[:, head], x[..., head * d_k : (head + 1) * d_k])


@given(sizes=sizes(3), n_heads=st.integers(1, 4), rng=generators())
def test_merge_heads_inverts_split_heads(sizes, n_heads, rng):
    batch, n, d_k = sizes
    x = normal(rng, batch, n, n_heads * d_k)
    assert torch.equal(merge_heads(split_heads(x, n_heads).contiguous()), x)  # contiguous like a matrix product


def test_split_heads_accepts_empty_dimensions():
    for shape in [(0, 5, 6), (2, 0, 6)]:
        assert merge_heads(split_heads(torch.zeros(shape), n_heads=3)).shape == shape


@pytest.mark.parametrize(
    "mask", [None, draw_mask(), draw_mask(BATCH, 1), draw_mask(BATCH, N_HEADS)], ids=["none", "2", "3", "4"]
)
def test_output_matches_concatenated_single_heads(mask):
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    inputs = vectors(BATCH, N_QUERY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL)
    assert_close(attention(*inputs, mask), heads_by_loops(attention, *inputs, mask))


@either_way
@pytest.mark.parametrize(
    "mask", [None, draw_mask(), draw_mask(BATCH, N_HEADS)], ids=["no mask", "one mask", "one per head"]
)
@pytest.mark.parametrize("observed", [False, True], ids=["fused", "recorded"])
def test_cross_attention_matches_torch(copied_from, mask, observed):
    ours, theirs = MultiHeadAttention(D_MODEL, N_HEADS), nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    make_twins(ours, theirs, copied_from)
    query, key, value = vectors(BATCH, N_QUERY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL)
    hidden = None if mask is None else ~mask.reshape(-1, N_QUERY, N_KEY).squeeze(0)  # in torch, True means masked out
    with record_attention(ours if observed else nn.Module()) as recorded:
        output = ours(query, key, value, mask)
    their_output, their_weights = theirs(query, key, value, attn_mask=hidden, average_attn_weights=False)
    if observed:
        assert_close(recorded[""], their_weights)
    assert_twins(ours, theirs, output, their_output, query, key, value)


@either_way
def test_self_attention_with_padding_matches_torch(copied_from):
    ours, theirs = MultiHeadAttention(D_MODEL, N_HEADS), nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    make_twins(ours, theirs, copied_from)
    x = vectors(BATCH, N_KEY, D_MODEL)
    real = draw_mask(BATCH, 1, n_query=1)
    their_output, _ = theirs(x, x, x, key_padding_mask=~real[:, 0, 0], need_weights=False)
    assert_twins(ours, theirs, ours(x, x, x, real), their_output, x)


def test_every_head_depends_on_the_whole_input():
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    x = vectors(1, N_KEY, D_MODEL)
    with record_attention(attention) as recorded:
        attention(x, x, x)
    for head in range(N_HEADS):
        (gradient,) = torch.autograd.grad(recorded[""][0, head, 0, 0], x, retain_graph=True)
        assert (gradient != 0).all()


def test_fully_masked_query_returns_bias_with_finite_gradients():
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    query, key = vectors(BATCH, N_QUERY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL)
    mask = torch.ones(N_QUERY, N_KEY, dtype=torch.bool)
    mask[2] = False
    for observed in [False, True]:
        with record_attention(attention if observed else nn.Module()):
            output = attention(query, key, key, mask)
        assert torch.equal(output[:, 2], attention.w_o.bias.expand(BATCH, -1))  # w_o maps zeros to its bias
        gradients = torch.autograd.grad(output.sum(), [query, key, *attention.parameters()])
        assert all(gradient.isfinite().all() for gradient in gradients)
        assert (gradients[0][:, 2] == 0).all()


def test_recording_weights_has_no_side_effects(monkeypatch):
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    query, key, mask = vectors(BATCH, N_QUERY, D_MODEL), vectors(BATCH, N_KEY, D_MODEL), draw_mask()
    unrecorded = attention(query, key, key, mask)
    with record_attention(attention) as recorded:
        observed = attention(query, key, key, mask)
    assert_close(observed, unrecorded)
    assert_close(recorded[""].sum(dim=-1), torch.ones(BATCH, N_HEADS, N_QUERY, dtype=torch.float64))
    assert (recorded[""][~mask.expand(BATCH, N_HEADS, -1, -1)] == 0).all()
    recorded.clear()
    # outside the block, nothing must compute attention weights
    monkeypatch.delattr("transformer_lab.attention.multi_head.scaled_dot_product_attention")
    assert torch.equal(attention(query, key, key, mask), unrecorded)
    assert not recorded


@pytest.mark.parametrize("observed", [False, True], ids=["fused", "recorded"])
def test_is_causal_matches_a_causal_mask(observed):
    attention = MultiHeadAttention(D_MODEL, N_HEADS)
    q, k, v = torch.randn(3, BATCH, N_HEADS, N_KEY, D_MODEL // N_HEADS)
    with record_attention(attention if observed else nn.Module()):
        causal = attention.attend_heads(q, k, v, is_causal=True)
    assert_close(causal, attention.attend_heads(q, k, v, causal_mask(N_KEY)))


@pytest.mark.parametrize("observed", [False, True], ids=["fused", "recorded"])
@pytest.mark.parametrize("options", [{"mask": causal_mask(N_KEY)}, {"bias": torch.zeros(N_KEY, N_KEY)}, {}], ids=list)
def test_is_causal_rejects_masks_and_biases(options, observed):
    attention = MultiHeadAttention(D_MODEL, N_HEADS)
    q, k, v = torch.randn(3, BATCH, N_HEADS, N_KEY, D_MODEL // N_HEADS)
    with (
        record_attention(attention if observed else nn.Module()),
        pytest.raises(ValueError, match="is_causal requires equal numbers of queries and keys, no mask and no bias"),
    ):
        attention.attend_heads(q if options else q[:, :, 1:], k, v, is_causal=True, **options)


@pytest.mark.parametrize("observed", [False, True], ids=["fused", "recorded"])
def test_drops_weights_only_during_training(observed):
    x = torch.randn(BATCH, N_KEY, D_MODEL)
    for dropout, differs in [(0.0, False), (0.5, True)]:
        attention = MultiHeadAttention(D_MODEL, N_HEADS, dropout)
        with record_attention(attention if observed else nn.Module()):
            evaluated, again = attention.eval()(x, x, x), attention(x, x, x)
            trained = attention.train()(x, x, x)
        assert torch.equal(evaluated, again)
        assert torch.equal(evaluated, trained) is not differs


@pytest.mark.parametrize("n_heads", [2, 0, -3, 30])
def test_rejects_heads_that_do_not_divide_the_width(n_heads):
    for make in [MultiHeadAttention, lambda *sizes: GroupedQueryAttention(*sizes, n_kv_heads=1)]:
        with pytest.raises(ValueError, match=f"d_model=15, n_heads={n_heads}"):
            make(15, n_heads)


@pytest.mark.parametrize("observed", [False, True], ids=["fused", "recorded"])
def test_three_dimensional_mask_applies_per_sentence_or_head(observed):
    batch = N_HEADS + 1
    attention, x = MultiHeadAttention(D_MODEL, N_HEADS).double(), vectors(batch, N_KEY, D_MODEL)
    rng = torch.Generator().manual_seed(0)
    per_sentence, per_head = (torch.rand(n, N_KEY, N_KEY, generator=rng) < 0.5 for n in (batch, N_HEADS))
    with record_attention(attention if observed else nn.Module()):
        together = attention(x, x, x, per_sentence)
        assert_close(attention(x, x, x, per_head), attention(x, x, x, per_head.expand(batch, -1, -1, -1)))
    for i in range(batch):
        assert_close(together[i, None], attention(x[i, None], x[i, None], x[i, None], per_sentence[i]))


def test_adds_float_mask_to_scores():
    ours, theirs = MultiHeadAttention(D_MODEL, N_HEADS), nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    make_twins(ours, theirs, "ours")
    x, added = vectors(BATCH, N_KEY, D_MODEL), vectors(N_KEY, N_KEY).detach()
    added[0, 1:] = -torch.inf
    assert_close(ours(x, x, x, added), theirs(x, x, x, attn_mask=added)[0])
    added[1] = -torch.inf  # torch returns NaN for this query
    assert_close(ours(x, x, x, added)[:, 1], ours.w_o.bias.expand(BATCH, -1))


@pytest.mark.parametrize("shape", [(N_KEY,), (1, 1, 1, N_KEY, N_KEY)], ids=["one dimension", "five dimensions"])
def test_rejects_mask_with_wrong_number_of_dimensions(shape):
    with pytest.raises(ValueError, match="a mask must have shape"):
        mask_of_heads(torch.ones(shape, dtype=torch.bool), BATCH, N_HEADS)


@pytest.mark.parametrize("n", [N_HEADS, N_HEADS + 2], ids=["ambiguous size", "size of neither"])
def test_rejects_ambiguous_three_dimensional_mask(n):
    attention, x = MultiHeadAttention(D_MODEL, N_HEADS).double(), vectors(N_HEADS, N_KEY, D_MODEL)
    message = f"got {N_HEADS} sentences, {N_HEADS} heads and a mask of shape \\({n}, "
    with pytest.raises(ValueError, match=message):
        attention(x, x, x, torch.ones(n, N_KEY, N_KEY, dtype=torch.bool))


def test_rejects_vectors_with_the_wrong_width():
    x = torch.ones(2, 5, 14)
    with pytest.raises(ValueError, match=r"query must have shape \(batch, n, d_model=15\); got shape \(2, 5, 14\)"):
        MultiHeadAttention(15, 3)(x, x, x)
    with pytest.raises(ValueError, match=r"x must have shape \(batch, n, d_model=15\); got shape \(2, 5, 14\)"):
        GroupedQueryAttention(15, 3, 1)(x)


@pytest.mark.parametrize("n_sources", [2, 6])
@pytest.mark.parametrize(
    "mask",
    [None, draw_mask(6, 1), draw_mask(6, N_HEADS), draw_mask(6, 1, n_query=1)],
    ids=["none", "one per row", "one per head", "one for all queries"],
)
def test_rows_sharing_a_source_match_separate_copies(n_sources, mask):
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    query, memory = vectors(6, N_QUERY, D_MODEL), vectors(n_sources, N_KEY, D_MODEL)
    source = SourceKV(*attention.project_kv(memory, memory))
    copied = memory.repeat_interleave(6 // n_sources, dim=0)
    assert_close(attention.attend_to_source(query, source, mask), attention(query, copied, copied, mask))


@pytest.mark.parametrize("rows", [3, 5])
def test_rejects_rows_that_cannot_share_sources_evenly(rows):
    attention = MultiHeadAttention(D_MODEL, N_HEADS)
    memory = torch.ones(2, N_KEY, D_MODEL)
    source = SourceKV(*attention.project_kv(memory, memory))
    with pytest.raises(ValueError, match=f"got 2 sources, {rows} rows"):
        attention.attend_to_source(torch.ones(rows, N_QUERY, D_MODEL), source)


def test_attends_to_cached_keys_and_values():
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    x, cache = vectors(BATCH, N_KEY, D_MODEL), KVCache(N_KEY)
    steps = [attention(new, new, new, cache=cache) for new in x.split([3, 1, 3], dim=1)]
    for step, end in zip(steps, [3, 4, 7], strict=True):
        assert_close(step, attention(x[:, end - step.shape[1] : end], x[:, :end], x[:, :end]))


def test_recording_keeps_gradients_of_fully_masked_queries_finite():
    attention = drawn(MultiHeadAttention(D_MODEL, N_HEADS))
    mask = torch.zeros(N_QUERY, N_KEY)
    mask[1] = -torch.inf  # hides every key from query 1
    mask[2, 0] = -torch.inf
    gradients = []
    for observed in (True, False):
        x, memory = vectors(BATCH, N_QUERY, D_MODEL).requires_grad_(), vectors(BATCH, N_KEY, D_MODEL)
        with torch.no_grad():
            x.copy_(torch.linspace(-1, 1, x.numel()).view_as(x))
            memory.copy_(torch.linspace(2, -1, memory.numel()).view_as(memory))
        with record_attention(attention if observed else nn.Module()) as weights:
            attention(x, memory, memory, mask).square().sum().backward()
        gradients.append(x.grad)
        if observed:
            assert weights[""][:, :, 1].abs().sum() == 0
            assert weights[""][:, :, 2, 0].abs().sum() == 0
    assert gradients[0].isfinite().all()
    assert_close(*gradients)
