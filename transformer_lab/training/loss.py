"""The loss: the cross-entropy of the real tokens with label smoothing."""

from collections.abc import Callable, Sequence

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from transformer_lab.fast.packed_models import packed_loss, supports_packing


def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Return the sum of the cross-entropies of all real tokens; divide by ``count_tokens`` to get the mean.

    The target has probability 1 − ε, and ε / vocab_size is added to the probability of every token: label smoothing,
    section 5.4 of Vaswani et al. (2017), arXiv:1706.03762. The result is a sum in nats, not a mean, so that batches and
    processes with different numbers of real tokens can be combined exactly.

    Args:
        logits: The model's logits of the next token at each position.
        targets: The correct next tokens.
        pad_id: Padding token; positions with this target are ignored.
        smoothing: ε.
    """
    return F.cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing, reduction="sum"
    )


def batch_loss(
    model: Callable[..., Tensor],
    inputs: Sequence[Int[Tensor, "batch _"]],
    labels: Int[Tensor, "batch n"],
    pad_id: int,
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Return the ``smoothed_cross_entropy`` of a model's logits, skipping padding if possible.

    Args:
        model: The model.
        inputs: The model's inputs.
        labels: The tokens that the model should predict.
        pad_id: Padding token of the labels.
        smoothing: ε.
    """
    if supports_packing(model, inputs, labels, pad_id):
        return packed_loss(model, inputs, labels, pad_id, smoothing)
    logits = model(*inputs)
    return smoothed_cross_entropy(logits, labels, pad_id, smoothing)


def count_tokens(targets: Int[Tensor, "batch n"], pad_id: int) -> Int[Tensor, ""]:
    """Return the number of tokens that are not padding."""
    return (targets != pad_id).sum()
