"""The loss: how surprised the model is by each real token, with a little doubt left in the target."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_08_training.smoothed_cross_entropy import (
    mistakes_reduction,
    mistakes_smoothing,
)
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float
) -> Float[Tensor, ""]:
    """Give the mean loss of all but padding; the right token gets 1 − smoothing, and all tokens share the rest."""
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return losses[targets != pad_id].mean()


def smoothed_cross_entropy_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, share, shows, loud=1.0, unlikely=0.0, padding=()):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # every token but the padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = loud * normal(rng, batch, n, vocab_size)
        logits[..., pad_id] -= unlikely
        inputs = {"logits": logits, "targets": targets, "pad_id": pad_id, "smoothing": share}
        return Case(inputs, shows)

    return [
        case(1, 1, 3, 0, 0.0, "one token, no smoothing"),
        case(1, 2, 3, 0, 0.3, "2 tokens, smoothing"),
        case(2, 3, 5, 0, 0.0, "2 sentences, one of which is padded", padding=(3, 1)),
        case(3, 4, 7, 2, 0.1, "padding that is not token 0, and that nobody expects", unlikely=30.0, padding=(1, 4, 2)),
        case(2, 3, 5, 4, 0.2, "a model that is very sure, and often wrong", loud=200.0, padding=(3, 2)),
        case(5, 13, 11, 1, 0.1, "5 sentences, and gradients", padding=(13, 2, 7, 1, 9)),
    ]


SMOOTHED_CROSS_ENTROPY = Exercise(
    reference=smoothed_cross_entropy,
    cases=smoothed_cross_entropy_cases,
    points=3,
    verified="Every real token counts the same, padding counts nothing, and the doubt is spread over the whole "
    "vocabulary. Next: how large the loss is at the start.",
    hints=[
        "Three steps: log-probabilities, one loss for each token, the mean of those that are no padding.",
        "`log_p = torch.log_softmax(logits, dim=-1)` and `log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`: the "
        "log-probability of each right token, (batch, n).",
        "The loss of a token is (1 − smoothing) times minus its log-probability, plus smoothing times minus the mean "
        "of *all* the log-probabilities there: `log_p.mean(dim=-1)`.",
        "`losses[targets != pad_id].mean()`. Or let `nn.functional.cross_entropy` do all of it: it wants the logits as "
        "(tokens, vocab_size), and has `ignore_index` and `label_smoothing`.",
    ],
    mistakes=[*mistakes_reduction.MISTAKES, *mistakes_smoothing.MISTAKES],
)
