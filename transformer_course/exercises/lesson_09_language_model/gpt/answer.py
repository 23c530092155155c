"""The answer to ``GPT``, plainly and in steps."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_course.exercises.shared import layer_stack_steps as stack
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


class GPT(nn.Module):
    """Return the logits of the next token at every position."""

    def __init__(
        self, vocab_size: int, d_model: int = 64, n_heads: int = 4, n_layers: int = 2, context_length: int = 64
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.zeros(context_length, d_model))
        blocks = (parts.PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.blocks, self.norm = nn.ModuleList(blocks), nn.LayerNorm(d_model)

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        n = tokens.shape[1]
        x, mask = self.embedding(tokens) + self.positions[:n], parts.causal_mask(n)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.embedding.weight.T


def first_input(embedded, encodings):
    """add the positions to the embeddings → the input of the first block: embeddings plus positions"""
    return embedded + encodings


def layers(self):
    """take the blocks in their order → the list of blocks"""
    return list(self.blocks)


def mask(length):
    """make a causal mask of that size → the causal mask"""
    return parts.causal_mask(length)


def normed(self, output):
    """normalise the output of the last block → the normalised output of the last block"""
    return self.norm(output)


def logits(self, normed):
    """multiply it with the embedding of each token → the logits"""
    return normed @ self.embedding.weight.T


STEPS = InSteps(
    stack.embedded, stack.length, stack.encodings, first_input, layers, stack.layer_input, mask, stack.layer_mask,
    stack.layer_output, stack.kept, stack.outputs, stack.output, normed, logits, reference=GPT
)  # fmt: skip
