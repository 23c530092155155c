"""The answer to ``Encoder``, plainly and in steps."""

import math

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course.exercises.shared import layer_stack_steps as stack
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


class Encoder(nn.Module):
    """Embed tokens, add their positions, and pass them through a stack of post-norm layers."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(parts.EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(
        self, tokens: Int[Tensor, "batch n"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.positions[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, mask)
        return x


STEPS = InSteps(
    stack.embedded,
    stack.width,
    stack.factor,
    stack.scaled,
    stack.length,
    stack.encodings,
    stack.first_input,
    stack.layers,
    stack.layer_input,
    stack.layer_mask,
    stack.layer_output,
    stack.kept,
    stack.outputs,
    stack.output,
    reference=Encoder,
)
