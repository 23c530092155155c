"""Put one token in the place of a pair."""

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def merge(tokens: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Return the tokens with new_id in place of each occurrence of the pair, from left to right."""
    merged, i = [], 0
    while i < len(tokens):
        if tokens[i : i + 2] == [*pair]:
            merged.append(new_id)
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return merged


def found(tokens, pair):
    """compare the token at i and the next with the pair → whether the pair stands at i"""
    return lambda i: tokens[i : i + 2] == [*pair]


def used(found):
    """use two tokens for the pair, one otherwise → how many tokens are used up at i: two for the pair, else one"""
    return lambda i: 2 if found(i) else 1


def starts(tokens, used):
    """walk from left to right, past what is used up → the positions at which a token of the result begins"""
    positions, i = [], 0
    while i < len(tokens):
        positions.append(i)
        i += used(i)
    return positions


def written(tokens, found, new_id):
    """write the new token for the pair, else the old one → the token that is written for position i"""
    return lambda i: new_id if found(i) else tokens[i]


def merged(starts, written):
    """write a token for each of these positions → the tokens after the merge"""
    return [written(i) for i in starts]


STEPS = InSteps(found, used, starts, written, merged, reference=merge)


def merge_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(tokens, pair, new_id, shows):
        return Case({"tokens": tokens, "pair": pair, "new_id": new_id}, shows)

    some = torch.randint(3, (40,), generator=rng).tolist()
    many = torch.randint(9, (4001,), generator=rng).tolist()
    return [
        case([1, 2, 3], (1, 2), 9, "the pair at the beginning"),
        case([3, 1, 2], (1, 2), 9, "the pair at the end"),
        case([2, 1, 3, 1, 2, 2, 1, 2], (1, 2), 7, "the pair twice, and its tokens in other orders"),
        case([4, 4, 4], (4, 4), 5, "three equal tokens, and a pair of two"),
        case([0, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4], (4, 4), 6, "longer runs of equal tokens"),
        case([5, 3], (1, 2), 8, "no such pair"),
        case([7], (7, 7), 8, "a single token"),
        case(some, (2, 0), 3, "40 tokens of 3 kinds"),
        case(some, (1, 1), 3, "40 tokens of 3 kinds, and a pair of equal ones"),
        case(many, (8, 3), 9, "4,001 tokens"),
    ]


def only_the_first(tokens, pair):
    """Find the pair at its first place alone."""
    first = next((i for i in range(len(tokens)) if tokens[i : i + 2] == [*pair]), None)
    return lambda i: i == first


MISTAKES = [
    Mistake(
        "only_the_first",
        STEPS.but(found=only_the_first),
        summary="only the first occurrence of the pair is merged",
        hints=["How often does the pair occur in the text?"],
    ),
    Mistake(
        "without_the_last",
        STEPS.but(merged=lambda starts, written, tokens: [written(i) for i in starts if i < len(tokens) - 1]),
        summary="the last token gets lost if it is not part of a pair",
        message="{summary}. Look at where the loop ends.",
        hints=["With the tokens 1, 2, 3 and the pair (1, 2): what becomes of 3?"],
    ),
    Mistake(
        "in_either_order",
        STEPS.but(found=lambda tokens, pair: lambda i: sorted(tokens[i : i + 2]) == sorted(pair)),
        summary="the pair is also found in the other order",
        message="{summary}. `th` and `ht` are two pairs, and become two tokens.",
        hints=["What should the pair (1, 2) make of the tokens 2, 1?"],
    ),
]


EXERCISE = Exercise(
    reference=merge,
    steps=STEPS,
    cases=merge_cases,
    points=3,
    verified="Every occurrence becomes one token, from left to right, and everything else stays.",
    hints=[
        "Go through the text from left to right with a position i, and append to a new list.",
        "How far does i move after a pair, and how far after any other token? A `for` loop cannot skip; `while` can.",
        "`tokens[i : i + 2] == [*pair]` is also right at the last position, where the slice has one token only.",
    ],
    mistakes=MISTAKES,
)
