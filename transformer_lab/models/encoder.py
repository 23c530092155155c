"""The encoder: embeddings and a stack of layers in which every position attends to all positions."""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer
from transformer_lab.models.layer_stack import LayerStack


class Encoder(LayerStack):
    """Embed tokens, add their positions, and pass them through a stack of layers.

    This is the left half of the paper's figure 1. Arguments and errors are the same as in ``LayerStack``.
    ``fast.packed_models`` computes the same result in training, skipping padding.

    >>> import torch
    >>> encoder = Encoder(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=3, max_length=10)
    >>> encoder(torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([1, 5, 8])
    """

    layer = EncoderLayer

    def forward(
        self, tokens: Int[Tensor, "batch n"], mask: Bool[Tensor, "*#batch_and_heads #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the encoder's output at every position.

        Args:
            tokens: The sentences, padded to the same length.
            mask: True where a position may attend to another, as returned by ``padding_mask``.

        Raises:
            ValueError: ``tokens`` is empty, too long, not an integer tensor, or contains an id outside the vocabulary.
        """
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


class PreNormEncoder(Encoder):
    """An encoder of pre-norm layers, with the final norm that they need."""

    layer = PreNormEncoderLayer
    final_norm = nn.LayerNorm
