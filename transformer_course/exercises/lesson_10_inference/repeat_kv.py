"""Repeat key-value heads that several query heads share."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.grouped_query import repeat_kv


def copies(x, n_repeats):
    """copy each head `n_repeats` times along a new dimension → the copies: (batch, n_kv_heads, n_repeats, n, d)"""
    return x[:, :, None].expand(-1, -1, n_repeats, -1, -1)


def n_heads(x, n_repeats):
    """multiply the number of heads by `n_repeats` → the number of query heads: n_kv_heads times n_repeats"""
    return x.shape[1] * n_repeats


def repeated(x, copies, n_heads):
    """merge heads and copies into one dimension → the repeated heads: (batch, n_heads, n, d)"""
    return copies.reshape(len(x), n_heads, *x.shape[2:])


STEPS = InSteps(copies, n_heads, repeated, reference=repeat_kv)


def repeat_kv_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens digit is the head and the units digit is the feature, so moved entries are easy to see.
    readable = torch.tensor([[[[10.0, 11.0, 12.0]], [[20.0, 21.0, 22.0]]]])
    return [
        Case({"x": readable, "n_repeats": 2}, "2 heads, one position, 3 features: each head twice"),
        Case({"x": normal(rng, 2, 1, 3, 4), "n_repeats": 5}, "one head for all 5 query heads"),
        Case({"x": normal(rng, 1, 4, 3, 2), "n_repeats": 1}, "4 heads, each once: multi-head attention"),
        Case({"x": normal(rng, 3, 2, 5, 4), "n_repeats": 3}, "a batch of 3: 2 heads, each 3 times"),
        Case({"x": normal(rng, 3, 3, 3, 3), "n_repeats": 3}, "3 in every dimension"),
        Case({"x": normal(rng, 5, 8, 31, 12), "n_repeats": 4}, "a batch of 5: 8 heads, each 4 times"),
    ]


MISTAKES = [
    Mistake(
        "whole_row_repeated",
        STEPS.but(repeated=lambda x, copies, n_heads: copies.transpose(1, 2).reshape(len(x), n_heads, *x.shape[2:])),
        summary=(
            "you repeat the whole sequence of heads (A B A B) instead of placing the copies of each head next to each "
            "other"
        ),
        message=(
            "{summary}. With `n_repeats=2`, the first two query heads should both use head A. Which function repeats "
            "each head next to itself?"
        ),
        hints=[
            "With heads A and B and `n_repeats=3`, which heads do the first three query heads use? Which heads should "
            "they use?"
        ],
    ),
    Mistake(
        "along_another_axis",
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=2)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=3)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=0)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat(1, 1, n_repeats, 1)),
        summary="you repeat along a dimension other than the heads",
        message=(
            "{summary}. An input of shape (3, 2, 5, 4) with `n_repeats=3` should become (3, 6, 5, 4). Along which "
            "`dim` should you repeat?"
        ),
        hints=["In the shape (3, 2, 5, 4), which number is the number of heads?"],
    ),
    Mistake(
        "n_repeats_as_the_number_of_heads",
        STEPS.but(n_repeats=lambda n_repeats, x: max(n_repeats // x.shape[1], 1)),
        STEPS.but(repeated=lambda repeated, n_repeats: repeated[:, :n_repeats]),
        summary="you treat `n_repeats` as the number of query heads",
        message=(
            "{summary}. It is the number of copies of *each* head. How many heads should 2 heads with `n_repeats=3` "
            "become?"
        ),
        hints=["For 2 heads and `n_repeats=3`, how many heads does your result have?"],
    ),
    Mistake(
        "positions_and_heads_mixed",
        STEPS.but(
            repeated=lambda x, n_heads, n_repeats: (
                x[:, :, :, None].expand(-1, -1, -1, n_repeats, -1).reshape(len(x), n_heads, *x.shape[2:])
            )
        ),
        summary="you copy each position instead of each head before the reshape",
        message=(
            "Your shape is right, but your heads mix different positions: you copy each position, and the reshape "
            "splits the longer sequence into more heads. Which dimension should you copy along?"
        ),
        hints=["`reshape` keeps the elements in order. Which dimension should come right after the heads?"],
    ),
    Mistake(
        "divided_among_the_copies",
        STEPS.but(repeated=lambda repeated, n_repeats: repeated / n_repeats),
        summary="you divide every copy by `n_repeats`",
        message=(
            "{summary}, so all scores and outputs become too small. Each query head should get the original key or "
            "value. Which line divides the copies?"
        ),
        hints=["If every key is halved, what happens to the scores of the query heads?"],
    ),
    Mistake(
        "heads_in_front_of_the_batch",
        STEPS.but(repeated=lambda repeated: repeated.transpose(0, 1)),
        summary="you put the heads in dim 0, in front of the batch",
        message=(
            "{summary}, but the result should have shape (batch, n_heads, n, d). Which `dim` should you pass to "
            "`stack` or `cat`?"
        ),
        hints=["Without `dim`, along which dimension does `torch.stack` join its tensors?"],
    ),
]


EXERCISE = Exercise(
    reference=repeat_kv,
    steps=STEPS,
    cases=repeat_kv_cases,
    points=2,
    verified="Query heads 0 to n_repeats − 1 get key-value head 0, the next n_repeats get head 1, and so on.",
    hints=[
        "Key-value heads A and B serve 3 query heads each. In which order should the 6 heads of the result be?",
        "Query heads next to each other share a key-value head, so the result is A A A B B B.",
        "`torch.repeat_interleave` repeats each head next to itself. `repeat` and `torch.tile` repeat all heads in "
        "order: A B A B A B.",
        "The heads are dim 1: `x.repeat_interleave(n_repeats, dim=1)`.",
    ],
    messages={
        "shifted_n_repeats: n_repeats + 1": Wording(
            "{summary}, so 2 heads with `n_repeats=2` become 6 heads instead of 4. Is the original head one of the "
            "`n_repeats` copies?",
            summary="you return n_repeats + 1 copies of each head",
        ),
        "shifted_n_repeats: n_repeats - 1": Wording(
            "{summary}, so 2 heads with `n_repeats=2` become 2 heads instead of 4. Is the original head one of the "
            "`n_repeats` copies?",
            summary="you return n_repeats − 1 copies of each head",
        ),
    },
    mistakes=MISTAKES,
)
