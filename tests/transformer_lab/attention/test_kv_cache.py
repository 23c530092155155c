"""Tests for key/value caches. ``generation/test_decode.py`` tests how models use the caches."""

import pytest
import torch
from torch.testing import assert_close

from transformer_lab.attention.kv_cache import (
    INITIAL_CAPACITY_TOKENS,
    KVCache,
    LayerCache,
    ModelCache,
    SourceKV,
    group_beams,
    ungroup_beams,
)
from transformer_lab.attention.multi_head import MultiHeadAttention


def drawn(n, batch=3):
    return torch.randn(batch, 2, n, 5), torch.randn(batch, 2, n, 5)


def test_only_the_last_output_is_differentiable():
    attention, cache, x = MultiHeadAttention(10, 2), KVCache(9), torch.randn(3, 4, 10)
    first, last = (attention(x, x, x, cache=cache) for _ in range(2))
    last.sum().backward(retain_graph=True)
    assert all(parameter.grad is not None for parameter in attention.parameters())
    with pytest.raises(RuntimeError, match="modified inplace"):
        first.sum().backward()


def test_appended_keys_are_in_order_and_reordered_together():
    cache = KVCache(60)
    pieces = [drawn(n) for n in (3, 1, 2, 17, 1, 20)]
    for n, (new_k, new_v) in enumerate(pieces, start=1):
        k, v = cache.append(new_k, new_v)
        assert_close(k, torch.cat([piece[0] for piece in pieces[:n]], dim=2))
        assert_close(v, torch.cat([piece[1] for piece in pieces[:n]], dim=2))
    cache.reorder(torch.tensor([2, 2, 0]))
    reordered, _ = cache.append(*drawn(1))
    assert_close(reordered[:, :, :-1], k[[2, 2, 0]])


def test_append_joined_matches_append():
    separate, joined = KVCache(60), KVCache(60)
    for n in (3, 1, 1, 17):
        k, v = drawn(n)
        expected = torch.stack(separate.append(k, v))
        assert_close(joined.append_joined(torch.stack([k, v])), expected)
    with pytest.raises(ValueError, match=r"the cache has room for 60 tokens \(max_length\); got 61"):
        joined.append_joined(torch.stack(drawn(39)))


def test_buffer_doubles_when_full():
    cache, n_copies, memory = KVCache(500), 0, None
    for n in range(1, 501):
        k, _ = cache.append(*drawn(1))
        n_copies += memory is not None and k.untyped_storage().data_ptr() != memory.untyped_storage().data_ptr()
        memory = k
        assert n <= k.stride(1) // k.stride(2) <= max(INITIAL_CAPACITY_TOKENS, 2 * n, 500 if n > 250 else 0)
    assert n_copies == 5  # the buffer grows when token 17, 35, 71, 143 or 287 is appended


def test_overwrites_truncated_tokens():
    cache, (k, v), (new_k, new_v) = KVCache(4), drawn(4), drawn(2)
    cache.append(k, v)
    cache.truncate(2)
    assert cache.length == 2
    assert_close(
        cache.append(new_k, new_v), (torch.cat([k[:, :, :2], new_k], dim=2), torch.cat([v[:, :, :2], new_v], dim=2))
    )


def test_drops_source_with_its_last_row():
    k, v = drawn(4)
    source = SourceKV(k, v)
    source.reorder(torch.tensor([0, 0, 1, 1, 2, 2]), n_rows=3)
    source.reorder(torch.tensor([1, 1, 3, 2, 4, 4]), n_rows=6)
    assert source.k is k
    source.reorder(torch.tensor([1, 0, 4, 4]), n_rows=6)
    assert_close((source.k, source.v), (k[[0, 2]], v[[0, 2]]))
    source.reorder(torch.tensor([2, 3]), n_rows=4)
    assert_close((source.k, source.v), (k[[2]], v[[2]]))


def test_reorder_allows_more_rows_of_fewer_sources():
    k, v = drawn(4)
    source = SourceKV(k, v)
    source.reorder(torch.tensor([0, 0, 0, 2, 2, 2]), n_rows=3)
    assert_close((source.k, source.v), (k[[0, 2]], v[[0, 2]]))


def test_full_cache_rejects_tokens_and_keeps_its_contents():
    cache, (k, v) = KVCache(4), drawn(3)
    cache.append(k, v)
    with pytest.raises(ValueError, match=r"room for 4 tokens \(max_length\); got 5"):
        cache.append(*drawn(2))
    assert cache.length == 3
    assert_close(cache.append(*drawn(1))[0][:, :, :3], k)


def test_empty_cache_allows_reorder_and_truncate():
    cache = ModelCache([LayerCache(5) for _ in range(2)])
    cache.reorder(torch.tensor([0]))
    cache.truncate(3)
    assert cache.length == 0
    assert [layer.self_attention.length for layer in cache.layers] == [0, 0]


def test_sources_can_be_dropped_before_the_first_token():
    k, v = drawn(4)
    cache = ModelCache([LayerCache(5, SourceKV(k, v))])
    cache.reorder(torch.tensor([0, 2]))
    assert_close(cache.layers[0].source.k, k[[0, 2]])


def test_length_includes_tokens_only_after_commit():
    cache = ModelCache([LayerCache(5)])
    tokens = cache.with_new(torch.tensor([[7, 8]]))
    assert cache.length == 0
    cache.commit(tokens)
    assert cache.length == 2
    assert cache.with_new(torch.tensor([[9]])).tolist() == [[7, 8, 9]]


def test_reorder_moves_tokens_with_their_rows():
    cache = ModelCache([LayerCache(5)])
    cache.commit(torch.tensor([[5, 6], [7, 8]]))
    cache.reorder(torch.tensor([1, 1, 0]))
    assert cache.with_new(torch.tensor([[9], [10], [11]])).tolist() == [[7, 8, 9], [7, 8, 10], [5, 6, 11]]
    cache.truncate(1)
    assert cache.with_new(torch.tensor([[9], [9], [9]])).tolist() == [[7, 9], [7, 9], [5, 9]]


def test_group_beams_joins_rows_of_same_source():
    x = torch.randn(6, 2, 3, 5)
    grouped = group_beams(x, n_sources=2)
    assert torch.equal(grouped[0], torch.cat([x[0], x[1], x[2]], dim=1))
    assert torch.equal(grouped[1], torch.cat([x[3], x[4], x[5]], dim=1))
    assert torch.equal(ungroup_beams(grouped, rows=6), x)


def test_rejects_different_batch_size():
    cache, tokens = ModelCache([LayerCache(7)]), torch.zeros(3, 2, dtype=torch.int64)
    cache.layers[0].self_attention.append(*drawn(2, batch=3))
    cache.commit(tokens)
    with pytest.raises(ValueError, match="the cache has batch size 3 but the keys have batch size 1"):
        cache.layers[0].self_attention.append(*drawn(1, batch=1))
    with pytest.raises(ValueError, match="the cache has batch size 3 but the tokens have batch size 2"):
        cache.with_new(tokens[:2])
    assert cache.length == cache.layers[0].self_attention.length == 2
