"""Embeddings, norms and linear layers as functions of one token per row, for decoding without module calls.

The parameters are prepared once and must not change while the functions are in use.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.layers.embedding import look_up

MAX_ROWS_IN_PLACE = 8
"""Maximum number of rows for which a transposed copy of the weights costs more than it saves."""
MAX_TRANSPOSED_SIZE = 2**21
"""Maximum size of weights to copy; larger copies are slow to create and take up memory."""
MAX_FUSED_SIZE = 2**20
"""Maximum size of weights to concatenate; larger weights would be copied for each text without a speedup."""

Function = Callable[[Tensor], Tensor]
LinearParameters = tuple[Float[Tensor, "d_in d_out"], Float[Tensor, " d_out"] | None]
"""The transposed weight of a linear layer, and its bias."""


def embed(embedding: nn.Embedding, tokens: Int[Tensor, "rows 1"]) -> Float[Tensor, "rows d_model"]:
    """Return the embedding of each row's token; errors are the same as in ``look_up``."""
    try:
        return embedding.weight.index_select(0, tokens[:, 0])
    except IndexError:
        return look_up(embedding, tokens[:, 0])  # raises an error that names the id


def linear_parameters(weight: Float[Tensor, "d_out d_in"], bias: Tensor | None, transpose: bool) -> LinearParameters:
    """Return the parameters of a layer in the form that ``linear`` needs.

    Args:
        weight: The layer's weight.
        bias: The layer's bias.
        transpose: Whether to store a transposed copy of the weight, if it is not too large. The copy makes products
            with several rows faster, but for one or two texts, copying takes as long as generating the texts.
    """
    transposed = weight.t()  # (d_in, d_out)
    return transposed.contiguous() if transpose and weight.numel() <= MAX_TRANSPOSED_SIZE else transposed, bias


def linear(x: Float[Tensor, "rows d_in"], layer: LinearParameters) -> Float[Tensor, "rows d_out"]:
    """Return the output of a linear layer."""
    weight, bias = layer
    return torch.mm(x, weight) if bias is None else torch.addmm(bias, x, weight)


def fused_linear(layers: Sequence[nn.Linear], transpose: bool) -> Function:
    """Return a function that concatenates the outputs of linear layers, with one product if they are small.

    Args:
        layers: The layers; either all or none of them have a bias.
        transpose: As in ``linear_parameters``.
    """
    if len(layers) > 1 and sum(layer.weight.numel() for layer in layers) > MAX_FUSED_SIZE:
        return lambda x: torch.cat([F.linear(x, layer.weight, layer.bias) for layer in layers], dim=-1)
    weight, bias = (layers[0].weight, layers[0].bias) if len(layers) == 1 else concatenated(layers)
    return partial(linear, layer=linear_parameters(weight, bias, transpose))


def concatenated(layers: Sequence[nn.Linear]) -> tuple[Float[Tensor, "d_out d_in"], Float[Tensor, " d_out"] | None]:
    """Return the weight and bias of one linear layer equivalent to several; either all or none of them have a bias."""
    weights: list[Tensor] = [layer.weight for layer in layers]
    biases: list[Tensor] = [layer.bias for layer in layers if layer.bias is not None]
    return torch.cat(weights), torch.cat(biases) if biases else None


def norm_function(norm: nn.Module) -> Function:
    """Return a norm module as a function; for ``nn.Identity``, the function returns its input."""
    if isinstance(norm, nn.LayerNorm):
        shape, eps = list(norm.normalized_shape), norm.eps
        return lambda x: torch.layer_norm(x, shape, norm.weight, norm.bias, eps)
    if isinstance(norm, nn.RMSNorm):
        return lambda x: F.rms_norm(x, list(norm.normalized_shape), norm.weight, norm.eps)
    return lambda x: x
