"""What a language model may be made of, and how large: one configuration goes from GPT-2 to Llama in small steps."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from transformer_lab.layers.feed_forward import FeedForward, GELUFeedForward, SiLUFeedForward, SwiGLU

Part = Callable[["LanguageModelConfig"], nn.Module]

POSITIONS = ("learned", "sinusoidal", "rotary", "alibi", "none")
NORMS: dict[str, Part] = {
    "layer": lambda config: nn.LayerNorm(config.d_model, config.norm_eps, bias=config.bias),
    "rms": lambda config: nn.RMSNorm(config.d_model, config.norm_eps),
}
FEED_FORWARDS: dict[str, Part] = {
    "relu": lambda config: FeedForward(config.d_model, config.d_ff, config.bias),
    "gelu": lambda config: GELUFeedForward(config.d_model, config.d_ff, config.bias),
    "silu": lambda config: SiLUFeedForward(config.d_model, config.d_ff, config.bias),
    "swiglu": lambda config: SwiGLU(config.d_model, config.d_ff),
}


@dataclass(frozen=True)
class LanguageModelConfig:
    """Everything that decides the shape of a language model; the defaults are GPT-2's smallest.

    Args:
        vocab_size: How many tokens there are.
        d_model: Width of every vector between the blocks.
        n_heads: How many query heads a block has.
        n_kv_heads: How many heads of keys and values; None means as many.
        d_ff: Width in the middle of the feed-forward networks.
        n_layers: How many blocks.
        max_length: How many tokens a text may have.
        dropout: Share of the embeddings and of each sublayer's output that training drops.
        attention_dropout: Share of the attention weights that training drops.
        positions: How the model learns where a token stands: one of ``POSITIONS``.
        rotary_base: ``base`` of rotary positions.
        norm: Which norm: one of ``NORMS``.
        norm_eps: What keeps the norm from dividing by 0.
        feed_forward: Which feed-forward network: one of ``FEED_FORWARDS``.
        bias: Whether there are biases; RMSNorm, SwiGLU and the last linear layer have none in any case.
        tied: Whether the embeddings are also the last linear layer's weights.
        pad_id: The token that fills short texts up, or None if there is none.

    Raises:
        ValueError: A size is not positive, a name unknown, ``pad_id`` not in the vocabulary, or a head too odd for
            rotary positions.
    """

    vocab_size: int
    d_model: int = 768
    n_heads: int = 12
    n_kv_heads: int | None = None
    d_ff: int = 3072
    n_layers: int = 12
    max_length: int = 1024
    dropout: float = 0.1
    attention_dropout: float = 0.0
    positions: str = "learned"
    rotary_base: float = 10000.0
    norm: str = "layer"
    norm_eps: float = 1e-5
    feed_forward: str = "gelu"
    bias: bool = True
    tied: bool = True
    pad_id: int | None = None

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_length"):
            if (size := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be positive; got {name}={size}")
        for name, known in (("positions", POSITIONS), ("norm", NORMS), ("feed_forward", FEED_FORWARDS)):
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}; got {name}={value!r}")
        if self.pad_id is not None and not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(f"pad_id must be a token; got pad_id={self.pad_id}, vocab_size={self.vocab_size}")
        if self.positions == "rotary" and self.d_model // self.n_heads % 2:
            sizes = f"d_model={self.d_model}, n_heads={self.n_heads}"
            raise ValueError(f"rotary positions need an even number of features in each head; got {sizes}")

    @classmethod
    def gpt2(cls, vocab_size: int = 50257, **others: Any) -> "LanguageModelConfig":
        """Give GPT-2's smallest model: 124,439,808 parameters. Radford et al. (2019).

        >>> LanguageModelConfig.gpt2(n_layers=24, d_model=1024, n_heads=16, d_ff=4096).n_layers
        24
        """
        return replace(cls(vocab_size), **others)

    @classmethod
    def llama(cls, vocab_size: int = 32000, **others: Any) -> "LanguageModelConfig":
        """Give Llama 2's smallest model: 6,738,415,616 parameters. Touvron et al. (2023), arXiv:2307.09288."""
        llama = cls(
            vocab_size, d_model=4096, n_heads=32, d_ff=11008, n_layers=32, max_length=4096, dropout=0.0,
            positions="rotary", norm="rms", feed_forward="swiglu", bias=False, tied=False,
        )  # fmt: skip
        return replace(llama, **others)
