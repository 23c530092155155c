"""Write a translation, one likeliest token after another."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_08_training.greedy_decode import (
    mistakes_end_of_sequence,
    mistakes_next_token,
)
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.stand_in_models import describe_model

VOCAB_SIZE = 13
N_PLACES = 8
"""So many target tokens the models of the cases can read."""


def greedy_decode(
    model: nn.Module, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_written"]:
    """Write the likeliest next token up to max_length times; the bos is not part of the output, the eos is."""
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        best = torch.where(ended, eos_id, best)  # after the end, only the end
        target = torch.cat([target, best[:, None]], dim=1)
        ended = ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def padded(output: Any, case: Case) -> Any:
    """Let every output be as long as is allowed: whether it ends when all sentences have, is left open."""
    if not isinstance(output, Tensor) or output.dim() != 2:
        return output
    missing = case.inputs["max_length"] - output.shape[1]
    return F.pad(output, (0, missing), value=case.inputs["eos_id"]) if missing > 0 else output


def greedy_decode_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(ends, max_length, shows, sure=True):
        """Walk from token to token; a sentence whose source says so ends where the walk is weak, at its third token.

        What would follow the end is a token that is never seen. At the first place another token lures, which is
        what those write who always look from there.
        """
        bos, eos, lure, *walk = (1 + torch.randperm(VOCAB_SIZE - 1, generator=rng)).tolist()
        transition = normal(rng, VOCAB_SIZE, VOCAB_SIZE)
        reading = torch.zeros(VOCAB_SIZE, VOCAB_SIZE)
        places = torch.zeros(N_PLACES, VOCAB_SIZE)
        if sure:
            for step, (here, there) in enumerate(zip([bos, *walk], walk, strict=False)):
                transition[here, there] += 10 if step == 2 else 30
            transition[bos, walk[0]] += 60
            transition[eos, walk[-1]] += 60
            reading[walk[0], eos] = 10.0  # a source has 2 tokens, so twice as much
            places[0, lure] = 50.0
        source = torch.tensor([[walk[0] if end else walk[1]] * 2 for end in ends])
        model = describe_model("table_translator", transition=transition, reading=reading, places=places)
        return Case({"model": model, "source": source, "bos_id": bos, "eos_id": eos, "max_length": max_length}, shows)

    return [
        case([False], 1, "one token"),
        case([False], 4, "4 tokens without an end"),
        case([True], 5, "a sentence that ends early"),
        case([False, True], 6, "2 sentences, the second of which ends early"),
        case([False, False, False], 6, "3 sentences, and a model that is never sure", sure=False),
        case([True, False, True, False], 7, "4 sentences, two of which end early"),
    ]


GREEDY_DECODE = Exercise(
    reference=greedy_decode,
    cases=greedy_decode_cases,
    points=3,
    verified="Every step sees all that has been written, and every sentence ends by itself. Next: the training.",
    hints=[
        "Begin with a target of one column, bos, for every sentence: `torch.full((len(source), 1), bos_id)`. One round "
        "of the loop: call the model, choose, append.",
        "`model(source, target)` has logits for every position, (batch, n, vocab_size). The next token is what the "
        "*last* position says: `[:, -1].argmax(dim=-1)`. Append it with `torch.cat([target, best[:, None]], dim=1)`.",
        "Remember which sentences have ended: a bool for each. For these, the chosen token is replaced by eos: "
        "`torch.where(ended, eos_id, best)`.",
        "After at most max_length rounds, or when `ended.all()`, return `target[:, 1:]`: all but the bos.",
    ],
    mistakes=[*mistakes_next_token.MISTAKES, *mistakes_end_of_sequence.MISTAKES],
    normalise=padded,
)
