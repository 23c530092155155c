"""Decoder layers: self-attention to the target so far, cross-attention to the source, and a feed-forward network."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.kv_cache import LayerCache, SourceKV
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.checks import check_sequences
from transformer_lab.layers.feed_forward import Activation, make_feed_forward


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and a feed-forward network, each added to its input and then normalized.

    ``x ← LayerNorm(x + sublayer(x))``, three times: section 3.1 of Vaswani et al. (2017), arXiv:1706.03762. The queries
    of the cross-attention come from the decoder; its keys and values come from the *last* encoder layer, in every
    decoder layer. ``fast.packed_models`` and ``fast.transformer_decoding_step`` compute the same result.

    Args:
        d_model: Width of the input and output.
        n_heads: Number of attention heads.
        d_ff: Width of the hidden layer of the feed-forward network.
        dropout: Dropout probability of each sublayer's output.
        attention_dropout: Dropout probability of the attention weights.
        activation: Activation of the feed-forward network; the paper uses ReLU.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, or a dropout probability is not between 0 and 1.

    >>> import torch
    >>> layer = DecoderLayer(d_model=8, n_heads=2, d_ff=32)
    >>> layer(torch.randn(3, 5, 8), memory=torch.randn(3, 7, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.feed_forward = make_feed_forward(activation, d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        memory_mask: Bool[Tensor, "*#batch_and_heads #n #n_source"] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the layer's output at every position.

        Args:
            x: The target so far, one vector per position; with a cache, only the new positions.
            memory: The encoder's output.
            mask: True where a position may attend to another: itself and earlier positions, as in ``decoder_mask``.
            memory_mask: True where a position may attend to a source position: all positions except padding.
            cache: A cache from ``new_cache`` with the keys and values of earlier calls and of the memory.

        Raises:
            ValueError: A vector does not have width ``d_model``.
        """
        self_cache, source = (None, None) if cache is None else (cache.self_attention, cache.source)
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask, self_cache)))
        x = self.norm_2(x + self.dropout(self.attend_to_memory(x, memory, memory_mask, source)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

    def attend_to_memory(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        memory_mask: Bool[Tensor, "*#batch_and_heads #n #n_source"] | None,
        source: SourceKV | None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the cross-attention output over the memory, reusing its keys and values if they are cached."""
        if source is not None:
            return self.cross_attention.attend_to_source(x, source, memory_mask)
        return self.cross_attention(x, memory, memory, memory_mask)

    def new_cache(self, memory: Float[Tensor, "batch n_source d_model"], max_length: int) -> LayerCache:
        """Compute the keys and values of the memory, and return a cache for up to ``max_length`` positions."""
        return LayerCache(max_length, SourceKV(*self.cross_attention.project_kv(memory, memory)))


class PreNormDecoderLayer(DecoderLayer):
    """A decoder layer that normalizes the input of each sublayer instead of the sum.

    ``x ← x + sublayer(LayerNorm(x))``, three times: Xiong et al. (2020), arXiv:2002.04745, section 3. The encoder's
    final norm has already normalized the memory.
    """

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        memory_mask: Bool[Tensor, "*#batch_and_heads #n #n_source"] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the layer's output at every position; the arguments are the same as in ``DecoderLayer``."""
        check_sequences(self.self_attention.d_model, self.norm_1, x=x)
        self_cache, source = (None, None) if cache is None else (cache.self_attention, cache.source)
        normalized = self.norm_1(x)
        x = x + self.dropout(self.self_attention(normalized, normalized, normalized, mask, self_cache))
        x = x + self.dropout(self.attend_to_memory(self.norm_2(x), memory, memory_mask, source))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))
