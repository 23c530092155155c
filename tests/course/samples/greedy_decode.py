"""A function that takes a model and decodes, with outputs of several right forms."""

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn import functional as F

from tests.course.samples.said import LADDER, mistake
from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.drawing import generator, normal
from transformer_lab.course.stand_ins import describe


def greedy_decode(
    model, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_decoded"]:
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1).masked_fill(ended, eos_id)
        target = torch.cat([target, best[:, None]], dim=1)
        ended |= best == eos_id
        if ended.all():
            break
    return target[:, 1:]


def padded(output, case):
    missing = case.inputs["max_length"] - output.shape[1] if output.dim() == 2 else 0
    return F.pad(output, (0, missing), value=case.inputs["eos_id"]) if missing > 0 else output


def greedy_decode_cases(seed):
    rng = generator(seed)

    def case(ends, max_length, shows):
        """Walk from token to token; a sentence whose source says so ends where the walk is weak, at its third token.

        What would follow the end is a token that is never seen.
        """
        vocab_size = 13
        bos, eos, *walk = torch.randperm(vocab_size, generator=rng).tolist()
        transition = normal(rng, vocab_size, vocab_size)
        for step, (here, there) in enumerate(zip([bos, *walk], walk, strict=False)):
            transition[here, there] += 10 if step == 2 else 30
        transition[eos, walk[0]] += 60
        reading = torch.zeros(vocab_size, vocab_size)
        reading[walk[0], eos] = 10.0  # a source has 2 tokens, so twice as much
        model = describe("table_translator", transition=transition, reading=reading)
        source = torch.tensor([[walk[0] if end else walk[1]] * 2 for end in ends])
        return Case({"model": model, "source": source, "bos_id": bos, "eos_id": eos, "max_length": max_length}, shows)

    return [
        case([False], 1, "one token"),
        case([False], 4, "4 tokens without an end"),
        case([True], 5, "a sentence that ends early"),
        case([True, False, True], 7, "3 sentences, two of which end early"),
    ]


def keeps_the_bos(model, source, bos_id, eos_id, max_length):
    rest = greedy_decode(model, source, bos_id, eos_id, max_length)
    return torch.cat([torch.full((len(source), 1), bos_id), rest], dim=1)


def goes_on_after_the_end(model, source, bos_id, eos_id, max_length):
    return greedy_decode(model, source, bos_id, -1, max_length)


def waits_for_nobody(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat([target, best[:, None]], dim=1)
        if (best == eos_id).any():
            break
    return target[:, 1:]


def one_step_short(model, source, bos_id, eos_id, max_length):
    return greedy_decode(model, source, bos_id, eos_id, max_length - 1)


def least_likely(model, source, bos_id, eos_id, max_length):
    return greedy_decode(lambda *inputs: -model(*inputs), source, bos_id, eos_id, max_length)


GREEDY_DECODE = Exercise(
    reference=greedy_decode,
    cases=greedy_decode_cases,
    points=3,
    verified="Each sentence ends by itself.",
    hints=LADDER,
    normalise=padded,
    mistakes=[
        mistake(keeps_the_bos, "The token that starts every sentence is no part of the output."),
        mistake(goes_on_after_the_end, "A sentence goes on after its end."),
        mistake(waits_for_nobody, "All sentences stop when the first one ends."),
        mistake(one_step_short, "It stops one token too early."),
        mistake(least_likely, "It takes the least likely token."),
    ],
)
