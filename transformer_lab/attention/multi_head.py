"""Multi-head attention: several attention heads in parallel, each with its own projections of the whole input."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.dot_product import attend, check_causal, scaled_dot_product_attention
from transformer_lab.attention.kv_cache import KVCache, SourceKV, group_beams, ungroup_beams
from transformer_lab.attention.masks import causal_mask, mask_of_heads
from transformer_lab.checks import check_positive, check_probability, check_sequences


def split_heads(x: Float[Tensor, "batch n d_model"], n_heads: int) -> Float[Tensor, "batch {n_heads} n d_k"]:
    """Split the features into heads: head i consists of columns i d_k to (i + 1) d_k − 1."""
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch n_heads n d_k"]) -> Float[Tensor, "batch n d_model"]:
    """Concatenate the heads' features: the inverse of ``split_heads``."""
    return x.transpose(1, 2).flatten(start_dim=2)


class AttentionBase(nn.Module):
    """Base class of all attention modules, which stores their sizes and computes attention in every head.

    Args:
        d_model: Width of the input and output.
        n_heads: Number of heads.
        dropout: Dropout probability of the attention weights. The paper uses none.
        d_k: Width of a head; None means d_model / n_heads.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model`` and ``d_k`` is None, or a number is out of range.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float, d_k: int | None = None) -> None:
        super().__init__()
        if d_k is not None:
            check_positive(d_model=d_model, n_heads=n_heads, d_k=d_k)
        elif min(n_heads, d_model) < 1 or d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model; got d_model={d_model}, n_heads={n_heads}")
        check_probability(dropout=dropout)
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_k = d_model // n_heads if d_k is None else d_k
        self.dropout = dropout
        self.weights_hooks: list[Callable[[Tensor], None]] = []  # called with the weights; see ``record_attention``

    def attend_heads(
        self,
        q: Float[Tensor, "batch n_heads n_query d_k"],
        k: Float[Tensor, "batch n_kv_heads n_key d_k"],
        v: Float[Tensor, "batch n_kv_heads n_key d_k"],
        mask: Bool[Tensor, "*#batch_and_heads #n_query #n_key"]
        | Float[Tensor, "*#batch_and_heads #n_query #n_key"]
        | None = None,
        bias: Float[Tensor, "*#batch_and_heads #n_query #n_key"] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch n_heads n_query d_k"]:
        """Attend in all heads like ``attend``, with fused kernels unless a hook in ``weights_hooks`` needs the weights.

        Raises:
            ValueError: As in ``attend``, or the mask's dimensions are ambiguous.
        """
        dropout = self.dropout if self.training else 0.0
        if mask is not None:
            mask = mask_of_heads(mask, q.shape[0], q.shape[1])
            if mask.is_floating_point():  # a mask to add to the scores
                bias = mask if bias is None else bias + mask
                mask = None
        if not self.weights_hooks:
            return attend(q, k, v, mask, bias, dropout, is_causal)
        if is_causal:
            check_causal(q.shape[2], k.shape[2], mask, bias)
            mask = causal_mask(q.shape[2], k.shape[2], q.device)
        output, weights = scaled_dot_product_attention(q, k, v, mask, bias, dropout)
        for hook in self.weights_hooks:
            hook(weights)
        return output


class MultiHeadAttention(AttentionBase):
    """Attend in several heads at once, each of which compares different features.

    ``w_o(concat(head_1 … head_h))``, where head i computes attention on its slices of ``w_q(query)``, ``w_k(key)`` and
    ``w_v(value)``: section 3.2.2 of Vaswani et al. (2017), arXiv:1706.03762. Every head reads the whole input; the
    projections are sliced, not the input.

    Args:
        d_model: Width of all inputs and of the output.
        n_heads: Number of heads.
        dropout: Dropout probability of the attention weights. The paper uses none.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, or ``dropout`` is not between 0 and 1.

    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> x, memory = torch.randn(3, 5, 8), torch.randn(3, 7, 8)
    >>> attention(x, memory, memory).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout)
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n_query #n_all_keys"]
        | Float[Tensor, "*#batch_and_heads #n_query #n_all_keys"]
        | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        """Attend from every query to the keys.

        Args:
            query: The sequence that attends; in cross-attention, the decoder's sequence.
            key: The sequence to attend to: the same sequence or, in cross-attention, the encoder's output.
            value: The vectors to average; nearly always the same tensor as ``key``.
            mask: True where a query may attend to a key; it may differ between sentences and heads. A floating-point
                mask, such as ``alibi_bias``, is added to the scores.
            cache: Projected keys and values from earlier calls, to which the queries also attend.

        Raises:
            ValueError: The width, dtype or device of an input does not match the parameters, the numbers of keys and
                values differ, the batch sizes of queries and keys differ, or the mask has the wrong shape.
            TypeError: An input is not a tensor.
        """
        check_sequences(self.d_model, self.w_q, query=query, key=key, value=value)
        if query.shape[0] != key.shape[0]:
            sizes = f"{query.shape[0]} and {key.shape[0]}"
            raise ValueError(f"queries and keys must have the same batch size; got {sizes}")
        q = split_heads(self.w_q(query), self.n_heads)  # (batch, n_heads, n_query, d_k)
        k, v = self.project_kv(key, value)
        if cache is not None:
            k, v = cache.append(k, v)
        return self.w_o(merge_heads(self.attend_heads(q, k, v, mask)))

    def project_kv(
        self, key: Float[Tensor, "batch n_key d_model"], value: Float[Tensor, "batch n_value d_model"]
    ) -> tuple[Float[Tensor, "batch n_heads n_key d_k"], Float[Tensor, "batch n_heads n_value d_k"]]:
        """Return the keys and values of all heads."""
        return split_heads(self.w_k(key), self.n_heads), split_heads(self.w_v(value), self.n_heads)

    def attend_to_source(
        self,
        query: Float[Tensor, "rows n_query d_model"],
        source: SourceKV,
        mask: Bool[Tensor, "*#rows_and_heads #n_query #n_source"] | None = None,
    ) -> Float[Tensor, "rows n_query d_model"]:
        """Attend from every query to a source whose keys and values ``project_kv`` has already computed.

        Consecutive rows may share a source, as in beam search. The queries of these rows are joined into one longer
        row, so that keys and values are not copied for each row.

        Args:
            query: The decoder's sequences.
            source: Keys and values of the sources; the number of sources must divide the number of rows.
            mask: For each row, True where a query may attend to a key.

        Raises:
            ValueError: The queries have the wrong width, or the number of sources does not divide the number of rows.
        """
        check_sequences(self.d_model, self.w_q, query=query)
        rows, n_sources = query.shape[0], source.k.shape[0]
        if rows != n_sources and (n_sources == 0 or rows % n_sources):
            raise ValueError(
                f"the number of sources must divide the number of rows; got {n_sources} sources, {rows} rows"
            )
        q = split_heads(self.w_q(query), self.n_heads)
        if rows == n_sources:
            return self.w_o(merge_heads(self.attend_heads(q, source.k, source.v, mask)))
        if mask is not None:
            mask = group_beams(mask_of_heads(mask, rows, self.n_heads).expand(rows, -1, q.shape[2], -1), n_sources)
        output = self.attend_heads(group_beams(q, n_sources), source.k, source.v, mask)
        return self.w_o(merge_heads(ungroup_beams(output, rows)))
