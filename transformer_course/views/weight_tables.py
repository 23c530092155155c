"""Encode attention weights for the browser, as two bytes each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

HIDDEN = 65535
"""The integer that encodes a masked weight. A weight of 1 is encoded as ``HIDDEN - 1``."""

Tokens = Sequence[str] | Sequence[Sequence[str]]
"""The tokens of one sentence, or of several sentences."""


@dataclass(frozen=True)
class WeightTable:
    """The weights of one layer for one sentence, with the tokens of the rows and columns."""

    weights: Float[Tensor, "n_heads n_query n_key"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def hidden(self) -> Bool[Tensor, "n_heads n_query n_key"]:
        """True where the weight is exactly 0, which a softmax returns for masked keys."""
        return self.weights == 0

    @property
    def first(self) -> int:
        """The position of the first query. If the queries are a slice of the keys, it is the position of its key."""
        n = len(self.queries)
        matches = [i for i in range(len(self.keys) - n + 1) if self.keys[i : i + n] == self.queries]
        return matches[0] if len(matches) == 1 else 0

    def names(self) -> tuple[list[str], list[str]]:
        """Return queries and keys with their positions as subscripts (``like₁``), because a token may occur twice."""
        sides = ((self.queries, self.first), (self.keys, 0))
        queries, keys = ([f"{token}{_subscript(i)}" for i, token in enumerate(side, first)] for side, first in sides)
        return queries, keys

    def encoded(self) -> bytes:
        """Return the weights as unsigned 16-bit integers, accurate to 0.00001, with ``HIDDEN`` for masked weights."""
        levels = (self.weights.double() * (HIDDEN - 1)).round().to(torch.int32)
        return levels.masked_fill(self.hidden, HIDDEN).to(torch.uint16).numpy().tobytes()


def weight_tables(
    weights: Tensor | Sequence[Tensor], queries: Tokens, keys: Tokens | None, layer: str
) -> list[WeightTable]:
    """Return the tables of one layer, one for each sentence.

    Args:
        weights: A tensor of shape (n_query, n_key) or (n_heads, n_query, n_key) for one sentence; a tensor of shape
            (batch, n_heads, n_query, n_key) or a list of tensors for several sentences.
        queries: Tokens of the rows, for each sentence.
        keys: Tokens of the columns, for each sentence; by default, the tokens of the rows.
        layer: The name of the layer in error messages.

    Raises:
        ValueError: A tensor has a different shape, the numbers of sentences or tokens differ, or weights are not
            between 0 and 1.
    """
    by_sentence = [weights] if isinstance(weights, Tensor) and weights.dim() < 4 else list(weights)
    names = [_sentences(tokens) for tokens in (queries, queries if keys is None else keys)]
    for side, sentences in zip(("queries", "keys"), names, strict=True):
        if len(sentences) != len(by_sentence):
            raise ValueError(
                f"{layer}: each sentence must have weights and {side}; got weights for {len(by_sentence)} and "
                f"{side} for {len(sentences)} sentences"
            )
    return [_table(*parts, layer) for parts in zip(by_sentence, names[0], names[1], strict=True)]


def pack(layers: Mapping[str, Sequence[WeightTable]]) -> tuple[dict[str, Any], bytes]:
    """Return the data for the browser: an index with the offset, size and tokens of each table, and all weights.

    The tokens of a sequence are sent only once, even if several layers use it.
    """
    sequences: dict[tuple[str, ...], int] = {}
    tables, data, start = [], [], 0
    for layer_tables in layers.values():
        rows = []
        for table in layer_tables:
            queries, keys = (sequences.setdefault(names, len(sequences)) for names in (table.queries, table.keys))
            sizes = {"start": start, "heads": len(table.weights), "first": table.first}
            rows.append({**sizes, "queries": queries, "keys": keys})
            data.append(table.encoded())
            start += table.weights.numel()
        tables.append(rows)
    return {"layers": list(layers), "sequences": [list(names) for names in sequences], "tables": tables}, b"".join(data)


def _subscript(position: int) -> str:
    return str(position).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _table(weights: Tensor, queries: Sequence[str], keys: Sequence[str], layer: str) -> WeightTable:
    weights = weights.detach().float().cpu()
    shape = tuple(weights.shape)
    if weights.dim() == 2:
        weights = weights[None]
    if weights.dim() != 3 or not weights.numel():
        raise ValueError(f"{layer}: weights must have shape (n_heads, n_query, n_key) per sentence; got {shape}")
    if shape[-2:] != (len(queries), len(keys)):
        raise ValueError(
            f"{layer}: there must be one token for each of {shape[-2]} queries and {shape[-1]} keys; got "
            f"{len(queries)} query tokens and {len(keys)} key tokens"
        )
    if not (weights.min() >= 0 and weights.max() <= 1 + 1e-3):  # a sum of rounded numbers may slightly exceed 1
        raise ValueError(f"{layer}: weights must be between 0 and 1; got {weights.min():.3g} to {weights.max():.3g}")
    return WeightTable(weights.clamp(max=1.0), tuple(queries), tuple(keys))


def _sentences(tokens: Tokens) -> list[Sequence[str]]:
    """Return the tokens of each sentence. A plain list of strings is a single sentence."""
    alone = [token for token in tokens if isinstance(token, str)]
    return [alone] if len(alone) == len(tokens) else [list(names) for names in tokens]
