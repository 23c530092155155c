"""Weights in 8 bits: a quarter of the bytes of float32, for models that are used and not trained."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.layers.replace import replace_layers


class Int8Linear(nn.Module):
    """A linear layer whose weights are whole numbers from −127 to 127, with a scale for each row.

    ``scale_i = max_j |w_ij| / 127`` and ``w_ij ≈ scale_i round(w_ij / scale_i)``: absmax quantisation, section 2 of
    Dettmers et al. (2022), arXiv:2208.07339. A weight changes by at most half of its row's scale, so that output i
    changes by at most ``scale_i Σ_j |x_j| / 2``. The weights are widened whenever the layer is used: it saves memory,
    and time only where reading the weights is what takes the time.

    Args:
        linear: The layer to replace.

    >>> layer = Int8Linear(nn.Linear(8, 12))
    >>> layer(torch.zeros(3, 5, 8)).shape, layer.rounded.dtype
    (torch.Size([3, 5, 12]), torch.int8)
    """

    rounded: Tensor
    scale: Tensor
    bias: Tensor | None

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        weight = linear.weight.detach()
        scale = weight.abs().amax(dim=1) / 127
        safe = scale.masked_fill(scale == 0, 1.0)  # a row of zeros stays one
        self.register_buffer("rounded", (weight / safe[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach().clone())

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Return the layer's output; rows are scaled after the product, which costs less than scaling the weights."""
        output = F.linear(x, self.rounded.to(x.dtype)) * self.scale
        return output if self.bias is None else output + self.bias


def quantise_int8(model: nn.Module) -> None:
    """Put an ``Int8Linear`` in the place of every linear layer of a model.

    Embeddings and norms stay as they are, and so does a last layer that shares the weights of the embeddings.

    >>> model = nn.Sequential(nn.Linear(80, 120, bias=False), nn.LayerNorm(120))
    >>> before = parameter_bytes(model)
    >>> quantise_int8(model)
    >>> before, parameter_bytes(model)
    (39360, 11040)
    """
    replace_layers(model, nn.Linear, Int8Linear)


def parameter_bytes(model: nn.Module) -> int:
    """Return the number of bytes that the parameters of a model take, quantised or not; shared ones count once."""
    tensors = {id(t): t for t in (*model.parameters(), *model.buffers())}
    return sum(t.numel() * t.element_size() for t in tensors.values())
