"""Count which token follows which: the first step of learning BPE."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def count_pairs(tokens: list[int], vocab_size: int) -> Int[Tensor, "vocab_size vocab_size"]:
    """Return how often each token is followed by each: a row for the first of a pair, a column for the second."""
    ids = torch.tensor(tokens)
    numbers = ids[:-1] * vocab_size + ids[1:]  # each pair has a number of its own
    return torch.bincount(numbers, minlength=vocab_size**2).view(vocab_size, vocab_size)


def ids(tokens):
    """make a tensor of the tokens → the tokens as a tensor"""
    return torch.tensor(tokens)


def firsts(ids):
    """take all tokens but the last as the first of a pair → the first token of each pair"""
    return ids[:-1]


def seconds(ids):
    """take all tokens but the first as the second of a pair → the second token of each pair"""
    return ids[1:]


def numbers(firsts, seconds, vocab_size):
    """give each pair a number, row by row → the numbers of the pairs: first · vocab_size + second"""
    return firsts * vocab_size + seconds


def counts(numbers, vocab_size):
    """count how often each number occurs → the counts of all possible pairs, (vocab_size²,)"""
    return torch.bincount(numbers, minlength=vocab_size**2)


def table(counts, vocab_size):
    """make a table of the counts → the table of counts, (vocab_size, vocab_size)"""
    return counts.view(vocab_size, vocab_size)


STEPS = InSteps(ids, firsts, seconds, numbers, counts, table, reference=count_pairs)


def count_pairs_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, vocab_size, shows):
        tokens = torch.randint(vocab_size, (n,), generator=rng).tolist()
        return Case({"tokens": tokens, "vocab_size": vocab_size}, shows)

    return [
        Case({"tokens": [0, 1, 2], "vocab_size": 3}, "three tokens, two pairs"),
        Case({"tokens": [1, 1, 1, 0], "vocab_size": 2}, "a pair that occurs twice, overlapping"),
        Case({"tokens": [2, 3, 2, 3, 0], "vocab_size": 5}, "a token that does not occur"),
        case(12, 4, "12 tokens of 4 kinds"),
        case(9, 7, "9 tokens of 7 kinds"),
        case(3001, 61, "3,001 tokens of 61 kinds"),
    ]


MISTAKES = [
    Mistake(
        "disjoint_pairs",
        STEPS.but(firsts=lambda ids: ids[: len(ids) // 2 * 2 : 2], seconds=lambda ids: ids[1::2]),
        summary="the text is cut into pairs, so that only every second neighborhood counts",
        message="{summary}. The last token of one pair and the first of the next are neighbors, too.",
        hints=["How many pairs of neighbors has a text of 4 tokens?"],
    ),
    Mistake(
        "one_token_between",
        STEPS.but(firsts=lambda ids: ids[:-2], seconds=lambda ids: ids[2:]),
        summary="each token is paired with the one after the next",
        message=(
            "{summary}. Neighbors stand side by side, with none between them. Look at where the second ones begin."
        ),
        hints=["Which pairs does the text 0, 1, 2 have?"],
    ),
    Mistake(
        "both_orders",
        STEPS.but(table=lambda table: table + table.mT),
        summary="each pair counts in both orders",
        message="The table is symmetric: {summary}. `th` and `ht` are two pairs.",
        hints=["Write the table for the tokens 0, 1 by hand. How many entries are not 0?"],
    ),
    Mistake(
        "whether_not_how_often",
        STEPS.but(table=lambda table: table.clamp(max=1)),
        summary="a pair counts once, however often it occurs",
        message=(
            "Every entry is 0 or 1: {summary}. With a tensor of indices, `+=` adds once for each *place*, not each "
            "time."
        ),
        hints=["What does `x = torch.zeros(2); x[[0, 0]] += 1` leave in `x`?"],
    ),
    Mistake(
        "an_end_left_out",
        STEPS.but(firsts=lambda ids: ids[:-2], seconds=lambda ids: ids[1:-1]),
        STEPS.but(firsts=lambda ids: ids[1:-1], seconds=lambda ids: ids[2:]),
        summary="the pair at one end of the text is left out",
        message="{summary}. A text of n tokens has n − 1 pairs: look at where the loop begins and ends.",
    ),
]


EXERCISE = Exercise(
    reference=count_pairs,
    steps=STEPS,
    cases=count_pairs_cases,
    points=2,
    verified="Each pair of neighbors counts, in its order, as often as it occurs.",
    hints=[
        "A text of n tokens has n − 1 pairs of neighbors: `zip(tokens, tokens[1:])` runs over them.",
        "Fast is one number for each pair, and `torch.bincount` over these. In a table that is read row by row, which "
        "number has the entry at row `first`, column `second`?",
        "`first * vocab_size + second`. With `minlength=vocab_size**2` what does not occur is counted, too, and "
        "`.view(vocab_size, vocab_size)` makes the table.",
    ],
    mistakes=MISTAKES,
)
