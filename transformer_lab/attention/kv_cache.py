"""Key/value caches store a decoder's keys and values so that it reads each token only once.

A token's keys and values do not change when more tokens follow, so the model computes them only for new tokens. A
token's query is not needed again. The keys and values of a source are computed once, before the first target token.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

INITIAL_CAPACITY_TOKENS = 16


class KVCache:
    """Keys and values of the tokens so far, for self-attention, in a buffer that doubles in size when it is full.

    So each token is copied about once on average, however long the text is, and reordering copies little unused memory.

    You can copy a cache with ``copy.deepcopy`` if it was filled under ``torch.no_grad()``, as in decoding. With
    gradients enabled, its tensors are part of an autograd graph, which torch does not copy, and you can differentiate
    only the output of the last call, because each call writes into the buffer that earlier calls attended to.

    Args:
        max_length: Maximum number of tokens.

    >>> cache = KVCache(max_length=5)
    >>> _ = cache.append(torch.zeros(2, 3, 4, 8), torch.zeros(2, 3, 4, 8))
    >>> k, v = cache.append(torch.ones(2, 3, 1, 8), torch.ones(2, 3, 1, 8))
    >>> k.shape
    torch.Size([2, 3, 5, 8])
    """

    def __init__(self, max_length: int) -> None:
        self.max_length = max_length
        self.length = 0
        self._buffer: Tensor | None = None  # (2, batch, n_kv_heads, capacity, d_k)

    def append(
        self, k: Float[Tensor, "batch n_kv_heads n_new d_k"], v: Float[Tensor, "batch n_kv_heads n_new d_k"]
    ) -> tuple[Float[Tensor, "batch n_kv_heads n d_k"], Float[Tensor, "batch n_kv_heads n d_k"]]:
        """Store the keys and values of new tokens; return the keys and values of all tokens so far.

        Raises:
            ValueError: There would be more than ``max_length`` tokens, or the batch size has changed.
        """
        room = self._room(k)
        room[0], room[1] = k, v
        keys, values = self.kept
        return keys, values

    def append_joined(
        self, kv: Float[Tensor, "2 batch n_kv_heads n_new d_k"]
    ) -> Float[Tensor, "2 batch n_kv_heads n d_k"]:
        """Append keys and values that are stored in one tensor, in fewer operations than ``append``."""
        self._room(kv[0]).copy_(kv)
        return self.kept

    def _room(self, k: Float[Tensor, "batch n_kv_heads n_new d_k"]) -> Float[Tensor, "2 batch n_kv_heads n_new d_k"]:
        """Add new tokens to the length; return the part of the buffer for their keys and values."""
        start, end = self.length, self.length + k.shape[2]
        if end > self.max_length:
            raise ValueError(f"the cache has room for {self.max_length} tokens (max_length); got {end}")
        if self._buffer is not None and k.shape[0] != self._buffer.shape[1]:
            raise ValueError(
                f"the cache has batch size {self._buffer.shape[1]} but the keys have batch size {k.shape[0]}"
            )
        if self._buffer is None or end > self._buffer.shape[3]:
            self._buffer = self._longer(k, end)
        self.length = end
        return self._buffer[:, :, :, start:end]

    def _longer(self, k: Float[Tensor, "batch n_kv_heads n_new d_k"], length: int) -> Tensor:
        """Return a buffer for twice the given number of tokens, with a copy of the cached keys and values."""
        capacity = min(max(2 * length, INITIAL_CAPACITY_TOKENS), self.max_length)
        longer = k.new_empty(2, *k.shape[:2], capacity, k.shape[3])
        if self._buffer is not None:
            longer[:, :, :, : self.length] = self._buffer[:, :, :, : self.length]
        return longer

    @property
    def kept(self) -> Float[Tensor, "2 batch n_kv_heads n d_k"]:
        """Keys and values of all tokens so far; requires at least one token."""
        assert self._buffer is not None
        return self._buffer[:, :, :, : self.length]

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``; the number of rows may change."""
        if self._buffer is not None:
            self._buffer = self._buffer.index_select(1, rows)

    def truncate(self, length: int) -> None:
        """Keep only the first ``length`` tokens."""
        self.length = min(self.length, length)


