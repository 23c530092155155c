"""Encoder layers: self-attention among all positions, then a feed-forward network at each position."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.checks import check_sequences
from transformer_lab.layers.feed_forward import Activation, make_feed_forward


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network; each is added to its input, and the sum is normalized.

    ``x ← LayerNorm(x + sublayer(x))``, twice: section 3.1 of Vaswani et al. (2017), arXiv:1706.03762. Dropout is
    applied to the output of each sublayer (section 5.4). ``fast.packed_models`` computes the same result.

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
    >>> EncoderLayer(d_model=8, n_heads=2, d_ff=32)(torch.randn(3, 5, 8)).shape
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
        self.feed_forward = make_feed_forward(activation, d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch_and_heads #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the layer's output at every position; the mask is True where a position may attend to another.

        Raises:
            ValueError: The input does not have width ``d_model``.
        """
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))


class PreNormEncoderLayer(EncoderLayer):
    """An encoder layer that normalizes the input of each sublayer instead of the sum.

    ``x ← x + sublayer(LayerNorm(x))``, twice: Xiong et al. (2020), arXiv:2002.04745. A stack needs a final norm.
    """

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch_and_heads #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the layer's output at every position; the mask is True where a position may attend to another.

        Raises:
            ValueError: The input does not have width ``d_model``.
        """
        check_sequences(self.self_attention.d_model, self.norm_1, x=x)
        normalized = self.norm_1(x)
        x = x + self.dropout(self.self_attention(normalized, normalized, normalized, mask))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))
