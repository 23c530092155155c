"""Caches: what a decoder keeps of the tokens it has seen, so that each is read only once.

A token's keys and values do not change when others are written after it. So they are kept, and for each new token
only its own are computed; its query is not needed again. The keys and values of a source are computed once for all.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

KeysAndValues = tuple[Tensor, Tensor]
Project = Callable[[], KeysAndValues]


class KVCache:
    """Keys and values of the tokens so far, for self-attention, in memory that is set aside beforehand.

    Args:
        max_length: For how many tokens there is room.
    """

    def __init__(self, max_length: int) -> None:
        self.max_length = max_length
        self.length = 0
        self._buffer: Tensor | None = None  # (2, batch, n_kv_heads, max_length, d_k)

    def __call__(self, project: Project) -> KeysAndValues:
        """Project the new tokens, keep the result, and give the keys and values of all tokens so far.

        Raises:
            ValueError: There is no room left.
        """
        k, v = project()
        start, end = self.length, self.length + k.shape[2]
        if end > self.max_length:
            raise ValueError(f"this cache has room for max_length={self.max_length} tokens; got {end}")
        if self._buffer is None:
            self._buffer = k.new_empty(2, *k.shape[:2], self.max_length, k.shape[3])
        self._buffer[0, :, :, start:end], self._buffer[1, :, :, start:end] = k, v
        self.length = end
        keys, values = self._buffer[:, :, :, :end]
        return keys, values

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Let row i go on from what row ``rows[i]`` has seen; in place, unless there are more or fewer rows now."""
        if self._buffer is None:
            return
        if len(rows) == self._buffer.shape[1]:
            self._buffer[:, :, :, : self.length] = self._buffer[:, rows, :, : self.length]
        else:
            self._buffer = self._buffer[:, rows]

    def truncate(self, length: int) -> None:
        """Forget all but the first tokens."""
        self.length = min(self.length, length)


class SourceKV:
    """Keys and values of a source, for cross-attention: projected once, and shared by all that is written about it."""

    def __init__(self) -> None:
        self._kv: KeysAndValues | None = None

    def __call__(self, project: Project) -> KeysAndValues:
        """Project the source the first time; give its keys and values."""
        if self._kv is None:
            self._kv = project()
        return self._kv

    def reorder(self, rows: Int[Tensor, " new_rows"], n_rows: int) -> None:
        """Drop the sources about which nothing goes on to be written.

        Args:
            rows: The rows that go on; those about one source stay next to each other.
            n_rows: How many rows there were, as many about each source.
        """
        if self._kv is None or len(rows) == n_rows:
            return
        k, v = self._kv
        sources = (rows // (n_rows // len(k))).unique()  # type: ignore[no-untyped-call]
        if len(sources) < len(k):
            self._kv = k[sources], v[sources]


class LayerCache:
    """What one layer keeps.

    Args:
        max_length: For how many tokens there is room.
    """

    def __init__(self, max_length: int) -> None:
        self.self_attention = KVCache(max_length)
        self.cross_attention = SourceKV()


class ModelCache:
    """What a model keeps of the tokens it has seen: their ids, and each layer's keys and values.

    Args:
        n_layers: How many layers the model has.
        max_length: For how many tokens there is room.
    """

    def __init__(self, n_layers: int, max_length: int) -> None:
        self.max_length = max_length
        self.layers = [LayerCache(max_length) for _ in range(n_layers)]
        self._tokens: Int[Tensor, "batch n"] | None = None

    @property
    def length(self) -> int:
        """How many tokens it has seen."""
        return 0 if self._tokens is None else self._tokens.shape[1]

    def with_new(self, tokens: Int[Tensor, "batch n_new"]) -> Int[Tensor, "batch n"]:
        """Give the tokens so far and these after them."""
        return tokens if self._tokens is None else torch.cat([self._tokens, tokens], dim=1)

    def commit(self, tokens: Int[Tensor, "batch n"]) -> None:
        """Take these for the tokens so far."""
        self._tokens = tokens

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Let row i go on from what row ``rows[i]`` has seen; there may be more or fewer rows than before.

        Rows about one source must stay next to each other, and be as many for each source that is left. Sources are
        dropped where there are fewer rows: not by the same call that lets several texts go on from one.
        """
        if self._tokens is None:
            return
        for layer in self.layers:
            layer.self_attention.reorder(rows)
            layer.cross_attention.reorder(rows, len(self._tokens))
        self._tokens = self._tokens[rows]

    def truncate(self, length: int) -> None:
        """Forget all but the first tokens."""
        if self._tokens is not None:
            self._tokens = self._tokens[:, :length]
        for layer in self.layers:
            layer.self_attention.truncate(length)


def group_beams(x: Float[Tensor, "rows heads n d"] | Bool[Tensor, "rows heads n d"], batch: int) -> Tensor:
    """Put neighbouring rows end to end, so that ``batch`` of them are left."""
    rows, heads, n, d = x.shape
    return x.reshape(batch, rows // batch, heads, n, d).transpose(1, 2).reshape(batch, heads, -1, d)


def ungroup_beams(x: Float[Tensor, "batch heads n d"], rows: int) -> Float[Tensor, "{rows} heads n_each d"]:
    """Take such rows apart again: the inverse of ``group_beams``."""
    batch, heads, _, d = x.shape
    return x.reshape(batch, heads, rows // batch, -1, d).transpose(1, 2).reshape(rows, heads, -1, d)
