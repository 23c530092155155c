"""Language models: a stack without an encoder, in which every token sees those before it and says which comes next.

One model, built from the parts its configuration names, goes from GPT-2 to Llama in small steps.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.kv_cache import KVCache, ModelCache
from transformer_lab.attention.masks import causal_mask, decoder_mask
from transformer_lab.attention.positions import Rotation, distance_bias, sinusoidal_encoding
from transformer_lab.checks import check_tokens, check_width
from transformer_lab.models.language_model_config import FEED_FORWARDS, NORMS, LanguageModelConfig


class Block(nn.Module):
    """Self-attention, then a feed-forward network, each on a normed copy and added to what came in.

    ``x ← x + sublayer(norm(x))``, twice. It is a pre-norm encoder layer whose mask hides the future.

    Args:
        config: Which parts, and their sizes.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, or ``n_kv_heads`` does not divide ``n_heads``.

    >>> block = Block(LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32))
    >>> block(torch.randn(3, 5, 8), causal_mask(5)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        n_kv_heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
        self.norm_1 = NORMS[config.norm](config)
        self.self_attention = GroupedQueryAttention(
            config.d_model, config.n_heads, n_kv_heads, config.bias, config.attention_dropout
        )
        self.norm_2 = NORMS[config.norm](config)
        self.feed_forward = FEED_FORWARDS[config.feed_forward](config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"],
        bias: Float[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        rotation: Rotation | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Pass a text through; arguments and errors as in ``GroupedQueryAttention``."""
        check_width("d_model", self.self_attention.d_model, x=x)
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask, bias, rotation, cache))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))


class LanguageModel(nn.Module):
    """Say after each token of a text which token comes next.

    Padding is hidden wherever it stands, and does not count as a position: a text means the same with padding before,
    after or in it.

    Args:
        config: Its shape.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``n_kv_heads`` does not divide ``n_heads``, a dropout is
            no share, or ``d_model`` is too odd for sinusoids.

    >>> config = LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=2)
    >>> LanguageModel(config)(torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([1, 5, 11])
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        # Beside sinusoids, embeddings as small as they are drawn here would hardly be seen. Section 3.4 of the paper
        # scales them, too.
        self.scale = math.sqrt(config.d_model) if config.positions == "sinusoidal" else 1.0
        self.positions: Tensor | None
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(config.max_length, config.d_model))
        elif config.positions == "sinusoidal":
            self.register_buffer("positions", sinusoidal_encoding(config.max_length, config.d_model), persistent=False)
        else:
            self.positions = None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = NORMS[config.norm](config)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied:
            self.head.weight = self.embedding.weight
        self._initialise()

    def forward(
        self, tokens: Int[Tensor, "batch n"], cache: ModelCache | None = None
    ) -> Float[Tensor, "batch n vocab_size"]:
        """Give the logits of the token after each token.

        Args:
            tokens: The text so far; with a cache, what was added to it since the last call.
            cache: From ``new_cache``: keeps what has been read, so that nothing is read twice.

        Raises:
            ValueError: The tokens are none, too many, no whole numbers, or not in the vocabulary.
        """
        config = self.config
        check_tokens(tokens, config.vocab_size, config.max_length, 0 if cache is None else cache.length)
        text = tokens if cache is None else cache.with_new(tokens)
        mask = causal_mask(tokens.shape[1], text.shape[1], tokens.device)
        if config.pad_id is not None:
            mask = decoder_mask(text, config.pad_id, tokens.shape[1])
        everywhere = positions_of(text, config.pad_id)
        where = everywhere[:, -tokens.shape[1] :]
        x = self.embed(tokens, where)
        bias = rotation = None
        if config.positions == "alibi":
            bias = distance_bias(config.n_heads, where, everywhere).to(x.dtype)
        elif config.positions == "rotary":
            rotation = Rotation(where, config.d_model // config.n_heads, config.rotary_base)
        for i, block in enumerate(self.blocks):
            x = block(x, mask, bias, rotation, None if cache is None else cache.layers[i].self_attention)
        if cache is not None:
            cache.commit(text)
        return self.head(self.norm(x))

    def new_cache(self, max_length: int | None = None) -> ModelCache:
        """Make a cache for a text of up to so many tokens; for as many as the model takes if None."""
        return ModelCache(self.config.n_layers, self.config.max_length if max_length is None else max_length)

    def embed(self, tokens: Int[Tensor, "batch n"], where: Int[Tensor, "#batch n"]) -> Float[Tensor, "batch n d_model"]:
        """Look tokens up, and add the positions where they stand if positions are something to add."""
        x = self.embedding(tokens) * self.scale
        return self.dropout(x if self.positions is None else x + self.positions[where])

    def _initialise(self) -> None:
        """Draw what GPT-2 starts with: N(0, 0.02²), less for what adds up over the blocks; biases 0."""
        for name, parameter in self.named_parameters():
            if name.endswith(("w_o.weight", "w_2.weight", "w_down.weight")):
                nn.init.normal_(parameter, std=0.02 / (2 * self.config.n_layers) ** 0.5)
            elif parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)


def positions_of(tokens: Int[Tensor, "batch n"], pad_id: int | None) -> Int[Tensor, "#batch n"]:
    """Number the real tokens of each text from 0, whatever padding stands before them.

    Args:
        tokens: The texts.
        pad_id: The token that fills short ones up. None: there is none, and one row stands for all the batch.

    >>> positions_of(torch.tensor([[0, 0, 7, 8, 9]]), pad_id=0)
    tensor([[0, 0, 0, 1, 2]])
    """
    if pad_id is None:
        return torch.arange(tokens.shape[1], device=tokens.device)[None]
    return ((tokens != pad_id).cumsum(dim=1) - 1).clamp(min=0)
