"""How likely a model thinks a whole sentence is."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_08_training.sequence_log_probability.answer import (
    STEPS,
    sequence_log_probability,
)
from transformer_course.exercises.lesson_08_training.sequence_log_probability.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def sequence_log_probability_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, shows, *, padding=(), digits=None):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # every token but the padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = normal(rng, batch, n, vocab_size)
        if digits is not None:  # to work by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id}, shows)

    sure = case(2, 3, 5, 4, "a model that is very sure, and often wrong", padding=(3, 2))
    sure.inputs["logits"].mul_(200)
    far = case(3, 2, 4, 3, "logits near 1000 and near -1000", padding=(2, 1, 2))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    unlikely = case(1, 6, 3, 1, "a sentence that is too unlikely for a float, and whose tokens are not")
    unlikely.inputs["logits"].mul_(2).scatter_add_(
        -1, unlikely.inputs["targets"].unsqueeze(-1), torch.full((1, 6, 1), -40.0)
    )
    return [
        case(1, 1, 3, 0, "one sentence of one token", digits=1),
        case(1, 2, 3, 0, "one sentence of 2 tokens", digits=1),
        case(1, 3, 2, 0, "2 tokens and a padding", padding=(2,), digits=1),
        case(2, 3, 4, 0, "2 sentences, one of which is padded", padding=(3, 1), digits=1),
        case(3, 4, 7, 2, "padding that is not token 0", padding=(1, 4, 2)),
        far,
        unlikely,
        sure,
        case(5, 13, 11, 1, "5 sentences of up to 13 tokens", padding=(13, 2, 7, 1, 9)),
    ]


SEQUENCE_LOG_PROBABILITY = Exercise(
    reference=sequence_log_probability,
    steps=STEPS,
    cases=sequence_log_probability_cases,
    points=2,
    verified="The tokens of each sentence are added up, and padding adds nothing.",
    hints=[
        "The probability of a sentence is the product of those of its tokens, each given what came before. What "
        "becomes of a product if logarithms are taken?",
        "`torch.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)` are the log-probabilities "
        "of the tokens, (batch, n).",
        "Set those of the padding to 0, `masked_fill(targets == pad_id, 0.0)`, and add up over the positions.",
    ],
    mistakes=MISTAKES,
    stretch=True,
)
