"""The Transformer: an encoder for the source, a decoder for the target."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.attention.kv_cache import ModelCache
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask
from transformer_lab.checks import check_tokens
from transformer_lab.models.decoder import Decoder, PreNormDecoder
from transformer_lab.models.encoder import Encoder, PreNormEncoder
from transformer_lab.models.transformer_config import TransformerConfig


class Transformer(nn.Module):
    """Predict the next token of a target, given its source: Vaswani et al. (2017), arXiv:1706.03762.

    The last linear layer uses the target embeddings as its weights, and source and target share their embeddings if
    they share a vocabulary (section 3.4). Padding is masked everywhere but occupies positions, so padding after a
    sentence does not change the result, but padding before it does. ``fast.packed_models`` computes the same result in
    fewer operations in training, and ``fast.transformer_decoding_step`` in decoding.

    Args:
        config: The model's sizes and options.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``d_model`` is odd, or a dropout is not in [0, 1].

    >>> model = Transformer(TransformerConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=2))
    >>> import torch
    >>> source, target = torch.tensor([[5, 6, 7, 8, 0]]), torch.tensor([[1, 9, 10]])
    >>> model(source, target).shape
    torch.Size([1, 3, 11])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        encoder, decoder = (PreNormEncoder, PreNormDecoder) if config.pre_norm else (Encoder, Decoder)
        self.encoder = encoder(config.n_source_tokens, **config.stack)
        self.decoder = decoder(config.vocab_size, **config.stack)
        self._tie()
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None

    def _tie(self) -> None:
        """Share the embeddings' weights if source and target share a vocabulary.

        Only the weights are shared, not the module, because torch.func would swap a shared module's tensors twice.
        """
        if self.config.source_vocab_size is None:
            self.encoder.embedding.weight = self.decoder.embedding.weight

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> nn.Module:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._tie()  # ``to_empty`` creates a separate tensor for each name
        return self

    def forward(
        self, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n_target"]
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Return the logits of the next token at every position of the target.

        Args:
            source: The sentences to translate, padded with ``source_pad_id``.
            target: The translations so far, including the token that begins a sentence, padded with ``target_pad_id``.

        Raises:
            ValueError: The tokens are empty, too long, not an integer tensor, or contain an id outside the vocabulary.
        """
        return self.decode(target, self.encode(source), source)

    def encode(self, source: Int[Tensor, "batch n_source"]) -> Float[Tensor, "batch n_source d_model"]:
        """Return the memory: the encoder's output, which every decoder layer attends to."""
        return self.encoder(source, padding_mask(source, self.config.source_pad_id))

    def decode(
        self,
        target: Int[Tensor, "batch n_target"],
        memory: Float[Tensor, "batch n_source d_model"],
        source: Int[Tensor, "batch n_source"],
        cache: ModelCache | None = None,
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Return the logits of the next token at every position of the target, given the output of ``encode``.

        Args:
            target: The translations so far; with a cache, only the new tokens.
            memory: The output of ``encode``.
            source: The input of ``encode``.
            cache: A cache from ``new_cache`` with the keys and values of earlier tokens and of the memory.

        Raises:
            ValueError: ``target`` is empty, too long, not an integer tensor, or contains an id outside the vocabulary.
        """
        check_tokens(target, self.config.max_length, 0 if cache is None else cache.length)
        tokens = target if cache is None else cache.with_new(target)
        mask = None  # a single query may attend to everything
        if self.config.hide_target_padding:
            mask = decoder_mask(tokens, self.config.target_pad_id, target.shape[1])
        elif target.shape[1] > 1:
            mask = causal_mask(target.shape[1], tokens.shape[1], target.device)
        memory_mask = padding_mask(source, self.config.source_pad_id)
        x = self.decoder(target, memory, mask, memory_mask, cache)
        if cache is not None:
            cache.commit(tokens)
        return F.linear(x, self.decoder.embedding.weight, self.output_bias)

    def new_cache(self, memory: Float[Tensor, "batch n_source d_model"], max_length: int | None = None) -> ModelCache:
        """Return a cache for targets of up to ``max_length`` tokens; None means the model's maximum length.

        This computes each layer's keys and values of the memory once.
        """
        return self.decoder.new_cache(memory, self.config.max_length if max_length is None else max_length)
