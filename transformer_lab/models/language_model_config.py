"""The configuration of a language model, from GPT-2 to Llama."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from transformer_lab.attention.positions import RotaryScaling
from transformer_lab.checks import check_fields, check_positive, check_probability, check_token_id
from transformer_lab.layers.feed_forward import FeedForwardName
from transformer_lab.layers.norms import NormName

PositionScheme = Literal["learned", "sinusoidal", "rotary", "alibi", "none"]
"""Method for encoding the positions of the tokens."""
NormPlacement = Literal["before", "after", "both"]
"""Whether a sublayer's input (GPT-2 and Llama), its output (OLMo 2), or both (Gemma 3) are normalized.

``x + sublayer(norm(x))``, ``x + norm(sublayer(x))`` or ``x + norm(sublayer(norm(x)))``. The sum is not normalized.
"""


@dataclass(frozen=True)
class SlidingWindow:
    """Local attention: the blocks in which a token attends only to the nearest earlier tokens.

    Args:
        size: Number of tokens that a token attends to, including itself.
        pattern: Whether each block is local; the pattern repeats over all blocks. In Mistral, every block is local:
            ``(True,)``; in Gemma 3, five of six blocks are: ``(True, True, True, True, True, False)``.
        rotary_base: ``base`` of rotary positions in local blocks, which are then not scaled. None means the same rotary
            positions as in the other blocks.

    Raises:
        ValueError: The size or ``rotary_base`` is not positive, or the pattern is empty.

    >>> [SlidingWindow(512, (True, True, False)).is_local(block) for block in range(4)]
    [True, True, False, True]
    """

    size: int
    pattern: tuple[bool, ...] = (True,)
    rotary_base: float | None = None

    def __post_init__(self) -> None:
        check_positive(size=self.size)
        if self.rotary_base is not None:
            check_positive(rotary_base=self.rotary_base)
        if not self.pattern:
            raise ValueError(f"the pattern of local blocks must not be empty; got {self.pattern}")

    def is_local(self, block: int) -> bool:
        """Return whether this block (counting from 0) is local."""
        return self.pattern[block % len(self.pattern)]


@dataclass(frozen=True)
class LanguageModelConfig:
    """The parts and sizes of a language model; the defaults describe the smallest GPT-2.

    Args:
        vocab_size: Vocabulary size.
        d_model: Width of every vector between the blocks.
        n_heads: Number of query heads in a block.
        n_kv_heads: Number of key/value heads; None means ``n_heads``.
        d_k: Width of a head; None means d_model / n_heads.
        d_ff: Width of the hidden layer of the feed-forward networks.
        n_layers: Number of blocks.
        max_length: Maximum number of tokens in a text.
        dropout: Dropout probability of the embeddings and of each sublayer's output.
        attention_dropout: Dropout probability of the attention weights.
        positions: Method for encoding the positions of the tokens.
        rotary_base: ``base`` of rotary positions.
        rotary_scaling: How to slow rotary positions for texts longer than the original training texts, if at all.
        window: The blocks with local attention; None means none.
        norm: Name of the norm.
        norm_eps: Prevents division by 0 in the norm.
        norm_placement: Whether a sublayer's input, its output, or both are normalized.
        qk_norm: Whether each head's queries and keys are normalized before rotation.
        feed_forward: Name of the feed-forward network.
        bias: Whether the modules have biases; RMSNorm, SwiGLU, GeGLU and the last linear layer never have any.
        qkv_bias: Whether the query, key and value projections have biases; None means ``bias``.
        tie_embeddings: Whether the last linear layer uses the embeddings as its weights.
        scaled_embeddings: Whether to multiply embeddings by √d_model, which is always done with sinusoidal positions.
        pad_id: The token that pads short texts; None means no padding.

    Raises:
        ValueError: A size is not a positive integer, ``rotary_base`` is not positive, a dropout probability is not
            between 0 and 1, a name is unknown, ``pad_id`` is not in the vocabulary, or rotary heads have an odd width.
    """

    __no_type_check__ = True  # not checked by jaxtyping, because the checks below raise clearer errors

    vocab_size: int
    d_model: int = 768
    n_heads: int = 12
    n_kv_heads: int | None = None
    d_k: int | None = None
    d_ff: int = 3072
    n_layers: int = 12
    max_length: int = 1024
    dropout: float = 0.1
    attention_dropout: float = 0.0
    positions: PositionScheme = "learned"
    rotary_base: float = 10000.0
    rotary_scaling: RotaryScaling | None = None
    window: SlidingWindow | None = None
    norm: NormName = "layer"
    norm_eps: float = 1e-5
    norm_placement: NormPlacement = "before"
    qk_norm: bool = False
    feed_forward: FeedForwardName = "gelu_tanh"
    bias: bool = True
    qkv_bias: bool | None = None
    tie_embeddings: bool = True
    scaled_embeddings: bool = False
    pad_id: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_positive(
            vocab_size=self.vocab_size, d_model=self.d_model, n_heads=self.n_heads, d_ff=self.d_ff,
            n_layers=self.n_layers, max_length=self.max_length, rotary_base=self.rotary_base,
        )  # fmt: skip
        if self.d_k is not None:
            check_positive(d_k=self.d_k)
        check_probability(dropout=self.dropout, attention_dropout=self.attention_dropout)
        if self.pad_id is not None:
            check_token_id("pad_id", self.pad_id, self.vocab_size)
        if self.positions == "rotary" and self.head_width % 2:
            sizes = f"d_model={self.d_model}, n_heads={self.n_heads}" if self.d_k is None else f"d_k={self.d_k}"
            raise ValueError(f"rotary positions require an even number of features in each head; got {sizes}")

    def is_local(self, block: int) -> bool:
        """Return whether a block (counting from 0) has local attention."""
        return self.window is not None and self.window.is_local(block)

    def rotary(self, local: bool) -> tuple[float, RotaryScaling | None]:
        """Return the base and the scaling of rotary positions, for local or for global blocks."""
        if local and self.window is not None and self.window.rotary_base is not None:
            return self.window.rotary_base, None
        return self.rotary_base, self.rotary_scaling

    @property
    def head_width(self) -> int:
        """Width of each head's queries, keys and values: ``d_k``, or ``d_model / n_heads``."""
        return self.d_model // self.n_heads if self.d_k is None else self.d_k

    @classmethod
    def gpt2(cls, vocab_size: int = 50257, **overrides: Any) -> "LanguageModelConfig":
        """Return the configuration of the smallest GPT-2, with 124,439,808 parameters: Radford et al. (2019).

        >>> LanguageModelConfig.gpt2(n_layers=24, d_model=1024, n_heads=16, d_ff=4096).n_layers
        24
        """
        return replace(cls(vocab_size), **overrides)

    @classmethod
    def llama(cls, vocab_size: int = 32000, **overrides: Any) -> "LanguageModelConfig":
        """Return the configuration of the smallest Llama 2, with 6,738,415,616 parameters.

        Touvron et al. (2023), arXiv:2307.09288.
        """
        llama = cls(
            vocab_size, d_model=4096, n_heads=32, d_ff=11008, n_layers=32, max_length=4096, dropout=0.0,
            positions="rotary", norm="rms", feed_forward="swiglu", bias=False, tie_embeddings=False,
        )  # fmt: skip
        return replace(llama, **overrides)
