"""Grouped-query attention: query heads share keys and values, which saves memory when generating long texts."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.kv_cache import KVCache
from transformer_lab.attention.multi_head import AttentionBase, merge_heads, split_heads
from transformer_lab.attention.positions import Positional
from transformer_lab.checks import check_sequences


def repeat_kv(x: Float[Tensor, "batch n_kv_heads n d"], n_repeats: int) -> Float[Tensor, "batch n_heads n d"]:
    """Repeat each key or value head consecutively, once for each query head in its group."""
    return x.repeat_interleave(n_repeats, dim=1)


class GroupedQueryAttention(AttentionBase):
    """Self-attention in which several query heads share each key/value head.

    Query head i attends to key/value head ``⌊i n_kv_heads / n_heads⌋``: section 2.2 of Ainslie et al. (2023),
    arXiv:2305.13245. Fewer keys and values mean a smaller cache when generating long texts. With ``n_kv_heads =
    n_heads``, this is ordinary multi-head self-attention.

    Args:
        d_model: Width of the input and output.
        n_heads: Number of query heads.
        n_kv_heads: Number of key/value heads.
        bias: Whether the projections have biases, as in GPT-2 but not in Llama.
        dropout: Dropout probability of the attention weights.
        d_k: Width of a head; None means d_model / n_heads.
        qkv_bias: Whether the query, key and value projections have biases; None means ``bias``. In Qwen 2, these
            projections have biases but the output projection does not.
        qk_norm_eps: ε of an RMSNorm applied to each head's queries and keys before rotation (QK-norm), as in Qwen 3 and
            Gemma 3; None means no norm. Without QK-norm, the lengths of queries and keys can grow until each softmax
            picks a single key: section 3.1.2 of Dehghani et al. (2023), arXiv:2302.05442, who use a LayerNorm.

    Raises:
        ValueError: A size is not positive, ``n_heads`` does not divide ``d_model`` and ``d_k`` is None, ``n_kv_heads``
            does not divide ``n_heads``, or ``dropout`` is not between 0 and 1.

    >>> import torch
    >>> attention = GroupedQueryAttention(d_model=12, n_heads=6, n_kv_heads=2)
    >>> attention(torch.randn(3, 5, 12)).shape
    torch.Size([3, 5, 12])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        bias: bool = False,
        dropout: float = 0.0,
        *,
        d_k: int | None = None,
        qkv_bias: bool | None = None,
        qk_norm_eps: float | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, dropout, d_k)
        if n_kv_heads < 1 or n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads must divide n_heads; got n_heads={n_heads}, n_kv_heads={n_kv_heads}")
        self.n_kv_heads = n_kv_heads
        qkv_bias = bias if qkv_bias is None else qkv_bias
        self.w_q = nn.Linear(d_model, n_heads * self.d_k, qkv_bias)
        self.w_k = nn.Linear(d_model, n_kv_heads * self.d_k, qkv_bias)
        self.w_v = nn.Linear(d_model, n_kv_heads * self.d_k, qkv_bias)
        self.w_o = nn.Linear(n_heads * self.d_k, d_model, bias)
        self.norm_q = nn.Identity() if qk_norm_eps is None else nn.RMSNorm(self.d_k, qk_norm_eps)
        self.norm_k = nn.Identity() if qk_norm_eps is None else nn.RMSNorm(self.d_k, qk_norm_eps)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | Float[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        positional: Positional | None = None,
        cache: KVCache | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch n d_model"]:
        """Attend from every position of a sequence to all positions that the mask allows.

        Args:
            x: The sequence.
            mask: True where a position may attend to another position. A floating-point mask is added to the scores.
            positional: Position information, such as a bias or a rotation.
            cache: Keys and values from earlier calls, to which the queries also attend.
            is_causal: Whether each position attends only to itself and earlier positions; faster than a mask.

        Raises:
            ValueError: The input does not have width ``d_model``, or ``is_causal`` is used with a mask, bias or cache.
        """
        check_sequences(self.d_model, self.w_q, x=x)
        q = self.norm_q(split_heads(self.w_q(x), self.n_heads))  # (batch, n_heads, n, d_k)
        k, v = self.norm_k(split_heads(self.w_k(x), self.n_kv_heads)), split_heads(self.w_v(x), self.n_kv_heads)
        bias, rotation = (None, None) if positional is None else (positional.bias, positional.rotation)
        if rotation is not None:
            q, k = rotation.rotate(q), rotation.rotate(k)
        if cache is not None:
            k, v = cache.append(k, v)
        return self.w_o(merge_heads(self.attend_heads(q, k, v, mask, bias, is_causal)))

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
        """Attend in all heads, repeating shared key/value heads only if a hook needs the weights."""
        if self.weights_hooks:
            group = self.n_heads // self.n_kv_heads
            k, v = repeat_kv(k, group), repeat_kv(v, group)
        return super().attend_heads(q, k, v, mask, bias, is_causal)
