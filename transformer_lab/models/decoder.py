"""The decoder: embeddings and a stack of layers that also attend to the encoder's output."""

from collections.abc import Iterable
from typing import cast

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.attention.kv_cache import ModelCache
from transformer_lab.checks import check_sequences
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer
from transformer_lab.models.layer_stack import LayerStack


class Decoder(LayerStack):
    """Embed tokens, add their positions, and pass them through layers that also attend to the encoder's output.

    This is the right half of the paper's figure 1, without the last linear layer. Arguments and errors are the same as
    in ``LayerStack``. ``fast.packed_models`` and ``fast.transformer_decoding_step`` compute the same result.

    >>> from transformer_lab.attention.masks import causal_mask
    >>> import torch
    >>> decoder = Decoder(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=3, max_length=10)
    >>> decoder(torch.tensor([[1, 2, 3]]), memory=torch.randn(1, 5, 8), mask=causal_mask(3)).shape
    torch.Size([1, 3, 8])
    """

    layer = DecoderLayer

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        memory_mask: Bool[Tensor, "*#batch_and_heads #n #n_source"] | None = None,
        cache: ModelCache | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the decoder's output at every position; the arguments are the same as in ``DecoderLayer``.

        Raises:
            ValueError: ``tokens`` is empty, too long, not an integer tensor, or contains an id outside the vocabulary;
                or ``memory`` has the wrong shape or batch size.
            TypeError: ``tokens`` or ``memory`` is not a tensor.
        """
        x = self.embed(tokens, 0 if cache is None else cache.length)
        check_sequences(x.shape[-1], memory=memory)
        n_memories, n_sentences = memory.shape[0], tokens.shape[0]  # under export, len() would return constants
        if n_memories != n_sentences:
            raise ValueError(f"memory and tokens must have the same batch size; got {n_memories} and {n_sentences}")
        for i, layer in enumerate(self.layers):
            x = layer(x, memory, mask, memory_mask, None if cache is None else cache.layers[i])
        return self.norm(x)

    def new_cache(self, memory: Float[Tensor, "batch n_source d_model"], max_length: int) -> ModelCache:
        """Compute each layer's keys and values for the memory, and return a cache for ``max_length`` tokens."""
        layers = cast("Iterable[DecoderLayer]", self.layers)
        return ModelCache([layer.new_cache(memory, max_length) for layer in layers])


class PreNormDecoder(Decoder):
    """A decoder of pre-norm layers, with the final norm that they need."""

    layer = PreNormDecoderLayer
    final_norm = nn.LayerNorm