class SourceKV:
    """Keys and values of the sources for cross-attention, shared by all rows generated from the same source.

    Args:
        k: Projected keys.
        v: Projected values.
    """

    def __init__(self, k: Float[Tensor, "batch n_heads n d_k"], v: Float[Tensor, "batch n_heads n d_k"]) -> None:
        self.k, self.v = k.contiguous(), v.contiguous()  # faster to read at every decoding step

    def reorder(self, rows: Int[Tensor, " new_rows"], n_rows: int) -> None:
        """Drop the sources that have no rows left.

        Args:
            rows: The rows to keep; rows with the same source stay next to each other.
            n_rows: Number of rows before the call, which is the same for each source.
        """
        if len(rows) == n_rows:
            return
        sources = (rows // (n_rows // len(self.k))).unique()  # type: ignore[no-untyped-call]
        if len(sources) < len(self.k):
            self.k, self.v = self.k[sources], self.v[sources]


class LayerCache:
    """The cache of one layer.

    Args:
        max_length: Maximum number of tokens.
        source: Keys and values of the sources, for a layer with cross-attention.
    """

    def __init__(self, max_length: int, source: SourceKV | None = None) -> None:
        self.self_attention = KVCache(max_length)
        self.source = source


class ModelCache:
    """The cache of a model: the ids of the tokens it has read, and the keys and values of each layer.

    Args:
        layers: The cache of each layer.
    """

    def __init__(self, layers: Sequence[LayerCache]) -> None:
        self.layers = layers
        self.tokens: Int[Tensor, "batch n"] | None = None  # all tokens read so far

    @property
    def length(self) -> int:
        """Number of tokens read."""
        return 0 if self.tokens is None else self.tokens.shape[1]

    def with_new(self, tokens: Int[Tensor, "batch n_new"]) -> Int[Tensor, "batch n"]:
        """Return the cached tokens followed by the new tokens. The cache does not change until ``commit`` is called.

        Raises:
            ValueError: The batch size differs from the batch size of the tokens so far.
        """
        if self.tokens is not None and self.tokens.shape[0] != tokens.shape[0]:
            raise ValueError(
                f"the cache has batch size {self.tokens.shape[0]} but the tokens have batch size {tokens.shape[0]}"
            )
        return tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)

    def commit(self, tokens: Int[Tensor, "batch n"]) -> None:
        """Store all tokens so far, after all layers have read them."""
        self.tokens = tokens

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``; the number of rows may change.

        The sources must keep their order, the rows of a source must stay adjacent, and all remaining sources must have
        the same number of rows. A call can drop sources or duplicate rows, but not both.
        """
        for layer in self.layers:
            layer.self_attention.reorder(rows)
            if layer.source is not None:
                if self.tokens is None:  # before the first token, there is one row for each source
                    self.tokens = rows.new_empty(len(layer.source.k), 0)
                layer.source.reorder(rows, len(self.tokens))
        if self.tokens is not None:
            self.tokens = self.tokens[rows]

    def truncate(self, length: int) -> None:
        """Keep only the first ``length`` tokens."""
        if self.tokens is not None:
            self.tokens = self.tokens[:, :length]
        for layer in self.layers:
            layer.self_attention.truncate(length)


def group_beams(x: Float[Tensor, "rows heads n d"] | Bool[Tensor, "rows heads n d"], n_sources: int) -> Tensor:
    """Join the rows of each source into one row that contains the queries of all its beams.

    >>> group_beams(torch.zeros(6, 2, 1, 8), n_sources=3).shape
    torch.Size([3, 2, 2, 8])
    """
    rows, heads, n, d = x.shape
    return x.reshape(n_sources, rows // n_sources, heads, n, d).transpose(1, 2).reshape(n_sources, heads, -1, d)


def ungroup_beams(x: Float[Tensor, "n_sources heads n d"], rows: int) -> Float[Tensor, "{rows} heads n_each d"]:
    """Split the joined rows into one row per beam: the inverse of ``group_beams``."""
    n_sources, heads, _, d = x.shape
    return x.reshape(n_sources, heads, rows // n_sources, -1, d).transpose(1, 2).reshape(rows, heads, -1, d)
