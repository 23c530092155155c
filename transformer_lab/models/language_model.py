"""Decoder-only language models, which predict each token from earlier tokens.

A single class covers GPT-2, Llama and the steps between them; the configuration selects its parts.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.kv_cache import KVCache, LayerCache, ModelCache
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask, sliding_window_mask
from transformer_lab.attention.positions import Positional, Rotation, distance_bias, sinusoidal_encoding
from transformer_lab.checks import check_sequences, check_tokens
from transformer_lab.layers.embedding import look_up
from transformer_lab.layers.feed_forward import make_feed_forward
from transformer_lab.layers.norms import make_norm
from transformer_lab.models.initialization import initialize_language_model
from transformer_lab.models.language_model_config import LanguageModelConfig


class Block(nn.Module):
    """Self-attention, then a feed-forward network; each is applied to its normalized input and added to the input.

    ``x ← x + sublayer(norm(x))``, twice. A block is a pre-norm encoder layer with a causal mask. Depending on the
    configuration's ``norm_placement``, the sublayer's output is normalized as well, or instead. ``fast.packed_models``
    and ``fast.language_model_decoding_step`` compute the same result.

    Args:
        config: The model's parts and their sizes.

    Raises:
        ValueError: ``n_kv_heads`` does not divide ``n_heads``, or ``d_k`` is None and ``n_heads`` does not divide
            ``d_model``.

    >>> block = Block(LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32))
    >>> block(torch.randn(3, 5, 8), causal_mask(5)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        n_kv_heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
        before, after = config.norm_placement in ("before", "both"), config.norm_placement in ("after", "both")

        def norm(present: bool) -> nn.Module:
            return make_norm(config.norm, config.d_model, config.norm_eps, config.bias) if present else nn.Identity()

        self.norm_1, self.post_norm_1 = norm(before), norm(after)
        self.self_attention = GroupedQueryAttention(
            config.d_model, config.n_heads, n_kv_heads, config.bias, config.attention_dropout,
            d_k=config.d_k, qkv_bias=config.qkv_bias, qk_norm_eps=config.norm_eps if config.qk_norm else None,
        )  # fmt: skip
        self.norm_2, self.post_norm_2 = norm(before), norm(after)
        self.feed_forward = make_feed_forward(config.feed_forward, config.d_model, config.d_ff, config.bias)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        positional: Positional | None = None,
        cache: KVCache | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the block's output at every position; see ``GroupedQueryAttention`` for arguments."""
        check_sequences(self.self_attention.d_model, self.self_attention.w_q, x=x)
        attended = self.self_attention(self.norm_1(x), mask, positional, cache, is_causal)
        x = x + self.dropout(self.post_norm_1(attended))
        return x + self.dropout(self.post_norm_2(self.feed_forward(self.norm_2(x))))


class LanguageModel(nn.Module):
    """Predict the next token at every position of a text.

    Padding is masked everywhere and does not count as a position, so padding before, after or inside a text does not
    change the result. ``fast.packed_models`` computes the same result in fewer operations in training, and
    ``fast.language_model_decoding_step`` in decoding.

    Args:
        config: The model's parts and their sizes.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``n_kv_heads`` does not divide ``n_heads``, a dropout
            probability is not between 0 and 1, or ``d_model`` is odd with sinusoidal positions.

    >>> config = LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=2)
    >>> LanguageModel(config)(torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([1, 5, 11])
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        # Sinusoids would dominate the small initial embeddings; the paper also scales its embeddings (section 3.4).
        scaled = config.scaled_embeddings or config.positions == "sinusoidal"
        self.scale = math.sqrt(config.d_model) if scaled else 1.0
        self.positions: Tensor | None
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(config.max_length, config.d_model))
        elif config.positions == "sinusoidal":
            self.register_buffer("positions", sinusoidal_encoding(config.max_length, config.d_model), persistent=False)
        else:
            self.positions = None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = make_norm(config.norm, config.d_model, config.norm_eps, config.bias)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.head.weight = self.embedding.weight
        initialize_language_model(self, config.n_layers)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> nn.Module:
        was_empty = self.embedding.weight.is_meta
        tied = getattr(self.head, "weight", None) is self.embedding.weight
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if tied:  # moving to or from the meta device creates a separate tensor for each name
            self.head.weight = self.embedding.weight
        # The sinusoids are not part of the state dict.
        if was_empty and self.config.positions == "sinusoidal" and self.positions is not None:
            self.positions.copy_(sinusoidal_encoding(*self.positions.shape))
        return self

    def forward(
        self, tokens: Int[Tensor, "batch n"], cache: ModelCache | None = None
    ) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position.

        Args:
            tokens: The text so far; with a cache, only the new tokens.
            cache: A cache from ``new_cache`` with the keys and values of earlier tokens.

        Raises:
            ValueError: ``tokens`` is empty, too long, not an integer tensor, or contains an id outside the vocabulary.
        """
        return self.head(self.hidden(tokens, cache))

    def next_logits(
        self, tokens: Int[Tensor, "batch n"], cache: ModelCache | None = None
    ) -> Float[Tensor, "batch vocab_size"]:
        """Return the logits for the next token of each text, without computing logits at earlier positions.

        Padding at the end of a text is ignored; arguments and errors are the same as in ``forward``.
        """
        hidden = self.hidden(tokens, cache)
        if self.config.pad_id is None or tokens.shape[1] == 1:
            return self.head(hidden[:, -1])
        real = torch.arange(tokens.shape[1], device=tokens.device) * (tokens != self.config.pad_id)
        return self.head(hidden[torch.arange(len(tokens), device=tokens.device), real.argmax(dim=1)])

    def hidden(
        self, tokens: Int[Tensor, "batch n"], cache: ModelCache | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the normalized output of the last block at every position; see ``forward`` for arguments.

        Pass the positions you need to ``head`` to get their logits.
        """
        config = self.config
        check_tokens(tokens, config.max_length, 0 if cache is None else cache.length)
        text = tokens if cache is None else cache.with_new(tokens)
        key_positions = self.position_ids(text)
        query_positions = key_positions[:, -tokens.shape[1] :]
        x = self.embed(tokens, query_positions)
        inputs_by_locality = {  # computed once for all local blocks and once for all other blocks
            local: self.attention_inputs(text, query_positions, key_positions, x.dtype, local)
            for local in {config.is_local(i) for i in range(config.n_layers)}
        }
        for i, block in enumerate(self.blocks):
            mask, positional, is_causal = inputs_by_locality[config.is_local(i)]
            x = block(x, mask, positional, None if cache is None else cache.layers[i].self_attention, is_causal)
        if cache is not None:
            cache.commit(text)
        return self.norm(x)

    def new_cache(self, max_length: int | None = None) -> ModelCache:
        """Return a cache for texts of up to ``max_length`` tokens; None means the model's maximum."""
        max_length = self.config.max_length if max_length is None else max_length
        return ModelCache([LayerCache(max_length) for _ in range(self.config.n_layers)])

    def embed(
        self, tokens: Int[Tensor, "batch n"], positions: Int[Tensor, "#batch n"]
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the embeddings of tokens, plus position embeddings if the model adds any."""
        x = look_up(self.embedding, tokens) * self.scale
        return self.dropout(x if self.positions is None else x + self.positions[positions])

    def position_ids(self, text: Int[Tensor, "batch n"]) -> Int[Tensor, "#batch n"]:
        """Return the position of every token in each text, like ``positions_of``."""
        return positions_of(text, self.config.pad_id)

    def attention_inputs(
        self,
        text: Int[Tensor, "batch n_key"],
        query_positions: Int[Tensor, "#batch n_query"],
        key_positions: Int[Tensor, "#batch n_key"],
        dtype: torch.dtype,
        local: bool,
    ) -> tuple[Bool[Tensor, "*batch n_query n_key"] | None, Positional, bool]:
        """Return the attention inputs for the last tokens of a text, for local or for global blocks.

        The inputs are the mask, the position information, and whether the kernel applies the causal mask itself.
        """
        positional = self.positional(query_positions, key_positions, dtype, local)
        n_query, n_key, pad_id = query_positions.shape[1], text.shape[1], self.config.pad_id
        if local and self.config.window is not None and self.config.window.size < n_key:
            mask = sliding_window_mask(query_positions, key_positions, self.config.window.size)[:, None]
            return mask if pad_id is None else mask & padding_mask(text, pad_id), positional, False
        # The kernels can apply the causal mask, which is faster, but only without another mask, a bias or cached keys.
        is_causal = pad_id is None and positional.bias is None
        if n_query != n_key:  # torch.compile would turn a boolean expression into a symbol that no kernel accepts
            is_causal = False
        return None if is_causal else self.mask(text, n_query), positional, is_causal

    def mask(self, text: Int[Tensor, "batch n_key"], n_query: int) -> Bool[Tensor, "*batch n_query n_key"] | None:
        """Return the mask for the last ``n_query`` tokens of a text, or None if they may attend to the whole text."""
        if self.config.pad_id is not None:
            return decoder_mask(text, self.config.pad_id, n_query)
        return None if n_query == 1 else causal_mask(n_query, text.shape[1], text.device)

    def positional(
        self,
        query_positions: Int[Tensor, "#batch n"],
        key_positions: Int[Tensor, "#batch n_key"],
        dtype: torch.dtype,
        local: bool,
    ) -> Positional:
        """Return the position information for attention, which is empty if positions are part of the embeddings."""
        config = self.config
        if config.positions == "alibi":
            return Positional(bias=distance_bias(config.n_heads, query_positions, key_positions).to(dtype))
        if config.positions == "rotary":
            return Positional(rotation=Rotation(query_positions, config.head_width, *config.rotary(local)))
        return Positional()


def positions_of(tokens: Int[Tensor, "batch n"], pad_id: int | None) -> Int[Tensor, "#batch n"]:
    """Return the positions of the tokens in each text, counting only real tokens, from 0.

    Args:
        tokens: The texts.
        pad_id: The token that pads short texts. None means no padding and one row for the whole batch.

    >>> positions_of(torch.tensor([[0, 0, 7, 8, 9]]), pad_id=0)
    tensor([[0, 0, 0, 1, 2]])
    """
    if pad_id is None:
        return torch.arange(tokens.shape[1], device=tokens.device)[None]
    return ((tokens != pad_id).cumsum(dim=1) - 1).clamp(min=0)
