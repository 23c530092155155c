"""Language models: a stack without an encoder, in which every token sees those before it and says which comes next.

One model, built from the parts its configuration names, goes from GPT-2 to Llama in small steps.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.feed_forward import FeedForward, GELUFeedForward, SwiGLU
from transformer_lab.masks import causal_mask, decoder_mask
from transformer_lab.multi_head import GroupedQueryAttention
from transformer_lab.norms import RMSNorm
from transformer_lab.positions import Rotation, alibi_bias, sinusoidal_encoding
from transformer_lab.stack import check_tokens

NORMS: dict[str, type[nn.Module]] = {"layer": nn.LayerNorm, "rms": RMSNorm}
FEED_FORWARDS: dict[str, type[nn.Module]] = {"relu": FeedForward, "gelu": GELUFeedForward, "swiglu": SwiGLU}


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
        positions: How the model learns where a token stands.
        norm: Which norm.
        feed_forward: Which feed-forward network.
        bias: Whether the attention's projections have biases.
        tied: Whether the embeddings are also the last linear layer's weights.
        pad_id: The token that fills short texts up, or None if there is none.
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
    positions: Literal["learned", "sinusoidal", "rotary", "alibi", "none"] = "learned"
    norm: Literal["layer", "rms"] = "layer"
    feed_forward: Literal["relu", "gelu", "swiglu"] = "gelu"
    bias: bool = True
    tied: bool = True
    pad_id: int | None = None

    @classmethod
    def gpt2(cls, vocab_size: int = 50257, **others: Any) -> "LanguageModelConfig":
        """Give GPT-2's smallest model: 124,439,808 parameters. Radford et al. (2019)."""
        return replace(cls(vocab_size), **others)

    @classmethod
    def llama(cls, vocab_size: int = 32000, **others: Any) -> "LanguageModelConfig":
        """Give Llama 2's smallest model: 6,738,415,616 parameters. Touvron et al. (2023), arXiv:2307.09288."""
        llama = cls(
            vocab_size, d_model=4096, n_heads=32, d_ff=11008, n_layers=32, max_length=4096, dropout=0.0,
            positions="rotary", norm="rms", feed_forward="swiglu", bias=False, tied=False,
        )  # fmt: skip
        return replace(llama, **others)


class Block(nn.Module):
    """Self-attention, then a feed-forward network, each on a normed copy and added to what came in.

    ``x ← x + sublayer(norm(x))``, twice. It is a pre-norm encoder layer whose mask hides the future.

    Args:
        config: Which parts, and their sizes.
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        norm, feed_forward = NORMS[config.norm], FEED_FORWARDS[config.feed_forward]
        self.norm_1 = norm(config.d_model)
        self.self_attention = GroupedQueryAttention(
            config.d_model, config.n_heads, config.n_kv_heads or config.n_heads, config.bias, config.attention_dropout
        )
        self.norm_2 = norm(config.d_model)
        self.feed_forward = feed_forward(config.d_model, config.d_ff)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n"],
        bias: Float[Tensor, "*#batch_and_heads #n #n"] | None = None,
        rotation: Rotation | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Pass a text through; arguments as in ``GroupedQueryAttention``."""
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask, bias, rotation))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))


class LanguageModel(nn.Module):
    """Say after each token of a text which token comes next.

    Padding is hidden wherever it stands, and does not count as a position: a text means the same with padding before
    or after it.

    Args:
        config: Its shape.

    Raises:
        ValueError: Sizes do not fit together.

    >>> config = LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=2)
    >>> LanguageModel(config)(torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([1, 5, 11])
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions: Tensor | None
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(config.max_length, config.d_model))
        elif config.positions == "sinusoidal":
            self.register_buffer("positions", sinusoidal_encoding(config.max_length, config.d_model), persistent=False)
        else:
            self.positions = None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = NORMS[config.norm](config.d_model)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied:
            self.head.weight = self.embedding.weight
        self._initialise()

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        """Give the logits of the token after each token.

        Raises:
            ValueError: The tokens are none, too many, no whole numbers, or not in the vocabulary.
        """
        config = self.config
        check_tokens(tokens, config.vocab_size, config.max_length)
        n, pad_id = tokens.shape[1], config.pad_id
        mask = causal_mask(n, device=tokens.device) if pad_id is None else decoder_mask(tokens, pad_id)
        where = torch.arange(n, device=tokens.device) if pad_id is None else positions_of(tokens, pad_id)
        bias = alibi_bias(config.n_heads, n, n).to(tokens.device) if config.positions == "alibi" else None
        rotation = Rotation(where, config.d_model // config.n_heads) if config.positions == "rotary" else None
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions[where]
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, mask, bias, rotation)
        return self.head(self.norm(x))

    def _initialise(self) -> None:
        """Draw what GPT-2 starts with: N(0, 0.02²), less for what adds up over the blocks; biases 0."""
        for name, parameter in self.named_parameters():
            if name.endswith(("w_o.weight", "w_2.weight", "w_down.weight")):
                nn.init.normal_(parameter, std=0.02 / (2 * self.config.n_layers) ** 0.5)
            elif parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)


def positions_of(tokens: Int[Tensor, "batch n"], pad_id: int) -> Int[Tensor, "batch n"]:
    """Number the real tokens of each text from 0, whatever padding stands before them.

    >>> positions_of(torch.tensor([[0, 0, 7, 8, 9]]), pad_id=0)
    tensor([[0, 0, 0, 1, 2]])
    """
    return ((tokens != pad_id).cumsum(dim=1) - 1).clamp(min=0)
