"""Fine-tune a language model on pairs of preferred and rejected answers."""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


def sequence_log_probability(
    logits: Float[Tensor, "batch n vocab_size"], tokens: Int[Tensor, "batch n"], is_answer: Bool[Tensor, "batch n"]
) -> Float[Tensor, " batch"]:
    """Return the log-probability of each answer given its prompt: the sum over its tokens, not normalized by length.

    Args:
        logits: The model's logits of the next token at each position of ``tokens``.
        tokens: Prompts, each followed by its answer.
        is_answer: True at answer tokens, False at prompt tokens and padding. The first token of a row is ignored,
            because the model does not predict it.
    """
    following = tokens[:, 1:, None]
    log_probabilities = logits[:, :-1].float().log_softmax(dim=-1).gather(-1, following).squeeze(-1)
    return log_probabilities.masked_fill(~is_answer[:, 1:], 0.0).sum(dim=1)


def dpo_loss(
    chosen: Float[Tensor, " batch"],
    rejected: Float[Tensor, " batch"],
    reference_chosen: Float[Tensor, " batch"],
    reference_rejected: Float[Tensor, " batch"],
    beta: float,
) -> Float[Tensor, ""]:
    """Return the loss of direct preference optimization (DPO), which is low if the model prefers the chosen answers.

    ``−log σ(β ((chosen − reference_chosen) − (rejected − reference_rejected)))``, averaged over the pairs: equation 7
    of Rafailov et al. (2023), arXiv:2305.18290. The loss is log 2 if the model equals the reference.

    Args:
        chosen: ``sequence_log_probability`` of the preferred answer in each pair.
        rejected: ``sequence_log_probability`` of the rejected answer in each pair.
        reference_chosen: Like ``chosen``, but from the model before this training, without gradients.
        reference_rejected: Like ``rejected``, but from the model before this training, without gradients.
        beta: How strongly the model is kept close to the reference.

    >>> import torch
    >>> dpo_loss(*torch.zeros(4, 3), beta=0.1)
    tensor(0.6931)
    """
    margins = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -nn.functional.logsigmoid(beta * margins).mean()
