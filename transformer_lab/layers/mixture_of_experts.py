"""The router of a mixture of experts, which sends each token to a few of many feed-forward networks."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def route(logits: Float[Tensor, "n n_experts"], k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """Return the weights of each token's k experts, which sum to 1, and the indices of these experts.

    The softmax is taken over the k largest logits: equations 3 to 5 of Shazeer et al. (2017), arXiv:1701.06538, without
    noise, as in Mixtral: section 2.1 of Jiang et al. (2024), arXiv:2401.04088.

    >>> weights, experts = route(torch.tensor([[2.0, 0.0, 2.0]]), k=2)
    >>> weights, sorted(experts[0].tolist())
    (tensor([[0.5000, 0.5000]]), [0, 2])
    """
    chosen, experts = logits.topk(k, dim=-1)
    return torch.softmax(chosen, dim=-1), experts
