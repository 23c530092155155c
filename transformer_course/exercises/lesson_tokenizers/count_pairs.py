"""Count pairs of adjacent tokens, the first step of learning BPE."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def count_pairs(tokens: list[int], vocab_size: int) -> Int[Tensor, "vocab_size vocab_size"]:
    """Return how often each token is followed by each: a row for the first of a pair, a column for the second."""
    ids = torch.tensor(tokens)
    numbers = ids[:-1] * vocab_size + ids[1:]  # a number for each pair
    return torch.bincount(numbers, minlength=vocab_size**2).view(vocab_size, vocab_size)


def ids(tokens):
    """convert the tokens to a tensor → the tokens as a tensor"""
    return torch.tensor(tokens)


def firsts(ids):
    """take the first token of each pair → the first token of each pair: all tokens but the last"""
    return ids[:-1]


def seconds(ids):
    """take the second token of each pair → the second token of each pair: all tokens but the first"""
    return ids[1:]


def numbers(firsts, seconds, vocab_size):
    """number the pairs row by row → the pair numbers: first · vocab_size + second"""
    return firsts * vocab_size + seconds


def counts(numbers, vocab_size):
    """count how often each pair number occurs → the counts of all possible pairs, (vocab_size²,)"""
    return torch.bincount(numbers, minlength=vocab_size**2)


def table(counts, vocab_size):
    """reshape the counts to a table → the table of counts, (vocab_size, vocab_size)"""
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
        case(12, 4, "12 tokens from a vocabulary of 4"),
        case(9, 7, "9 tokens from a vocabulary of 7"),
        case(3001, 61, "3,001 tokens from a vocabulary of 61"),
    ]


def without_overlaps(firsts, seconds, vocab_size):
    """Number the pairs, but skip a pair of equal tokens that overlaps an identical pair."""
    found: list[int] = []
    is_after_same = False
    for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True):
        is_after_same = first == second and not is_after_same and found[-1:] == [first * vocab_size + second]
        if not is_after_same:
            found.append(first * vocab_size + second)
    return torch.tensor(found, dtype=torch.long)


def skipping_after_equal_tokens(firsts, seconds, vocab_size):
    """Number the pairs, but skip the pair after each pair of equal tokens."""
    pairs, i, found = list(zip(firsts.tolist(), seconds.tolist(), strict=True)), 0, []
    while i < len(pairs):
        first, second = pairs[i]
        found.append(first * vocab_size + second)
        i += 2 if first == second else 1
    return torch.tensor(found, dtype=torch.long)


MISTAKES = [
    Mistake(
        "disjoint_pairs",
        STEPS.but(firsts=lambda ids: ids[: len(ids) // 2 * 2 : 2], seconds=lambda ids: ids[1::2]),
        summary="you cut the text into separate pairs and skip every second pair of neighbors",
        message=(
            "{summary}: from the tokens 0, 1, 2, 3 you count (0, 1) and (2, 3), but not (1, 2). By how much should you "
            "advance after each pair?"
        ),
        hints=["How many pairs of neighbors does a text of 4 tokens have?"],
    ),
    Mistake(
        "one_token_between",
        STEPS.but(firsts=lambda ids: ids[:-2], seconds=lambda ids: ids[2:]),
        summary="you pair each token with the token two positions later",
        message=(
            "{summary}: from the tokens 0, 1, 2 you count the pair (0, 2). At which index should the second tokens "
            "begin?"
        ),
        hints=["Which two pairs of neighbors does the text 0, 1, 2 have?"],
    ),
    Mistake(
        "both_orders",
        STEPS.but(table=lambda table: table + table.mT),
        summary="you count each pair in both orders",
        message=(
            "{summary}, so your table is symmetric. The tokens 0, 1 contain the pair (0, 1), but not (1, 0). Which "
            "token of a pair should determine the row?"
        ),
        hints=["For the tokens 0, 1, how many entries of the table should be nonzero?"],
    ),
    Mistake(
        "whether_not_how_often",
        STEPS.but(table=lambda table: table.clamp(max=1)),
        summary="you count each pair at most once",
        message=(
            "{summary}, so every entry is 0 or 1. If you index a tensor with all the pairs and use `+=`, torch adds 1 "
            "only once to each entry. How can you count every occurrence?"
        ),
        hints=["What is `x` after `x = torch.zeros(2); x[[0, 0]] += 1`?"],
    ),
    Mistake(
        "last_token_with_the_first",
        STEPS.but(firsts=lambda ids: ids, seconds=lambda ids: ids.roll(-1)),
        summary="you also count the last token and the first token as a pair",
        message=(
            "{summary}, as if the text were circular: `roll` moves the first token to the end. How many pairs does a "
            "text of n tokens have?"
        ),
        hints=["For the tokens 0, 1, 2, which pairs do you count? Which of them are neighbors in the text?"],
    ),
    Mistake(
        "overlapping_pairs_once",
        STEPS.but(numbers=without_overlaps),
        summary="you skip a pair of equal tokens if it overlaps the previous pair",
        message=(
            "{summary}: in 1, 1, 1 you count (1, 1) once instead of twice. Which pairs of neighbors does this text "
            "have?"
        ),
        hints=["For the tokens 1, 1, 1, 0, how many pairs should you count in all?"],
    ),
    Mistake(
        "skips_after_equal_tokens",
        STEPS.but(numbers=skipping_after_equal_tokens),
        summary="you skip the pair after a pair of equal tokens",
        message=(
            "{summary}: in 1, 1, 0 you count (1, 1), but not (1, 0). Which pairs of neighbors does this text have?"
        ),
        hints=["For the tokens 1, 1, 0, how many pairs should you count in all?"],
    ),
    Mistake(
        "an_end_left_out",
        STEPS.but(firsts=lambda ids: ids[:-2], seconds=lambda ids: ids[1:-1]),
        STEPS.but(firsts=lambda ids: ids[1:-1], seconds=lambda ids: ids[2:]),
        summary="you leave out the first or the last pair of the text",
        message=(
            "{summary}, so for n tokens you count n − 2 pairs instead of n − 1. Where does your loop, or your slice, "
            "begin and end?"
        ),
        hints=["For the tokens 0, 1, 2, which pairs do you count? Which one is missing?"],
    ),
]


EXERCISE = Exercise(
    reference=count_pairs,
    steps=STEPS,
    cases=count_pairs_cases,
    points=2,
    verified="Your table counts every pair of neighbors, in its order, as often as it occurs.",
    hints=[
        "Which pairs of neighbors does the text 0, 1, 2, 0 have? How many are there in a text of n tokens?",
        "The n − 1 pairs overlap: `zip(tokens, tokens[1:])` loops over them. Without a loop, give each pair its own "
        "number. If you read a table row by row, which number does the entry at row `first`, column `second` have?",
        "That number is `first * vocab_size + second`. `torch.bincount` counts the numbers; with "
        "`minlength=vocab_size**2`, the result also has entries for pairs that don't occur.",
        "`torch.bincount(numbers, minlength=vocab_size**2).view(vocab_size, vocab_size)` is the table.",
    ],
    messages={
        "inputs_exchanged_numbers: firsts": Wording(
            "{summary}, so your table is transposed. Which of the two tokens should determine the row?",
            summary="you use the second token of each pair as the row and the first as the column",
        ),
    },
    mistakes=MISTAKES,
)
