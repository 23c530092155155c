"""The Transformer: an encoder that reads, a decoder that writes."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.attention.kv_cache import ModelCache
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask
from transformer_lab.checks import check_tokens
from transformer_lab.models.decoder import Decoder, PreNormDecoder
from transformer_lab.models.encoder import Encoder, PreNormEncoder
from transformer_lab.models.initialisation import initialise
from transformer_lab.models.transformer_config import TransformerConfig


class Transformer(nn.Module):
    """Read a source, and say after each target token which comes next: Vaswani et al. (2017), arXiv:1706.03762.

    The embeddings are also the last linear layer's weights, and source and target share them if they share their
    vocabulary (section 3.4). Padding is hidden wherever it stands, but takes up positions: a sentence means the same
    with padding after it, not with padding before it.

    Args:
        config: Its shape.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``d_model`` is odd, or a dropout is no share.

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
        if config.source_vocab_size is None:
            self.encoder.embedding = self.decoder.embedding
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None

    def forward(
        self, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n_target"]
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Give the logits of the token after each target token.

        Args:
            source: The sentences to read, padded with ``source_pad_id``.
            target: What has been written so far, from the token that begins a sentence; padded with
                ``target_pad_id``.

        Raises:
            ValueError: Tokens are none, too many, no whole numbers, or not in the vocabulary.
        """
        return self.decode(target, self.encode(source), source)

    def encode(self, source: Int[Tensor, "batch n_source"]) -> Float[Tensor, "batch n_source d_model"]:
        """Read the source: the memory that every step of the decoder looks at."""
        return self.encoder(source, padding_mask(source, self.config.source_pad_id))

    def decode(
        self,
        target: Int[Tensor, "batch n_target"],
        memory: Float[Tensor, "batch n_source d_model"],
        source: Int[Tensor, "batch n_source"],
        cache: ModelCache | None = None,
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Give the logits after each target token, from what ``encode`` made of the source.

        Args:
            target: What has been written so far; with a cache, what was written since the last call.
            memory: What ``encode`` gave.
            source: What it was given.
            cache: From ``new_cache``: keeps what has been read of the target, so that nothing is read twice.
        """
        check_tokens(target, self.config.vocab_size, self.config.max_length, 0 if cache is None else cache.length)
        written = target if cache is None else cache.with_new(target)
        mask = decoder_mask(written, self.config.target_pad_id, target.shape[1])
        if not self.config.hide_target_padding:
            mask = causal_mask(target.shape[1], written.shape[1], target.device)
        memory_mask = padding_mask(source, self.config.source_pad_id)
        x = self.decoder(target, memory, mask, memory_mask, cache)
        if cache is not None:
            cache.commit(written)
        return F.linear(x, self.decoder.embedding.weight, self.output_bias)

    def new_cache(self, max_length: int | None = None) -> ModelCache:
        """Make a cache for a target of up to so many tokens; for as many as the model takes if None."""
        return ModelCache(self.config.n_layers, self.config.max_length if max_length is None else max_length)


class EncoderModel(nn.Module):
    """An encoder with a linear layer on top: says something about every token, having seen all of them.

    Such a model fills gaps in texts (as BERT does, Devlin et al. (2019), arXiv:1810.04805) or labels each word.

    Args:
        config: Its shape; what concerns the target is not used.
        n_outputs: How many numbers it gives for each token.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``d_model`` is odd, or a dropout is no share.

    >>> model = EncoderModel(TransformerConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=2), n_outputs=3)
    >>> import torch
    >>> model(torch.tensor([[5, 6, 7, 0]])).shape
    torch.Size([1, 4, 3])
    """

    def __init__(self, config: TransformerConfig, n_outputs: int) -> None:
        super().__init__()
        self.config = config
        encoder = PreNormEncoder if config.pre_norm else Encoder
        self.encoder = encoder(config.n_source_tokens, **config.stack)
        self.head = nn.Linear(config.d_model, n_outputs)
        initialise(self.head)

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n n_outputs"]:
        """Give the outputs for each token; padding is hidden.

        Raises:
            ValueError: The tokens are none, too many, no whole numbers, or not in the vocabulary.
        """
        return self.head(self.encoder(tokens, padding_mask(tokens, self.config.source_pad_id)))
