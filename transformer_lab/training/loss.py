"""The loss: how surprised the model is by each real token."""

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Add up the cross-entropy of all real tokens; divide by ``count_tokens`` for their mean.

    The target is right with 1 − ε, and every token of the vocabulary with ε / vocab_size beside it: label smoothing,
    section 5.4 of Vaswani et al. (2017), arXiv:1706.03762. It is a sum, in nats, and not a mean, so that batches and
    processes with different numbers of real tokens can be put together exactly.

    Args:
        logits: What the model says before the softmax.
        targets: What really came next.
        pad_id: Where the target is this token, nothing is asked of the model.
        smoothing: ε.
    """
    return F.cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing, reduction="sum"
    )


def count_tokens(targets: Int[Tensor, "batch n"], pad_id: int) -> Int[Tensor, ""]:
    """Count the real tokens."""
    return (targets != pad_id).sum()
