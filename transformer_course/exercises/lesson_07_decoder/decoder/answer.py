"""The answer to ``Decoder``, plainly and in steps."""

import math

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course.exercises.shared import layer_stack_steps as stack
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


class Decoder(nn.Module):
    """Embed tokens, add their positions, and pass them through layers that all read the same memory."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(parts.DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch #n #n"] | None = None,
        memory_mask: Bool[Tensor, "*#batch #n #n_source"] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.positions[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
        return x


def source(memory):
    """give every layer the memory

    the memory that each layer is given
    """
    return lambda number, x: memory


def layer_mask(mask):
    """give every layer `mask` for the target

    the mask of the target in each layer
    """
    return lambda number: mask


def source_mask(memory_mask):
    """give every layer `memory_mask` for the memory

    the mask of the memory in each layer
    """
    return lambda number: memory_mask


def layer_output(source, layer_mask, source_mask):
    """call each layer with its input, the memory and the two masks

    the output of each layer
    """
    return lambda layer, number, x: layer(x, source(number, x), layer_mask(number), source_mask(number))


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
    source,
    layer_mask,
    source_mask,
    layer_output,
    stack.kept,
    stack.outputs,
    stack.output,
    reference=Decoder,
)
