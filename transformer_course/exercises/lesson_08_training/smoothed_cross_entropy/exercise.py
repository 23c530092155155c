"""The loss: how surprised the model is by each real token, with a little doubt left in the target."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.answer import (
    STEPS,
    smoothed_cross_entropy,
)
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def smoothed_cross_entropy_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, smoothing, shows, *, padding=(), digits=None):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # every token but the padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = normal(rng, batch, n, vocab_size)
        if digits is not None:  # to work by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id, "smoothing": smoothing}, shows)

    unexpected = case(3, 4, 7, 2, 0.1, "padding that is not token 0, and that nobody expects", padding=(1, 4, 2))
    unexpected.inputs["logits"][..., 2] -= torch.where(unexpected.inputs["targets"] == 2, 60, 30)
    sure = case(2, 3, 5, 4, 0.2, "a model that is very sure, and often wrong", padding=(3, 2))
    sure.inputs["logits"].mul_(200)
    right = case(2, 4, 3, 1, 0.0, "a model that is very sure, and right about one token", padding=(4, 3))
    right.inputs["logits"][0, 1, right.inputs["targets"][0, 1]] += 200
    far = case(3, 2, 4, 3, 0.1, "logits near 1000 and near -1000", padding=(2, 1, 2))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    return [
        case(1, 1, 3, 0, 0.0, "one token, no smoothing", digits=1),
        case(1, 2, 3, 0, 0.3, "2 tokens, smoothing", digits=1),
        case(1, 4, 3, 0, 0.0, "2 tokens and 2 of padding", padding=(2,), digits=1),
        case(2, 3, 4, 0, 0.2, "2 sentences, one of which is padded", padding=(3, 1), digits=1),
        unexpected,
        right,
        far,
        sure,
        case(5, 13, 11, 1, 0.1, "5 sentences, and gradients", padding=(13, 2, 7, 1, 9)),
    ]


SMOOTHED_CROSS_ENTROPY = Exercise(
    reference=smoothed_cross_entropy,
    steps=STEPS,
    cases=smoothed_cross_entropy_cases,
    points=3,
    verified="Every real token counts the same, padding does not count, and the doubt is spread over the whole "
    "vocabulary.",
    hints=[
        "Three steps: log-probabilities, one loss for each token, the mean of those that are no padding.",
        "`log_p = torch.log_softmax(logits, dim=-1)` and `log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`: the "
        "log-probability of each right token, (batch, n).",
        "The loss of a token is (1 − smoothing) times minus its log-probability, plus smoothing times minus the mean "
        "of *all* the log-probabilities there: `log_p.mean(dim=-1)`.",
        "`losses[targets != pad_id].mean()`. Or let `nn.functional.cross_entropy` do all of it: it wants the logits as "
        "(tokens, vocab_size), and has `ignore_index` and `label_smoothing`.",
    ],
    told={
        "left_out_losses: of_targets": (
            "The loss is right where `smoothing` is 0, and does not change where it is not. The argument is not used."
        ),
        "wrong_input_smoothing_weight": (
            "The average over the vocabulary gets 1 − smoothing: with a smoothing of 0, as much as the right token."
        ),
    },
    mistakes=MISTAKES,
)
