"""Positions: attention alone ignores the order of its keys, so position information must be added.

``sinusoidal_encoding``, or a learned table with the same shape, is added to the embeddings. A ``Rotation`` rotates
queries and keys; a ``RotaryScaling`` slows the rotation down for longer texts. ``alibi_bias`` is added to the scores. A
``Positional`` passes this information to attention.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.checks import check_integer, check_not_negative, check_positive, check_width
from transformer_lab.device import widest_float


def rotary_frequencies(d: int, base: float = 10000.0) -> Float[Tensor, " half_d"]:
    """Return the angular frequency of each pair of features, in radians per position: ``base^(−2i/d)`` for pair i.

    Raises:
        ValueError: d is odd, so that one feature has no partner, or the base is not positive.
    """
    _check_pairs(d, base)
    # In float32, the product of position and frequency would be off by 0.005 at position 100,000.
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def sinusoidal_encoding(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "length d_model"]:
    """Return sines and cosines of every position, with frequencies that decrease from the first to the last feature.

    ``sin(t base^(−2i/d_model))`` in feature 2i and the cosine in feature 2i + 1, at position t: section 3.5 of
    Vaswani et al. (2017), arXiv:1706.03762.

    Args:
        length: Number of positions, starting at 0.
        d_model: Number of features.
        base: Approximate ratio of the longest wavelength to the shortest wavelength.

    Raises:
        ValueError: ``length`` is negative or not an integer, ``d_model`` is odd, or the base is not positive.

    >>> sinusoidal_encoding(2, 2)
    tensor([[0.0000, 1.0000],
            [0.8415, 0.5403]])
    """
    check_integer(length=length)
    check_not_negative(length=length)
    _check_pairs(d_model, base)
    frequencies = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length)[:, None] * frequencies  # (length, d_model / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1).float()


def _check_pairs(d: int, base: float) -> None:
    check_integer(d=d)
    if d % 2 or d < 2 or not 0 < base < math.inf:
        raise ValueError(f"the width must be even and at least 2, and the base must be positive; got {d=}, {base=}")


@dataclass(frozen=True)
class LinearScaling:
    """A scaling that slows every rotation by the same factor, as if the positions were that much closer together.

    ``base^(−2i/d) / factor``: position interpolation, section 2.3 of Chen et al. (2023), arXiv:2306.15595.

    Args:
        factor: Ratio of the maximum length to the original maximum length.

    Raises:
        ValueError: The factor is not positive.

    >>> LinearScaling(factor=4.0).scale(torch.tensor([1.0, 0.5]))
    tensor([0.2500, 0.1250])
    """

    factor: float

    def __post_init__(self) -> None:
        check_positive(factor=self.factor)

    def scale(self, frequencies: Float[Tensor, " half_d"]) -> Float[Tensor, " half_d"]:
        """Return the frequencies divided by the factor."""
        return frequencies / self.factor


@dataclass(frozen=True)
class Llama3Scaling:
    """A scaling that slows only rotations with fewer than ``high`` turns in a text of the original length.

    A rotation that completes fewer than ``low`` turns is slowed by the full factor. A rotation that completes more than
    ``high`` turns is not slowed. In between, the frequency changes linearly with the number of turns. Fast rotations
    distinguish nearby words, which are no farther apart in longer texts. This is the scaling of Llama 3.1: Grattafiori
    et al. (2024), arXiv:2407.21783; its formula is in the code that Meta published with the model. With ``low=1`` and
    ``high=32``, the frequencies match YaRN (Peng et al., 2023, arXiv:2309.00071), which also sharpens the softmax.

    Args:
        factor: Factor by which slow rotations are slowed.
        original_max_length: Number of tokens in the texts that the model was first trained on.
        low: Number of turns below which a rotation is slowed by the full factor.
        high: Number of turns above which a rotation is not slowed.

    Raises:
        ValueError: The factor or the length is not positive, or ``low`` is not below ``high``.

    >>> Llama3Scaling(factor=8.0, original_max_length=100).scale(torch.tensor([1.0, 0.008]))
    tensor([1.0000, 0.0010])
    """

    factor: float = 8.0
    original_max_length: int = 8192
    low: float = 1.0
    high: float = 4.0

    def __post_init__(self) -> None:
        check_positive(factor=self.factor, original_max_length=self.original_max_length)
        if not self.low < self.high:
            raise ValueError(f"low must be below high; got low={self.low}, high={self.high}")

    def scale(self, frequencies: Float[Tensor, " half_d"]) -> Float[Tensor, " half_d"]:
        """Return the frequencies, with the low frequencies divided by the factor."""
        turns = frequencies * self.original_max_length / (2 * math.pi)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return frequencies * (kept + (1 - kept) / self.factor)


RotaryScaling = LinearScaling | Llama3Scaling
"""A way to slow rotations for texts that are longer than the model's original training texts."""


