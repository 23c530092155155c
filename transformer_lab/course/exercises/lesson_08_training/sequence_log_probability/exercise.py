"""How likely a model thinks a whole sentence is."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_08_training.sequence_log_probability.mistakes import MISTAKES
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


def sequence_log_probability(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, " batch"]:
    """Give the log-probability of each sentence: the sum of those of its tokens, padding left out."""
    log_p = torch.log_softmax(logits, dim=-1)
    of_tokens = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    return of_tokens.masked_fill(targets == pad_id, 0.0).sum(dim=-1)


def sequence_log_probability_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, shows, loud=1.0, padding=()):
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # every token but the padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = loud * normal(rng, batch, n, vocab_size)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id}, shows)

    return [
        case(1, 1, 3, 0, "one sentence of one token"),
        case(1, 3, 4, 0, "one sentence of 3 tokens"),
        case(2, 3, 5, 0, "2 sentences, one of which is padded", padding=(3, 1)),
        case(3, 4, 7, 2, "padding that is not token 0", padding=(1, 4, 2)),
        case(2, 3, 5, 4, "a model that is very sure, and often wrong", loud=200.0, padding=(3, 2)),
        case(5, 13, 11, 1, "5 sentences of up to 13 tokens", padding=(13, 2, 7, 1, 9)),
    ]


SEQUENCE_LOG_PROBABILITY = Exercise(
    reference=sequence_log_probability,
    cases=sequence_log_probability_cases,
    points=2,
    verified="The tokens of each sentence are added up, and padding adds nothing. Next: was it the search that failed, "
    "or the model?",
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
