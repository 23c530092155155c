"""Models with and without leaks, for testing a leak test."""

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

VOCAB_SIZE = 7
LARGE_LEAK, SMALL_LEAK, ROUNDING_LEAK = 8.0, 0.03, 2e-7
"""Sizes of leaks. The last size is not a leak: it is the rounding error of a different summation order."""
N_LAST_CASES = 4
Leaks = Mapping[tuple[int, int], float]
"""For pairs (position, later position): the weight with which the position receives the later position."""


def leaks_future_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def between(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=rng)

    def mixing(n: int, leaks: Leaks) -> Tensor:
        """Return mixing weights: large for the position itself, small for earlier positions, and ``leaks`` for later
        positions.
        """
        table = between(0.5, 1.0, n, n).tril() / n + 2 * torch.eye(n)
        for pair, size in leaks.items():
            table[pair] = size
        return table

    def case(
        tokens: Tensor,
        leaks: Leaks,
        shows: str,
        in_training: Leaks | None = None,
        noise: float = 0.0,
        embedding: Tensor | None = None,
        **tables: Tensor,
    ) -> Case:
        """Return a case whose model has the given leaks in eval and training mode.

        ``noise`` is the dropout rate.
        """
        table = mixing(tokens.shape[1], leaks)
        if embedding is None:
            embedding = torch.eye(VOCAB_SIZE) + between(0.2, 0.3, VOCAB_SIZE, VOCAB_SIZE)
        model = describe_model(
            "token_mixer",
            embedding=embedding,
            mixing=table,
            mixing_in_training=table if in_training is None else mixing(tokens.shape[1], in_training),
            noise=torch.tensor(noise),
            **tables,
        )
        return Case({"model": model, "tokens": tokens}, shows)

    def draw(n: int, *wanted: Mapping[int, int]) -> Tensor:
        """Draw two sentences of distinct tokens, with given tokens at some positions.

        By default, both sentences contain the largest id.
        """
        wanted = wanted or ({n - 1: VOCAB_SIZE - 1}, {1: VOCAB_SIZE - 1})
        return torch.stack([_different_tokens(rng, n, row) for row in wanted])

    def holding(token: int, at: int, listener: int) -> Case:
        """Return a case whose model leaks from one position. Both sentences have the same id there."""
        elsewhere = {} if token == VOCAB_SIZE - 1 else {(at + 1) % 5: VOCAB_SIZE - 1}
        tokens = draw(5, *[{**elsewhere, at: token}] * 2)
        where = f"a model whose {ORDINALS[listener]} position sees the {ORDINALS[at]}, which holds token {token}"
        return case(tokens, {(listener, at): LARGE_LEAK}, where)

    two_ids = torch.tensor([[1.0], [2.0]])
    a, b = ((0, 3), (2, 5), (4, 1))[int(torch.randint(3, (), generator=rng))]
    loud = torch.eye(VOCAB_SIZE)[3]

    def shuffled(*cases: Case) -> list[Case]:
        """Shuffle the cases so that a fixed list of results does not pass."""
        return [cases[i] for i in torch.randperm(len(cases), generator=rng)]

    leaks_at_the_end = bool(torch.randint(2, (), generator=rng))
    cases = [
        *shuffled(
            case(torch.tensor([[0, 1]]), {}, "a model that does not leak, 2 tokens", embedding=two_ids),
            case(torch.tensor([[0, 1]]), {(0, 1): LARGE_LEAK}, "a model that sees the next token", embedding=two_ids),
            case(
                torch.tensor([[1, 0]]),
                {(0, 1): LARGE_LEAK},
                "a model that sees the next token, which is token 0",
                embedding=two_ids,
            ),
        ),
        case(
            torch.tensor([[2, 0, 1]]),
            {(0, 2): LARGE_LEAK, (1, 2): LARGE_LEAK},
            "a model in which every position sees the last",
            embedding=torch.tensor([[1.0], [2.0], [3.0]]),
        ),
        *shuffled(
            case(
                draw(2, {0: 6}, {1: 6}),
                {(0, 1): ROUNDING_LEAK},
                "a model that does not leak, but rounds differently each time",
            ),
            case(
                draw(2, {0: 6}, {1: 6}),
                {},
                "a model that does not leak, left in training mode, with dropout",
                noise=1.0,
            ),
            case(
                draw(2, {0: 6}, {1: 6}),
                {(0, 1): LARGE_LEAK},
                "a model that hides the future only while it trains",
                in_training={},
            ),
            case(
                draw(2, {0: 6}, {1: 6}),
                {},
                "a model that sees the future only while it trains",
                in_training={(0, 1): LARGE_LEAK},
            ),
        ),
        case(
            torch.tensor([[b, 6, a]]),
            {(0, 2): LARGE_LEAK},
            "outputs whose sum never moves",
            embedding=torch.eye(VOCAB_SIZE),
        ),
        case(
            draw(3, {0: 6, 2: 0}, {1: 6, 0: 3}), {(0, 2): LARGE_LEAK}, "a leak in the second sentence", hears_later=loud
        ),
        case(
            draw(3, {0: 6, 1: 3}, {1: 6, 2: 3}), {(1, 2): LARGE_LEAK}, "a leak in the first sentence", hears_later=loud
        ),
        case(draw(4), {(1, 2): LARGE_LEAK}, "a model that is in eval mode", noise=1.0, evaluates=torch.tensor(True)),
        *shuffled(
            case(draw(5), {(0, 4): LARGE_LEAK}, "a model whose first position sees the last"),
            case(draw(5), {(2, 3): LARGE_LEAK}, "a model that leaks in the middle only"),
            *[holding(*at) for at in ((0, 3, 1), (1, 4, 1), (2, 2, 0), (3, 3, 0), (4, 4, 2), (5, 4, 3), (6, 1, 0))],
            case(draw(5), {(0, 2): SMALL_LEAK}, "a model that leaks a little"),
            *[case(draw(5), {}, f"a model of 5 tokens that does not leak ({which})") for which in ("one", "another")],
        ),
        case(draw(7), {(1, 5): LARGE_LEAK}, "a model that leaks, 7 tokens")
        if leaks_at_the_end
        else case(draw(7), {}, "a model that does not leak, 7 tokens"),
    ]
    # In the cases above, the tokens reveal the model. Below, only calling the model shows whether it leaks.
    for number, leaks in enumerate(torch.randint(2, (N_LAST_CASES,), generator=rng).tolist(), 1):
        listener, at = sorted(torch.randperm(7, generator=rng)[:2].tolist())
        where = {(listener, at): LARGE_LEAK} if leaks else {}
        shows = f"model {number} of {N_LAST_CASES} that {'leaks' if leaks else 'does not leak'}, 7 tokens"
        cases.append(case(draw(7), where, shows))
    return cases


ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _different_tokens(rng: torch.Generator, n: int, wanted: Mapping[int, int]) -> Tensor:
    """Draw distinct tokens, with given tokens at some positions."""
    order = torch.randperm(VOCAB_SIZE, generator=rng)
    for place, token in wanted.items():
        elsewhere = int((order == token).nonzero())
        order[[place, elsewhere]] = order[[elsewhere, place]]
    return order[:n]
