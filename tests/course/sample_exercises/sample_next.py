"""A sampler."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tests.course.sample_exercises.messages import LADDER, mistake
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.shared.draw_cases import generator
from transformer_lab.course.running.case import Case


def sample_next(
    logits: Float[Tensor, "batch vocab_size"], temperature=1.0, top_k=None, top_p=None, generator=None
) -> Int[Tensor, " batch"]:
    logits = logits / temperature
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
    if top_p is not None:
        largest, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
        superfluous = largest.cumsum(dim=-1) - largest >= top_p  # the mass before it reaches p already
        logits = logits.masked_fill(torch.zeros_like(logits).scatter(-1, order, superfluous.float()).bool(), -torch.inf)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]


def sample_next_cases(seed):
    rng = generator(seed)

    def case(shows, **keywords):
        """Shuffle probabilities that are far from 0, and whose sums are far from p."""
        rows = [[0.4, 0.3, 0.2, 0.1, 0.0], [0.1, 0.25, 0.05, 0.45, 0.15]]
        order = torch.randperm(5, generator=rng)
        logits = torch.tensor(rows)[:, order].log().clamp(min=-1e4)
        return Case({"logits": logits}, shows, kind="sampler", keywords=keywords, n_samples=4000)

    return [
        case("two rows of 5 logits"),
        case("temperature 3", temperature=3.0),
        case("the best 2 only", top_k=2),
        case("the smallest set with 65 % of the mass", top_p=0.65),
        case("temperature 2, then the best 3", temperature=2.0, top_k=3),
    ]


def takes_the_best(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return logits.argmax(dim=-1)


def ignores_the_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, 1.0, top_k, top_p, generator)


def multiplies_by_the_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, 1 / temperature, top_k, top_p, generator)


def ignores_top_k(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, temperature, None, top_p, generator)


def top_p_stops_short(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_p is not None:
        largest, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
        superfluous = largest.cumsum(dim=-1) > top_p
        logits = logits.masked_fill(torch.zeros_like(logits).scatter(-1, order, superfluous.float()).bool(), -torch.inf)
    return sample_next(logits, temperature, top_k, None, generator)


def ignores_the_generator(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, temperature, top_k, top_p)


SAMPLE_NEXT = Exercise(
    reference=sample_next,
    cases=sample_next_cases,
    points=3,
    verified="Every token comes as often as it should.",
    hints=LADDER,
    mistakes=[
        mistake(takes_the_best, "It takes the best token every time: nothing is drawn."),
        mistake(ignores_the_temperature, "The temperature is not used."),
        mistake(multiplies_by_the_temperature, "A high temperature should blur, and here it sharpens."),
        mistake(ignores_top_k, "Tokens beyond the best k are drawn."),
        mistake(top_p_stops_short, "The set stops short of the mass p."),
        mistake(ignores_the_generator, "It draws from the random numbers of torch, not from those it is given."),
    ],
)
