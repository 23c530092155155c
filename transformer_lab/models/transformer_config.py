"""The configuration of a Transformer, with the paper's base and big models."""

from dataclasses import dataclass, replace
from typing import Any

from transformer_lab.checks import check_fields, check_positive, check_probability, check_token_id
from transformer_lab.layers.feed_forward import Activation


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes and options of a Transformer; the defaults describe the paper's base model.

    Args:
        vocab_size: Vocabulary size of the target, and of the source unless ``source_vocab_size`` is given.
        source_vocab_size: Vocabulary size of the source. None means that it shares the target's embeddings.
        d_model: Width of every vector between the layers.
        n_heads: Number of attention heads in a layer.
        d_ff: Width of the hidden layer of the feed-forward networks.
        n_layers: Number of layers in the encoder and in the decoder.
        max_length: Maximum number of tokens in a sentence.
        dropout: Dropout probability of the embeddings and of each sublayer's output.
        attention_dropout: Dropout probability of the attention weights.
        pre_norm: Whether the sublayers' inputs are normalized, instead of the sums.
        learned_positions: Whether positions are learned instead of sinusoidal.
        source_pad_id: The token that pads short sources.
        target_pad_id: The token that pads short targets.
        feed_forward: Activation of the feed-forward networks.
        output_bias: Whether the logits have a bias for each token.
        hide_target_padding: Whether padding in the target is masked. Set it to False if the padding token also begins
            every target, as in Marian models. At the end of a target, only other padding attends to padding anyway.

    Raises:
        ValueError: A size is not a positive integer, a dropout probability is not between 0 and 1, a padding token is
            not in its vocabulary, or ``feed_forward`` is unknown.

    >>> TransformerConfig.big(vocab_size=37_000).d_ff
    4096
    """

    __no_type_check__ = True  # not checked by jaxtyping, because the checks below raise clearer errors

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
    feed_forward: Activation = "relu"
    output_bias: bool = False
    hide_target_padding: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        check_positive(
            vocab_size=self.vocab_size, n_source_tokens=self.n_source_tokens, d_model=self.d_model,
            n_heads=self.n_heads, d_ff=self.d_ff, n_layers=self.n_layers, max_length=self.max_length,
        )  # fmt: skip
        check_probability(dropout=self.dropout, attention_dropout=self.attention_dropout)
        check_token_id("source_pad_id", self.source_pad_id, self.n_source_tokens)
        check_token_id("target_pad_id", self.target_pad_id, self.vocab_size)

    @property
    def n_source_tokens(self) -> int:
        """Vocabulary size of the source."""
        return self.vocab_size if self.source_vocab_size is None else self.source_vocab_size

    @property
    def stack(self) -> dict[str, Any]:
        """The ``LayerStack`` arguments that the encoder and the decoder share."""
        names = ["d_model", "n_heads", "d_ff", "n_layers", "max_length"]
        names += ["dropout", "attention_dropout", "learned_positions"]
        return {name: getattr(self, name) for name in names} | {"activation": self.feed_forward}

    @classmethod
    def base(cls, vocab_size: int, **overrides: Any) -> "TransformerConfig":
        """Return the base model of the paper's table 3.

        With the 37,000 tokens of its English-German task, it has 63,082,496 parameters (65 million in the paper).
        """
        return cls(vocab_size, **overrides)

    @classmethod
    def big(cls, vocab_size: int, **overrides: Any) -> "TransformerConfig":
        """Return the big model of the paper's table 3.

        With 37,000 tokens it has 214,245,376 parameters; the paper reports 213 million.
        """
        return replace(cls(vocab_size, d_model=1024, n_heads=16, d_ff=4096, dropout=0.3), **overrides)
