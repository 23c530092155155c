"""Stateful tests that compare key/value caches with plain lists after any sequence of operations."""

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from torch.testing import assert_close

from transformer_lab.attention.kv_cache import LayerCache, ModelCache, SourceKV

MAX_LENGTH, N_HEADS, D_K = 7, 2, 3


class Rows:
    """Reference cache: a list of tokens for each row, and a list of keys for each layer and row."""

    def __init__(self, n_layers: int, sources: list[int]) -> None:
        self.tokens: list[list[int]] = [[] for _ in sources]
        self.keys: list[list[list[torch.Tensor]]] = [[[] for _ in sources] for _ in range(n_layers)]
        self.sources = sources

    def append(self, tokens: torch.Tensor, keys: list[torch.Tensor]) -> None:
        for row, new in enumerate(tokens.tolist()):
            self.tokens[row] = self.tokens[row] + new
            for layer, layer_keys in enumerate(keys):
                self.keys[layer][row] = self.keys[layer][row] + list(layer_keys[row].unbind(1))

    def reorder(self, rows: list[int]) -> None:
        self.tokens = [self.tokens[row] for row in rows]
        self.keys = [[layer_keys[row] for row in rows] for layer_keys in self.keys]
        self.sources = [self.sources[row] for row in rows]

    def truncate(self, length: int) -> None:
        self.tokens = [tokens[:length] for tokens in self.tokens]
        self.keys = [[keys[:length] for keys in layer_keys] for layer_keys in self.keys]


class Caches(RuleBasedStateMachine):
    """Two caches with different numbers of layers, for a model with and a model without cross-attention."""

    @initialize(n_sources=st.integers(1, 3), seed=st.integers(0, 99))
    def begin(self, n_sources: int, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.source = self.draw(n_sources, 5)
        with_sources = [LayerCache(MAX_LENGTH, SourceKV(self.source, -self.source)) for _ in range(2)]
        self.caches = [ModelCache(with_sources), ModelCache([LayerCache(MAX_LENGTH) for _ in range(3)])]
        self.rows = [Rows(len(cache.layers), list(range(n_sources))) for cache in self.caches]

    def draw(self, n_rows: int, n: int) -> torch.Tensor:
        return torch.randn(n_rows, N_HEADS, n, D_K, generator=self.generator)

    @rule(which=st.sampled_from([0, 1]), n_new=st.integers(1, 4))
    def append(self, which: int, n_new: int) -> None:
        cache, rows = self.caches[which], self.rows[which]
        tokens = torch.randint(99, (len(rows.tokens), n_new), generator=self.generator)
        keys = [self.draw(len(rows.tokens), n_new) for _ in cache.layers]
        if cache.length + n_new > MAX_LENGTH:
            with pytest.raises(ValueError, match="the cache has room for 7 tokens"):
                cache.layers[0].self_attention.append(keys[0], -keys[0])
            return
        text = cache.with_new(tokens)
        for layer, k in zip(cache.layers, keys, strict=True):
            layer.self_attention.append(k, -k)
        cache.commit(text)
        rows.append(tokens, keys)

    @rule(which=st.sampled_from([0, 1]), data=st.data())
    def reorder_within_each_source(self, which: int, data: st.DataObject) -> None:
        """Select rows as beam search does, without changing the number of rows per source."""
        rows = self.rows[which]
        each = [[row for row, s in enumerate(rows.sources) if s == source] for source in sorted({*rows.sources})]
        self.reorder(which, [data.draw(st.sampled_from(own)) for own in each for _ in own])

    @rule(which=st.sampled_from([0, 1]), n_each=st.integers(2, 3))
    def continue_each_row_as_several(self, which: int, n_each: int) -> None:
        if len(self.rows[which].tokens) * n_each <= 9:
            self.reorder(which, [row for row in range(len(self.rows[which].tokens)) for _ in range(n_each)])

    @rule(which=st.sampled_from([0, 1]), data=st.data())
    def drop_sources(self, which: int, data: st.DataObject) -> None:
        sources = self.rows[which].sources
        kept = data.draw(st.sets(st.sampled_from(sorted({*sources})), min_size=1))
        self.reorder(which, [row for row, source in enumerate(sources) if source in kept])

    def reorder(self, which: int, rows: list[int]) -> None:
        self.caches[which].reorder(torch.tensor(rows))
        self.rows[which].reorder(rows)

    @rule(which=st.sampled_from([0, 1]), length=st.integers(0, MAX_LENGTH + 1))
    def truncate(self, which: int, length: int) -> None:
        self.caches[which].truncate(length)
        self.rows[which].truncate(length)

    @precondition(lambda self: self.caches[0].length and len(self.rows[0].tokens) > 1)
    @rule()
    def reject_a_different_number_of_rows(self) -> None:
        with pytest.raises(ValueError, match="the cache has batch size"):
            self.caches[0].with_new(torch.zeros(1, 1, dtype=torch.int64))

    @invariant()
    def caches_match_the_reference(self) -> None:
        for cache, rows in zip(self.caches, self.rows, strict=True):
            n = len(rows.tokens[0])
            assert cache.length == n and {layer.self_attention.length for layer in cache.layers} == {n}
            no_tokens = torch.zeros(len(rows.tokens), 0, dtype=torch.int64)
            if n:
                assert cache.with_new(no_tokens).tolist() == rows.tokens
            for layer, keys in zip(cache.layers, rows.keys, strict=True):
                if n:
                    expected = torch.stack([torch.stack(row, dim=1) for row in keys])
                    found = layer.self_attention.append(*2 * [self.source.new_zeros(len(keys), N_HEADS, 0, D_K)])
                    assert_close(found, (expected, -expected), rtol=0, atol=0)
                if layer.source is not None:
                    kept = sorted({*rows.sources})
                    assert torch.equal(layer.source.k, self.source[kept])
                    assert torch.equal(layer.source.v, -self.source[kept])


test_caches = Caches.TestCase
test_caches.settings = settings(max_examples=settings().max_examples // 3, stateful_step_count=25)
