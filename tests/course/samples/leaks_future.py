"""A function that takes a model."""

import torch
from jaxtyping import Int
from torch import Tensor

from tests.course.samples.said import LADDER, mistake
from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.drawing import generator, normal
from transformer_lab.course.stand_ins import describe


def leaks_future(model, tokens: Int[Tensor, "batch n"]) -> bool:
    n = tokens.shape[1]
    before = model(tokens)
    for position in range(1, n):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % 7
        if not torch.allclose(model(changed)[:, :position], before[:, :position]):
            return True
    return False


def leaks_future_cases(seed):
    rng = generator(seed)

    def case(n, offdiagonal, shows):
        mixing = normal(rng, n, n).tril()
        for row, column in offdiagonal:
            mixing[row, column] = 1.0
        model = describe("token_mixer", embedding=normal(rng, 7, 3), mixing=mixing)
        return Case({"model": model, "tokens": torch.randint(7, (2, n), generator=rng)}, shows)

    return [
        case(2, [], "a causal model, 2 tokens"),
        case(2, [(0, 1)], "a model that sees the next token"),
        case(5, [(0, 4)], "a model whose first position sees the last"),
        case(5, [(2, 3)], "a model that leaks in the middle only"),
        case(11, [], "a causal model, 11 tokens"),
    ]


def says_no(model, tokens):
    return False


def says_yes(model, tokens):
    return True


def wrong_way_round(model, tokens):
    return not leaks_future(model, tokens)


def _last_token_moves(model, tokens, upto):
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 7
    return not torch.allclose(model(changed)[:, :upto], model(tokens)[:, :upto])


def last_token_only(model, tokens):
    return _last_token_moves(model, tokens, tokens.shape[1] - 1)


def compares_the_changed_position_too(model, tokens):
    return _last_token_moves(model, tokens, tokens.shape[1])


LEAKS_FUTURE = Exercise(
    reference=leaks_future,
    cases=leaks_future_cases,
    points=2,
    verified="Every position is perturbed, and nothing before it may move.",
    hints=LADDER,
    mistakes=[
        mistake(says_no, "It never finds a leak."),
        mistake(wrong_way_round, "It says the opposite of what it should."),
        mistake(last_token_only, "Only the last token is changed, so a leak in the middle goes unseen."),
        mistake(
            compares_the_changed_position_too,
            "The position that was changed may well move: even causal models are accused.",
            also=[says_yes],
        ),
    ],
)
