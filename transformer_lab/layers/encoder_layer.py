"""The encoder: layers in which every position looks at all the others, then thinks by itself."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.checks import check_width
from transformer_lab.layers.feed_forward import FeedForward


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network; each is added to what it was given, and the sum is normed.

    ``x ← LayerNorm(x + sublayer(x))``, twice: section 3.1 of Vaswani et al. (2017), arXiv:1706.03762. Dropout is on
    what each sublayer adds (section 5.4).

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
        feed_forward: type[FeedForward] = FeedForward,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.feed_forward = feed_forward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch_and_heads #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Pass a sequence through; the mask is True where a position may look at another.

        Raises:
            ValueError: The input is not ``d_model`` wide.
        """
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))


class PreNormEncoderLayer(EncoderLayer):
    """The same parts, but what is normed is each sublayer's input; the sum itself is left alone.

    ``x ← x + sublayer(LayerNorm(x))``, twice: Xiong et al. (2020), arXiv:2002.04745, section 3. A stack of these needs
    a norm of its own at the end.
    """

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch_and_heads #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Pass a sequence through; the mask is True where a position may look at another.

        Raises:
            ValueError: The input is not ``d_model`` wide.
        """
        check_width("d_model", self.self_attention.d_model, x=x)
        normed = self.norm_1(x)
        x = x + self.dropout(self.self_attention(normed, normed, normed, mask))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))
