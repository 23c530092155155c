"""A key/value cache for beam search that never moves keys and values; a mask selects the slots that a beam may use.

``KVCache.reorder`` copies all keys and values at each step of a beam search. In this cache, the beams of a source store
their keys and values in adjacent slots, and a beam that continues another beam copies only the mask. Each query is also
multiplied by the keys of the source's other beams, and −∞ is added to these scores, which is less work than copying.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.attention.kv_cache import INITIAL_CAPACITY_TOKENS, KVCache, ModelCache


class BeamCache:
    """The keys and values of the tokens so far, with one slot per position for each row of a source.

    Args:
        cache: A decoder's cache, whose contents are copied. The decoder's cache stays out of date until ``write_back``.
    """

    def __init__(self, cache: ModelCache) -> None:
        self.cache = cache
        self.sources = [layer.source for layer in cache.layers if layer.source is not None]  # every layer has a source
        source = self.sources[0]
        self.n_sources, self.max_length = len(source.k), cache.layers[0].self_attention.max_length
        self.length = self.n_slots = 0
        self._tokens: list[Tensor] = []  # one tensor per call, (n_sources, slots)
        self._bias: Tensor | None = None  # 0 or −∞, (n_sources, width, slots); None if nothing is masked
        self._buffer = source.k.new_empty(len(cache.layers), 2, self.n_sources, source.k.shape[1], 0, source.k.shape[3])
        self._set_width(1)
        if cache.tokens is not None and cache.length:
            self._load(cache.tokens)

    def _load(self, tokens: Int[Tensor, "rows n"]) -> None:
        """Copy the cache's contents, with a separate slot for each row at every position so far."""
        self.length = tokens.shape[1]
        self._set_width(len(tokens) // self.n_sources)
        self._tokens.append(tokens.reshape(self.n_sources, -1))  # (n_sources, width · n)
        kept = torch.stack([layer.self_attention.kept for layer in self.cache.layers])
        layers, _, _, heads, n, d_k = kept.shape  # (layers, 2, rows, heads, n, d_k)
        kept = kept.view(layers, 2, self.n_sources, self.width, heads, n, d_k)
        self._buffer = kept.transpose(3, 4).flatten(4, 5)  # (layers, 2, n_sources, heads, width · n, d_k)
        self.n_slots = self._buffer.shape[4]
        if self.width > 1:
            self._bias = self._own.repeat_interleave(self.length, dim=2)

    def _set_width(self, width: int) -> None:
        self.width = width
        own = torch.eye(width, dtype=self._buffer.dtype, device=self._buffer.device).log()
        self._own = own.expand(self.n_sources, width, width)  # bias that lets each row use only its own slot

    def extend(self, tokens: Int[Tensor, "rows 1"]) -> Float[Tensor, "#sources_and_heads width slots"] | None:
        """Add slots for new tokens; return the bias of each head's scores, or None if nothing is masked."""
        self._tokens.append(tokens.view(self.n_sources, self.width))  # (n_sources, width)
        self.length, self.n_slots = self.length + 1, self.n_slots + self.width
        if self.n_slots > self._buffer.shape[4]:
            *shape, _, d_k = self._buffer.shape
            max_slots = self.n_slots + (self.max_length - self.length) * self.width
            capacity = min(max(2 * self.n_slots, INITIAL_CAPACITY_TOKENS * self.width), max_slots)
            longer = self._buffer.new_empty(*shape, capacity, d_k)
            longer[..., : self._buffer.shape[4], :] = self._buffer
            self._buffer = longer
        slots = self._buffer[..., : self.n_slots, :]  # (layers, 2, n_sources, heads, n_slots, d_k)
        new = slots[..., -self.width :, :].permute(0, 2, 4, 1, 3, 5)  # (layers, n_sources, width, 2, heads, d_k)
        keys, values = slots.flatten(2, 3).unbind(dim=1)  # each (layers, n_sources · heads, n_slots, d_k)
        self._new, keys = new.unbind(), keys.mT  # keys: (layers, n_sources · heads, d_k, n_slots)
        self._kept = list(zip(keys.unbind(), values.unbind(), strict=True))  # one pair per layer
        if self.width == 1 and self._bias is None:
            return None
        self._bias = self._own if self._bias is None else torch.cat([self._bias, self._own], dim=2)
        return self._bias if self.n_sources == 1 else self._bias.repeat_interleave(self._buffer.shape[3], dim=0)

    def append(
        self, i: int, kv: Float[Tensor, "rows d_k_of_heads_twice"]
    ) -> tuple[Float[Tensor, "sources_and_heads d_k slots"], Float[Tensor, "sources_and_heads slots d_k"]]:
        """Store the new tokens' keys and values of layer i; return the transposed keys and the values of all slots."""
        new = self._new[i]
        new.copy_(kv.view(new.shape))  # (n_sources, width, 2, heads, d_k)
        return self._kept[i]

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``, within the limits of ``ModelCache.reorder``."""
        n_rows = self.n_sources * self.width
        bias = self._bias
        if bias is None and len(rows) > n_rows:
            bias = self._buffer.new_zeros(self.n_sources, self.width, self.n_slots)
        if len(rows) < n_rows:
            for source in self.sources:
                source.reorder(rows, n_rows)
            self._keep_sources((rows // self.width).unique())  # type: ignore[no-untyped-call]
        if self.width != len(rows) // self.n_sources or self._own.shape[0] != self.n_sources:
            self._set_width(len(rows) // self.n_sources)
        if bias is not None:
            self._bias = bias.flatten(0, 1).index_select(0, rows).view(self.n_sources, self.width, self.n_slots)

    def _keep_sources(self, sources: Int[Tensor, " left"]) -> None:
        if len(sources) < self.n_sources:
            self.n_sources = len(sources)
            self._buffer = self._buffer.index_select(2, sources)
            self._tokens = [tokens[sources] for tokens in self._tokens]

    def write_back(self) -> None:
        """Update the model's cache to the state it would have if it had been used from the start."""
        bias = self._bias
        if bias is None:
            bias = self._buffer.new_zeros(self.n_sources, self.width, self.n_slots)
        slots = (bias == 0).flatten(0, 1).nonzero()[:, 1].view(-1, self.length)  # (rows, length)
        source = torch.arange(len(slots), device=slots.device)[:, None] // self.width  # (rows, 1)
        self.cache.commit(torch.cat(self._tokens, dim=1)[source, slots])
        for layer, buffer in zip(self.cache.layers, self._buffer, strict=True):
            kv = buffer.permute(1, 3, 0, 2, 4)[source, slots]  # (rows, length, 2, heads, d_k)
            layer.self_attention = KVCache(self.max_length)
            layer.self_attention.append(*kv.permute(2, 0, 3, 1, 4))  # each (rows, heads, length, d_k)
