"""The pieces of a cache: what they keep, share and forget. What models do with them is in test_decoding.py."""

import pytest
import torch
from torch.testing import assert_close

from transformer_lab.attention.kv_cache import KVCache, ModelCache, SourceKV


def drawn(n, batch=3):
    return torch.randn(batch, 2, n, 5), torch.randn(batch, 2, n, 5)


def test_keys_grow_in_memory_that_stays_where_it_is():
    keys = KVCache(7)
    pieces = [drawn(3), drawn(1), drawn(2)]
    first, _ = keys(lambda: pieces[0])
    keys(lambda: pieces[1])
    k, v = keys(lambda: pieces[2])
    assert_close(k, torch.cat([piece[0] for piece in pieces], dim=2))
    assert_close(v, torch.cat([piece[1] for piece in pieces], dim=2))
    assert k.data_ptr() == first.data_ptr()
    keys.reorder(torch.tensor([2, 2, 0]))
    reordered, _ = keys(lambda: drawn(1))
    assert_close(reordered[:, :, :6], torch.cat([piece[0] for piece in pieces], dim=2)[[2, 2, 0]])
    assert reordered.data_ptr() == first.data_ptr()


def test_a_source_is_projected_once():
    keys, calls = SourceKV(), []

    def project():
        calls.append(1)
        return drawn(4)

    assert keys(project) is keys(project)
    assert len(calls) == 1


def test_sources_stay_as_long_as_something_is_written_about_them():
    keys, (k, v) = SourceKV(), drawn(4)
    keys(lambda: (k, v))
    keys.reorder(torch.tensor([0, 0, 1, 1, 2, 2]), n_rows=3)
    keys.reorder(torch.tensor([1, 1, 3, 2, 4, 4]), n_rows=6)
    assert keys(drawn)[0] is k
    keys.reorder(torch.tensor([1, 0, 4, 4]), n_rows=6)
    assert_close(keys(drawn), (k[[0, 2]], v[[0, 2]]))
    keys.reorder(torch.tensor([2, 3]), n_rows=4)
    assert_close(keys(drawn), (k[[2]], v[[2]]))


def test_more_rows_about_fewer_sources():
    keys, (k, v) = SourceKV(), drawn(4)
    keys(lambda: (k, v))
    keys.reorder(torch.tensor([0, 0, 0, 2, 2, 2]), n_rows=3)
    assert_close(keys(drawn), (k[[0, 2]], v[[0, 2]]))


def test_a_full_cache_takes_nothing_and_loses_nothing():
    keys = KVCache(4)
    keys(lambda: drawn(3))
    with pytest.raises(ValueError, match="room for max_length=4 tokens; got 5"):
        keys(lambda: drawn(2))
    assert keys.length == 3


def test_an_empty_cache_has_nothing_to_reorder_or_forget():
    cache = ModelCache(n_layers=2, max_length=5)
    cache.reorder(torch.tensor([0]))
    cache.truncate(3)
    assert cache.length == 0
    assert [layer.self_attention.length for layer in cache.layers] == [0, 0]
