"""Models that leak and models that do not, to try a leak test on."""

import torch
from torch import Tensor

from transformer_lab.course.exercises.shared.draw_cases import generator
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.stand_in_models import describe_model

VOCAB_SIZE = 7
LARGE, SMALL, ROUNDING = 8.0, 0.1, 2e-7
"""How loud a leak is; the last is none, but another order of summation."""


def leaks_future_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def between(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=rng)

    def mixing(n: int, leaks: dict[tuple[int, int], float]) -> Tensor:
        """Make a table in which each position hears itself best, earlier ones less, and later ones only as said."""
        table = between(0.5, 1.0, n, n).tril() / n + 2 * torch.eye(n)
        for pair, loudness in leaks.items():
            table[pair] = loudness
        return table

    def case(
        n: int,
        leaks: dict[tuple[int, int], float],
        shows: str,
        in_training: dict[tuple[int, int], float] | None = None,
        noise: float = 0.0,
        holds: tuple[int, int] | None = None,
    ) -> Case:
        """Describe a model by what it hears of later tokens in eval mode and in training, and its dropout."""
        embedding = torch.eye(VOCAB_SIZE) + between(0.2, 0.3, VOCAB_SIZE, VOCAB_SIZE)
        wanted = [{n - 1: VOCAB_SIZE - 1}, {1: VOCAB_SIZE - 1}]  # nobody can find out that there is a larger one
        if holds is not None:
            wanted = [{(holds[0] + 1) % n: VOCAB_SIZE - 1, holds[0]: holds[1]}] * 2
        table = mixing(n, leaks)
        tokens = torch.stack([_different_tokens(rng, n, row) for row in wanted])
        model = describe_model(
            "token_mixer",
            embedding=embedding,
            mixing=table,
            mixing_in_training=table if in_training is None else mixing(n, in_training),
            noise=torch.tensor(noise),
        )
        return Case({"model": model, "tokens": tokens}, shows)

    return [
        case(2, {}, "a model that does not leak, 2 tokens"),
        case(2, {(0, 1): LARGE}, "a model that sees the next token"),
        case(5, {(0, 4): LARGE}, "a model whose first position sees the last"),
        case(5, {(2, 3): LARGE}, "a model that leaks in the middle only"),
        case(5, {(1, 3): LARGE}, "a model whose second position sees the fourth, which holds token 0", holds=(3, 0)),
        case(5, {(1, 4): LARGE}, "a model whose second position sees the last, which holds token 1", holds=(4, 1)),
        case(
            5,
            {(0, 1): LARGE},
            "a model whose first position sees the second, the largest token",
            holds=(1, 6),
        ),
        case(5, {(0, 2): SMALL}, "a model that leaks a little"),
        case(6, {(0, 5): ROUNDING, (1, 2): ROUNDING}, "a model that does not leak, but rounds differently each time"),
        case(6, {}, "a model that does not leak, left in training mode, with dropout", noise=1.0),
        case(6, {(1, 3): LARGE}, "a model that hides the future only while it trains", in_training={}),
        case(6, {}, "a model that sees the future only while it trains", in_training={(1, 3): LARGE}),
        case(7, {}, "a model that does not leak, 7 tokens"),
    ]


def _different_tokens(rng: torch.Generator, n: int, wanted: dict[int, int]) -> Tensor:
    """Draw tokens that all differ, some of them at places where they are wanted."""
    order = torch.randperm(VOCAB_SIZE, generator=rng)
    for place, token in wanted.items():
        elsewhere = int((order == token).nonzero())
        order[[place, elsewhere]] = order[[elsewhere, place]]
    return order[:n]
