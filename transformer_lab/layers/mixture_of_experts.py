"""Mixture of experts: many feed-forward networks, of which each token uses a few."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab.checks import check_width
from transformer_lab.layers.feed_forward import FeedForwardName, make_feed_forward


def route(logits: Float[Tensor, "n n_experts"], k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """Return the weights of each token's k experts, which sum to 1, and which these are.

    The softmax is taken over the k largest logits: equations 3 to 5 of Shazeer et al. (2017), arXiv:1701.06538, without
    noise, as in Mixtral: section 2.1 of Jiang et al. (2024), arXiv:2401.04088.

    >>> weights, experts = route(torch.tensor([[2.0, 0.0, 2.0]]), k=2)
    >>> weights, sorted(experts[0].tolist())
    (tensor([[0.5000, 0.5000]]), [0, 2])
    """
    chosen, experts = logits.topk(k, dim=-1)
    return torch.softmax(chosen, dim=-1), experts


class MixtureOfExperts(nn.Module):
    """Many feed-forward networks; a router picks k of them for each token, and their outputs are averaged.

    ``Σ weight_i expert_i(x)`` over the k experts with the largest logits: section 2.1 of Jiang et al. (2024),
    arXiv:2401.04088. The number of parameters grows with the number of experts, the work per token with k.

    Args:
        d_model: Width of the input and output.
        d_ff: Width of the hidden layer of each expert.
        n_experts: Number of experts.
        k: Number of experts that each token uses.
        feed_forward: Which network the experts are.
        bias: Whether the experts have biases; the router has none.

    Raises:
        ValueError: k is not between 1 and ``n_experts``.

    >>> mixture = MixtureOfExperts(d_model=8, d_ff=32, n_experts=4, k=2)
    >>> mixture(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_experts: int,
        k: int,
        feed_forward: FeedForwardName = "swiglu",
        bias: bool = False,
    ) -> None:
        super().__init__()
        if not 1 <= k <= n_experts:
            raise ValueError(f"k must be between 1 and n_experts; got k={k}, n_experts={n_experts}")
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(make_feed_forward(feed_forward, d_model, d_ff, bias) for _ in range(n_experts))

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Apply to every position the experts that the router picks for it.

        Raises:
            ValueError: The input is not ``d_model`` wide.
        """
        check_width("d_model", self.router.in_features, x=x)
        tokens = x.reshape(-1, x.shape[-1])  # (n, d_model)
        weights, experts = route(self.router(tokens), self.k)
        output = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            rows, choice = (experts == i).nonzero(as_tuple=True)
            weighted = weights[rows, choice, None] * expert(tokens[rows])
            output = output.index_add(0, rows, weighted.to(output.dtype))
        return output.view_as(x)
