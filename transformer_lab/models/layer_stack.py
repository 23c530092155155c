"""What encoder and decoder have in common: embedded tokens, their positions, layers on top, and how all start."""

import math
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab.attention.positions import sinusoidal_encoding
from transformer_lab.checks import check_tokens
from transformer_lab.layers.feed_forward import FeedForward
from transformer_lab.models.initialisation import initialise


class LayerStack(nn.Module):
    """Token embeddings and positions, a stack of layers, and a final norm where the layers leave that to do.

    Its parameters are drawn by ``initialise``.

    Args:
        vocab_size: How many different tokens there are.
        d_model: Width of every vector between the layers.
        n_heads: How many attention heads a layer has.
        d_ff: Width in the middle of the feed-forward networks.
        n_layers: How many layers.
        max_length: How many positions there are at most.
        dropout: Share of the embeddings and of each sublayer's output that training drops.
        attention_dropout: Share of the attention weights that training drops.
        learned_positions: Whether the positions are parameters, as in GPT-2 and BERT, instead of sinusoids.
        feed_forward: Which feed-forward network the layers have.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, ``d_model`` is odd, or a dropout is no share.
    """

    layer: ClassVar[type[nn.Module]]
    """What it is a stack of."""
    final_norm: ClassVar[type[nn.Module]] = nn.Identity
    """Post-norm layers norm their own output, and need none."""

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
        feed_forward: type[FeedForward] = FeedForward,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions: Tensor
        if learned_positions:
            self.positions = nn.Parameter(torch.randn(max_length, d_model) / math.sqrt(d_model))  # as the embeddings
        else:
            self.register_buffer("positions", sinusoidal_encoding(max_length, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            self.layer(d_model, n_heads, d_ff, dropout, attention_dropout, feed_forward) for _ in range(n_layers)
        )
        self.norm = self.final_norm(d_model)
        initialise(self)

    def embed(self, tokens: Int[Tensor, "batch n"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """Look tokens up, scale them by √d_model, and add their positions: sections 3.4 and 3.5 of the paper.

        The scale lifts embeddings, drawn with variance 1/d_model, to the size of the sinusoids.

        Args:
            tokens: The tokens.
            start: The position of the first of them.

        Raises:
            ValueError: The tokens are none, too many, no whole numbers, or not in the vocabulary.
        """
        check_tokens(tokens, self.embedding.num_embeddings, len(self.positions), start)
        scale = math.sqrt(self.embedding.embedding_dim)
        return self.dropout(self.embedding(tokens) * scale + self.positions[start : start + tokens.shape[1]])