class Rotation:
    """A rotation of queries and keys by angles that grow with their positions, so that scores depend only on distances.

    Features 2i and 2i + 1 are rotated as a point in the plane: equation 34 of Su et al. (2021), arXiv:2104.09864.
    Create one instance for each batch of positions and use it in all layers.

    Args:
        positions: The position of each vector: one row for the whole batch, or a row for each sequence.
        d_k: Width of a head.
        base: As for ``sinusoidal_encoding``.
        scaling: How to slow the rotations for longer texts; None means no scaling.

    Raises:
        ValueError: ``d_k`` is odd, or the base is not positive.

    >>> rotation = Rotation(torch.tensor([0, 1]), d_k=2)
    >>> rotation.rotate(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """

    def __init__(
        self,
        positions: Int[Tensor, "*batch n"],
        d_k: int,
        base: float = 10000.0,
        scaling: RotaryScaling | None = None,
    ) -> None:
        dtype = widest_float(positions.device)
        exact = positions if dtype == torch.float64 else positions.cpu()  # every CPU supports float64
        frequencies = rotary_frequencies(d_k, base)
        if scaling is not None:
            frequencies = scaling.scale(frequencies)
        angles = exact[..., None].double() * frequencies.to(exact.device)
        if positions.dim() > 1:
            angles = angles[:, None]  # add a dimension for the heads
        self.cos, self.sin = (wave.to(dtype).to(positions.device) for wave in (angles.cos(), angles.sin()))

    def rotate(self, x: Float[Tensor, "*batch n d_k"]) -> Float[Tensor, "*batch n d_k"]:
        """Rotate each vector by the angles for its position.

        Raises:
            ValueError: The vectors do not have width ``d_k``.
        """
        check_width("d_k", 2 * self.cos.shape[-1], x=x)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(start_dim=-2)


def apply_rotary(
    x: Float[Tensor, "*batch n d"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d"]:
    """Rotate pairs of neighboring features by angles that depend on the position, like a one-time ``Rotation``.

    >>> apply_rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    return Rotation(positions, x.shape[-1], base).rotate(x)


def alibi_bias(n_heads: int, n_query: int, n_key: int) -> Float[Tensor, "n_heads n_query n_key"]:
    """Return a bias that lowers each score in proportion to the key's distance, with a different slope in each head.

    ``−slope |i − j|``, with the slope ``2^(−8h/n_heads)`` in head h, counted from 1: section 3 of Press et al. (2022),
    arXiv:2108.12409, with the last query aligned with the last key. The scores of future keys are also lowered by
    distance, but a causal mask removes these scores anyway.

    Raises:
        ValueError: There are no heads, or a length is negative.

    >>> alibi_bias(n_heads=8, n_query=1, n_key=3)[0]
    tensor([[-1.0000, -0.5000,  0.0000]])
    """
    check_not_negative(n_query=n_query, n_key=n_key)
    check_positive(n_heads=n_heads)
    slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)
    distances = (torch.arange(n_key - n_query, n_key)[:, None] - torch.arange(n_key)).abs()  # (n_query, n_key)
    return slopes[:, None, None] * -distances


def distance_bias(
    n_heads: int, query_positions: Int[Tensor, "*batch n_query"], key_positions: Int[Tensor, "*batch n_key"]
) -> Float[Tensor, "*batch {n_heads} n_query n_key"]:
    """Return the bias of ``alibi_bias`` for arbitrary positions, as in sentences with padding between the words.

    >>> distance_bias(8, torch.tensor([4]), torch.tensor([1, 4]))[0]
    tensor([[-1.5000,  0.0000]])
    """
    distances = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
    slopes = -alibi_bias(n_heads, n_query=1, n_key=2)[:, :, :1]  # the bias at distance 1, (n_heads, 1, 1)
    return slopes.to(distances.device) * -distances[..., None, :, :]


@dataclass(frozen=True)
class Positional:
    """Position information for attention; empty if the inputs of attention already contain the positions.

    Args:
        bias: Added to the scores, such as ``alibi_bias``.
        rotation: Applied to queries and keys.
    """

    bias: Float[Tensor, "*#batch_and_heads #n_query #n_key"] | None = None
    rotation: Rotation | None = None
