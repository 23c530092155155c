"""LoRA: fine-tune a model by training small matrices next to its frozen weights."""

from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.checks import check_positive


class LoRALinear(nn.Module):
    """A frozen linear layer plus a trainable product of two small matrices.

    ``linear(x) + (alpha / rank) b a x``: section 4.1 of Hu et al. (2021), arXiv:2106.09685. ``b`` starts at 0, so
    training starts from the unchanged model. There are rank (d_in + d_out) trainable parameters instead of d_in d_out.

    Args:
        linear: The layer, whose parameters are frozen.
        rank: Rank of the product.
        alpha: Scaling factor; the product is scaled by alpha / rank.

    Raises:
        ValueError: The rank is not positive.

    >>> import torch
    >>> LoRALinear(nn.Linear(8, 12), rank=2, alpha=4.0)(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 12])
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        check_positive(rank=rank)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.linear = linear.requires_grad_(False)
        self.a = nn.Parameter(linear.weight.new_empty(rank, linear.in_features).normal_(std=linear.in_features**-0.5))
        self.b = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Return the layer's output plus the scaled low-rank product."""
        return self.linear(x) + self.scale * (x @ self.a.mT @ self.b.mT)
