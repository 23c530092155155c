"""``torch.nn.Transformer`` with the embeddings and the last layer that users have to add."""

import math
import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.contestant import Contestant
from benchmarks.work import BEGIN, N_NEW_TOKENS, PAD, Batch, Work
from transformer_lab.attention.positions import sinusoidal_encoding

# in eval mode, the encoder uses nested tensors, which warn about their unstable API
warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")


class TorchTransformer(Contestant):
    """torch's Transformer without dropout on attention weights and hidden units, to match our model."""

    name = "nn.Transformer"
    tasks = ("train", "forward", "evaluate", "greedy")
    known_difference = "an additional norm after each stack; no cache"

    def __init__(self, work: Work) -> None:
        size = work.size
        layers = nn.Transformer(
            size.d_model, size.n_heads, size.n_layers, size.n_layers, size.d_ff, work.dropout, batch_first=True
        )
        for module in layers.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0
        self.embedding = nn.Embedding(size.vocab_size, size.d_model)
        nn.init.normal_(self.embedding.weight, std=size.d_model**-0.5)
        self.model = nn.ModuleDict({"layers": layers, "embedding": self.embedding})
        self.layers, self.dropout = layers, work.dropout
        self.positions = sinusoidal_encoding(size.max_length, size.d_model)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return scaled embeddings plus positions."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.positions[: tokens.shape[1]]
        return F.dropout(x, self.dropout, self.layers.training)

    def logits(self, batch: Batch) -> Tensor:
        """Run encoder and decoder."""
        return self.project(self.decode(batch.target, self.encode(batch.source), batch.source))

    def encode(self, source: Tensor) -> Tensor:
        """Return the encoder's output."""
        return self.layers.encoder(self.embed(source), src_key_padding_mask=source == PAD)

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Return the decoder's output."""
        n = target.shape[1]
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        return self.layers.decoder(
            self.embed(target), memory, tgt_mask=future, tgt_is_causal=True, memory_key_padding_mask=source == PAD
        )

    def project(self, x: Tensor) -> Tensor:
        """Return logits."""
        return F.linear(x, self.embedding.weight)

    def greedy(self, source: Tensor) -> Tensor:
        """Read the whole target again for each token, because there is no cache."""
        memory, target = self.encode(source), torch.full((len(source), 1), BEGIN)
        for _ in range(N_NEW_TOKENS):
            last = self.project(self.decode(target, memory, source)[:, -1])
            target = torch.cat([target, last.argmax(-1, keepdim=True)], dim=1)
        return target
