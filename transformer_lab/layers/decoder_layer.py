"""The decoder: layers that look back at what has been written, and across at what was read."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.kv_cache import LayerCache
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.checks import check_width
from transformer_lab.layers.feed_forward import FeedForward


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the encoder's output, a feed-forward network; each added, then normed.

    ``x ← LayerNorm(x + sublayer(x))``, three times: section 3.1 of Vaswani et al. (2017), arXiv:1706.03762. Queries
    of the cross-attention come from the decoder, keys and values from the *last* encoder layer, for every decoder
    layer alike.

    Args:
        d_model: Width of the input and output.
        n_heads: How many attention heads.
        d_ff: Width in the middle of the feed-forward network.
        dropout: Share of each sublayer's output that training drops.
        attention_dropout: Share of the attention weights that training drops.
        feed_forward: Which feed-forward network; the paper's has a ReLU.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, or a dropout is no share.

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
        feed_forward: type[FeedForward] = FeedForward,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.feed_forward = feed_forward(d_model, d_ff)
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
        """Pass a sequence through.

        Args:
            x: What has been written, one vector per position.
            memory: What the encoder made of the source.
            mask: True where a position may look at another: not at later ones, as ``decoder_mask`` has it.
            memory_mask: True where a position may look at one of the source: at every one but padding.
            cache: Keeps what is needed of earlier calls: then ``x`` holds only what is new.

        Raises:
            ValueError: A vector is not ``d_model`` wide.
        """
        written, read = (None, None) if cache is None else (cache.self_attention, cache.cross_attention)
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask, written)))
        x = self.norm_2(x + self.dropout(self.cross_attention(x, memory, memory, memory_mask, read)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))


class PreNormDecoderLayer(DecoderLayer):
    """The same parts, but what is normed is each sublayer's input; the sum itself is left alone.

    ``x ← x + sublayer(LayerNorm(x))``, three times: Xiong et al. (2020), arXiv:2002.04745, section 3. The memory comes
    normed from the encoder's end.
    """

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        memory_mask: Bool[Tensor, "*#batch_and_heads #n #n_source"] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Pass a sequence through; arguments as in ``DecoderLayer``."""
        check_width("d_model", self.self_attention.d_model, x=x)
        written, read = (None, None) if cache is None else (cache.self_attention, cache.cross_attention)
        normed = self.norm_1(x)
        x = x + self.dropout(self.self_attention(normed, normed, normed, mask, written))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, memory_mask, read))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))
