"""Put one token in the place of a pair."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_tokenizers.merge.answer import STEPS, merge
from transformer_course.exercises.lesson_tokenizers.merge.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


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


MERGE = Exercise(
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
