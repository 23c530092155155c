"""The common base of encoder and decoder: embeddings, positions, and a stack of layers."""

import math
from collections.abc import Callable
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab.attention.positions import sinusoidal_encoding
from transformer_lab.checks import check_tokens
from transformer_lab.layers.embedding import look_up
from transformer_lab.layers.feed_forward import Activation
from transformer_lab.models.initialization import initialize


class LayerStack(nn.Module):
    """Token embeddings and positions, a stack of layers, and a final norm for pre-norm layers.

    ``initialize`` sets the parameters.

    Args:
        vocab_size: Vocabulary size.
        d_model: Width of every vector between the layers.
        n_heads: Number of attention heads in a layer.
        d_ff: Width of the hidden layer of the feed-forward networks.
        n_layers: Number of layers.
        max_length: Maximum number of positions.
        dropout: Dropout probability of the embeddings and of each sublayer's output.
        attention_dropout: Dropout probability of the attention weights.
        learned_positions: Whether the positions are parameters, as in GPT-2 and BERT, instead of sinusoids.
        activation: Activation of the feed-forward networks.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``d_model`` is odd, or a dropout is not in [0, 1].
    """

    layer: ClassVar[type[nn.Module]]
    """The layer class."""
    final_norm: ClassVar[type[nn.Module]] = nn.Identity
    """The final norm; post-norm layers normalize their own output and need none."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        max_length: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        learned_positions: bool = False,
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions: Tensor
        if learned_positions:
            # the same scale as the token embeddings
            self.positions = nn.Parameter(torch.randn(max_length, d_model) / math.sqrt(d_model))
        else:
            self.register_buffer("positions", sinusoidal_encoding(max_length, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            self.layer(d_model, n_heads, d_ff, dropout, attention_dropout, activation) for _ in range(n_layers)
        )
        self.norm = self.final_norm(d_model)
        initialize(self)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> nn.Module:
        was_empty = self.positions.is_meta
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if was_empty and not isinstance(self.positions, nn.Parameter):  # the sinusoids are not part of the state dict
            self.positions.copy_(sinusoidal_encoding(*self.positions.shape))
        return self

    def embed(self, tokens: Int[Tensor, "batch n"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """Return the embeddings of tokens, scaled by √d_model, plus the positions: sections 3.4 and 3.5 of the paper.

        The embeddings are initialized with variance 1/d_model; scaling makes them about as large as the sinusoids.

        Args:
            tokens: The token ids.
            start: The position of the first token.

        Raises:
            ValueError: ``tokens`` is empty, too long, not an integer tensor, or contains an id outside the vocabulary.
        """
        check_tokens(tokens, len(self.positions), start)
        scale = math.sqrt(self.embedding.embedding_dim)
        return self.dropout(look_up(self.embedding, tokens) * scale + self.positions[start : start + tokens.shape[1]])
