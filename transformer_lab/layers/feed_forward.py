"""Feed-forward networks, which process each position separately.

They are position-wise: the same small network is applied at every position, without access to other positions. The
hidden layer has width ``d_ff``, which the paper sets to four times ``d_model``.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.checks import check_choice, check_width


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them.

    ``w_2(max(0, w_1(x)))``: equation 2 of Vaswani et al. (2017), arXiv:1706.03762.

    Args:
        d_model: Width of the input and output.
        d_ff: Width of the hidden layer.
        bias: Whether the layers have biases.

    >>> FeedForward(d_model=8, d_ff=32)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool = True) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff, bias)
        self.w_2 = nn.Linear(d_ff, d_model, bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Apply the network at every position.

        Raises:
            ValueError: The input does not have width ``d_model``.
        """
        check_width("d_model", self.w_1.in_features, self.w_1, x=x)
        return self.w_2(self.activation(self.w_1(x)))

    def activation(self, z: Float[Tensor, "*batch d_ff"]) -> Float[Tensor, "*batch d_ff"]:
        """Apply ReLU."""
        return torch.relu(z)


class GELUFeedForward(FeedForward):
    """Two linear layers with a GELU between them: z times the probability that a standard normal variable is below z.

    ``w_2(gelu(w_1(x)))`` with ``gelu(z) = z/2 (1 + erf(z/√2))``: section 2 of Hendrycks and Gimpel (2016),
    arXiv:1606.08415. The arguments are the same as in ``FeedForward``.

    >>> GELUFeedForward(d_model=8, d_ff=32)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def activation(self, z: Float[Tensor, "*batch d_ff"]) -> Float[Tensor, "*batch d_ff"]:
        """Apply GELU."""
        return F.gelu(z)


class GELUTanhFeedForward(FeedForward):
    """Two linear layers with the tanh approximation of GELU between them, as in GPT-2.

    ``w_2(gelu(w_1(x)))`` with ``gelu(z) ≈ z/2 (1 + tanh(√(2/π) (z + 0.044715 z³)))``, which differs from GELU by less
    than 0.0005: Hendrycks and Gimpel (2016), arXiv:1606.08415, section 2. The arguments are the same as in
    ``FeedForward``.

    >>> GELUTanhFeedForward(d_model=8, d_ff=32)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def activation(self, z: Float[Tensor, "*batch d_ff"]) -> Float[Tensor, "*batch d_ff"]:
        """Apply the tanh approximation of GELU."""
        return F.gelu(z, approximate="tanh")


class SiLUFeedForward(FeedForward):
    """Two linear layers with a SiLU (swish) between them, as in most published Marian models.

    ``w_2(silu(w_1(x)))`` with ``silu(z) = z / (1 + e^(−z))``: section 3 of Ramachandran et al. (2017),
    arXiv:1710.05941. The arguments are the same as in ``FeedForward``.

    >>> SiLUFeedForward(d_model=8, d_ff=32)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def activation(self, z: Float[Tensor, "*batch d_ff"]) -> Float[Tensor, "*batch d_ff"]:
        """Apply SiLU."""
        return F.silu(z)


class SwiGLU(nn.Module):
    """A feed-forward network with a gated hidden layer: one projection gates the other.

    ``w_down(silu(w_gate x) · w_up x)``: section 2 of Shazeer (2020), arXiv:2002.05202. It has no biases, as in Llama.
    To match the number of parameters of a network with two matrices, use 2/3 of the usual d_ff.

    Args:
        d_model: Width of the input and output.
        d_ff: Width of the hidden layer.

    >>> SwiGLU(d_model=8, d_ff=32)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Apply the network at every position.

        Raises:
            ValueError: The input does not have width ``d_model``.
        """
        check_width("d_model", self.w_up.in_features, self.w_up, x=x)
        return self.w_down(self.activation(self.w_gate(x)) * self.w_up(x))

    def activation(self, z: Float[Tensor, "*batch d_ff"]) -> Float[Tensor, "*batch d_ff"]:
        """Apply SiLU."""
        return F.silu(z)


class GeGLU(SwiGLU):
    """A gated feed-forward network whose gate is the tanh approximation of GELU, as in Gemma.

    ``w_down(gelu(w_gate x) · w_up x)``: section 2 of Shazeer (2020), arXiv:2002.05202. Same arguments as ``SwiGLU``.

    >>> GeGLU(d_model=8, d_ff=32)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def activation(self, z: Float[Tensor, "*batch d_ff"]) -> Float[Tensor, "*batch d_ff"]:
        """Apply the tanh approximation of GELU."""
        return F.gelu(z, approximate="tanh")


Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
"""Activation of a feed-forward network with two linear layers."""
FeedForwardName = Literal[Activation, "swiglu", "geglu"]
"""Name of a feed-forward network, with or without a gate."""


def make_feed_forward(name: FeedForwardName, d_model: int, d_ff: int, bias: bool = True) -> FeedForward | SwiGLU:
    """Return the feed-forward network with this name.

    Args:
        name: Name of the network.
        d_model: Width of the input and output.
        d_ff: Width of the hidden layer.
        bias: Whether the layers have biases; ``SwiGLU`` and ``GeGLU`` never have any.

    Raises:
        ValueError: The name is unknown.

    >>> make_feed_forward("gelu", d_model=8, d_ff=32)
    GELUFeedForward(
      (w_1): Linear(in_features=8, out_features=32, bias=True)
      (w_2): Linear(in_features=32, out_features=8, bias=True)
    )
    """
    check_choice("feed_forward", name, get_args(FeedForwardName))
    gated = {"swiglu": SwiGLU, "geglu": GeGLU}
    if name in gated:
        return gated[name](d_model, d_ff)
    others = {"relu": FeedForward, "gelu": GELUFeedForward, "gelu_tanh": GELUTanhFeedForward, "silu": SiLUFeedForward}
    return others[name](d_model, d_ff, bias)
