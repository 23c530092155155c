"""Test the beam cache against the model's cache. After any reordering, each beam must attend to its ancestors."""

import pytest
import torch
from torch.testing import assert_close

from transformer_lab.attention.kv_cache import LayerCache, ModelCache, SourceKV
from transformer_lab.fast.beam_cache import BeamCache

HEADS, D_K = 2, 4
ORDERS = [None, [0, 0, 0, 1, 1, 1], [2, 0, 0, 4, 5, 4], [1, 2, 0, 3, 3, 5], [3, 5, 4], [2, 1, 0], [0]]


def model_cache():
    source = torch.arange(2.0).view(2, 1, 1, 1).expand(2, HEADS, 5, D_K)
    return ModelCache([LayerCache(40, SourceKV(source, source)) for _ in range(2)])


def append(cache, tokens, kv):
    """Append keys, values and tokens to a cache as a model does."""
    for layer, (k, v) in zip(cache.layers, kv, strict=True):
        layer.self_attention.append(k, v)
    cache.commit(cache.with_new(tokens))


@pytest.mark.parametrize("n_read", [0, 3])
@pytest.mark.parametrize("n_steps", range(1, 9))
def test_write_back_matches_the_model_cache(n_read, n_steps):
    rng = torch.Generator().manual_seed(n_steps)
    ours, theirs = model_cache(), model_cache()
    if n_read:
        tokens, kv = (
            torch.randint(9, (2, n_read), generator=rng),
            torch.randn(2, 2, 2, HEADS, n_read, D_K, generator=rng),
        )
        append(ours, tokens, kv)
        append(theirs, tokens, kv)
    beams, n_rows = BeamCache(ours), 2
    for step in range(n_steps):
        order = ORDERS[step % len(ORDERS)] if step < len(ORDERS) else None
        if order is not None:
            beams.reorder(torch.tensor(order))
            theirs.reorder(torch.tensor(order))
            n_rows = len(order)
        tokens = torch.randint(9, (n_rows, 1), generator=rng)
        kv = torch.randn(2, 2, n_rows, HEADS, 1, D_K, generator=rng)
        append(theirs, tokens, kv)
        bias = beams.extend(tokens)
        for i, layer in enumerate(theirs.layers):
            k, v = beams.append(i, kv[i].permute(1, 3, 0, 2, 4).reshape(n_rows, -1))
            q = torch.randn(n_rows, HEADS, 1, D_K, generator=rng)
            expected = (q @ layer.self_attention.kept[0].mT).softmax(-1) @ layer.self_attention.kept[1]
            grouped_q = q.view(beams.n_sources, -1, HEADS, D_K).transpose(1, 2).reshape(len(k), -1, D_K)
            output = (grouped_q @ k + (0 if bias is None else bias)).softmax(-1) @ v
            output = output.view(beams.n_sources, HEADS, -1, D_K).transpose(1, 2).reshape(expected.shape)
            assert_close(output, expected)
    beams.write_back()
    assert torch.equal(ours.tokens, theirs.tokens)
    for our_layer, their_layer in zip(ours.layers, theirs.layers, strict=True):
        assert torch.equal(our_layer.self_attention.kept, their_layer.self_attention.kept)
        assert torch.equal(our_layer.source.k, their_layer.source.k)


def test_reorder_does_not_copy_keys_and_values():
    beams = BeamCache(model_cache())
    beams.extend(torch.tensor([[3], [4]]))
    beams.reorder(torch.tensor([0, 0, 1, 1]))
    beams.extend(torch.tensor([[3], [4], [5], [6]]))
    address = beams._buffer.data_ptr()
    beams.reorder(torch.tensor([1, 0, 2, 2]))
    assert beams._buffer.data_ptr() == address
