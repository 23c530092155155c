"""What a Transformer is made of, and how large it is: the paper's sizes, and all others."""

from dataclasses import dataclass, replace
from typing import Any

from transformer_lab.layers.feed_forward import FEED_FORWARDS


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that decides the shape of a Transformer; the defaults are the paper's base model.

    Args:
        vocab_size: How many tokens the target has, and the source too where nothing else is said.
        source_vocab_size: How many tokens the source has. None: both share one vocabulary and one embedding.
        d_model: Width of every vector between the layers.
        n_heads: How many attention heads a layer has.
        d_ff: Width in the middle of the feed-forward networks.
        n_layers: How many layers the encoder has, and as many the decoder.
        max_length: How many tokens a sentence may have.
        dropout: Share of the embeddings and of each sublayer's output that training drops.
        attention_dropout: Share of the attention weights that training drops.
        pre_norm: Whether the sublayers' inputs are normed, and not the sums.
        learned_positions: Whether positions are learned, and not sinusoids.
        source_pad_id: The token that fills short sources up.
        target_pad_id: The token that fills short targets up.
        feed_forward: Which feed-forward network: one of ``FEED_FORWARDS``.
        output_bias: Whether each token has a bias of its own in the logits.
        hide_target_padding: Whether it is hidden wherever it stands. Where the same token begins every target, as in
            Marian's models, it must not be; at the end nothing looks at it anyway, but other padding.

    Raises:
        ValueError: A size is not positive, a padding token not in its vocabulary, or ``feed_forward`` unknown.

    >>> TransformerConfig.big(vocab_size=37_000).d_ff
    4096
    """

    vocab_size: int
    source_vocab_size: int | None = None
    d_model: int = 512
    n_heads: int = 8
    d_ff: int = 2048
    n_layers: int = 6
    max_length: int = 512
    dropout: float = 0.1
    attention_dropout: float = 0.0
    pre_norm: bool = False
    learned_positions: bool = False
    source_pad_id: int = 0
    target_pad_id: int = 0
    feed_forward: str = "relu"
    output_bias: bool = False
    hide_target_padding: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "n_source_tokens", "d_model", "n_heads", "d_ff", "n_layers", "max_length"):
            if (size := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be positive; got {name}={size}")
        for name, n_tokens in (("source_pad_id", self.n_source_tokens), ("target_pad_id", self.vocab_size)):
            if not 0 <= (pad_id := getattr(self, name)) < n_tokens:
                raise ValueError(f"{name} must be a token, from 0 to {n_tokens - 1}; got {name}={pad_id}")
        if self.feed_forward not in FEED_FORWARDS:
            raise ValueError(f"feed_forward must be one of {', '.join(FEED_FORWARDS)}; got {self.feed_forward!r}")

    @property
    def n_source_tokens(self) -> int:
        """How many tokens the source has: those of the target where nothing else is said."""
        return self.vocab_size if self.source_vocab_size is None else self.source_vocab_size

    @property
    def stack(self) -> dict[str, Any]:
        """What encoder and decoder have in common, as arguments for ``LayerStack``."""
        names = ["d_model", "n_heads", "d_ff", "n_layers", "max_length"]
        names += ["dropout", "attention_dropout", "learned_positions"]
        return {name: getattr(self, name) for name in names} | {"feed_forward": FEED_FORWARDS[self.feed_forward]}

    @classmethod
    def base(cls, vocab_size: int, **others: Any) -> "TransformerConfig":
        """Give the base model of the paper's table 3.

        With the 37,000 tokens of its English-German task that is 63,082,496 parameters; the paper says 65 million.
        """
        return cls(vocab_size, **others)

    @classmethod
    def big(cls, vocab_size: int, **others: Any) -> "TransformerConfig":
        """Give the big model of the paper's table 3.

        With 37,000 tokens that is 214,245,376 parameters; the paper says 213 million.
        """
        return replace(cls(vocab_size, d_model=1024, n_heads=16, d_ff=4096, dropout=0.3), **others)
