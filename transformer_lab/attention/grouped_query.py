"""Grouped-query attention: heads of queries that share keys and values, for models that generate long texts."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.kv_cache import KVCache
from transformer_lab.attention.multi_head import AttentionBase, merge_heads, split_heads
from transformer_lab.attention.positions import Positional
from transformer_lab.checks import check_sequences


def repeat_kv(x: Float[Tensor, "batch n_kv_heads n d"], n_repeats: int) -> Float[Tensor, "batch n_heads n d"]:
    """Repeat each head of keys or values next to itself, once for each query head of its group."""
    return x.repeat_interleave(n_repeats, dim=1)


class GroupedQueryAttention(AttentionBase):
    """Self-attention in which several query heads share each head of keys and values.

    Query head i attends to the keys and values of head ``⌊i n_kv_heads / n_heads⌋``: section 2.2 of Ainslie et al.
    (2023), arXiv:2305.13245. Fewer keys and values make long texts affordable when they are generated. With
    ``n_kv_heads = n_heads`` it is multi-head self-attention again.

    Args:
        d_model: Width of the input and output.
        n_heads: Number of query heads.
        n_kv_heads: Number of heads of keys and values.
        bias: Whether the projections have biases. Llama's have none, GPT-2's do.
        dropout: Dropout probability of the attention weights.
        d_k: Width of a head; None means d_model / n_heads.
        qkv_bias: Whether the projections to queries, keys and values have biases; None means ``bias``. Those of Qwen 2
            do, and its output projection does not.
        qk_norm_eps: ε of an RMSNorm of each head's queries and keys, before they are rotated; None: there is none.
            The length of a query or key no longer raises its scores, which otherwise may grow until each softmax picks
            one key: section 3.1.2 of Dehghani et al. (2023), arXiv:2302.05442, with a LayerNorm. Qwen 3, Gemma 3.

    Raises:
        ValueError: A size is not positive, ``n_heads`` does not divide ``d_model`` although no ``d_k`` is given,
            ``n_kv_heads`` does not divide ``n_heads``, or ``dropout`` is not between 0 and 1.

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
        """Attend from every position of a sequence to the others.

        Args:
            x: The sequence.
            mask: True where a position may attend to another; numbers instead of booleans are added to the scores.
            positional: What attention is told about positions.
            cache: Holds the keys and values of earlier calls, which are attended to as well.
            is_causal: Whether each position attends to itself and those before it only, which is faster without a mask.

        Raises:
            ValueError: The input is not ``d_model`` wide, or ``is_causal`` is combined with a mask, a bias, or keys of
                earlier calls.
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
        """Attend in all heads: the fused kernels let heads share keys and values; for the weights they are repeated."""
        if self.weights_hooks:
            group = self.n_heads // self.n_kv_heads
            k, v = repeat_kv(k, group), repeat_kv(v, group)
        return super().attend_heads(q, k, v, mask, bias, is_causal)
