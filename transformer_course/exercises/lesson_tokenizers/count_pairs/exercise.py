"""Count which token follows which: the first step of learning BPE."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_tokenizers.count_pairs.answer import STEPS, count_pairs
from transformer_course.exercises.lesson_tokenizers.count_pairs.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


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


COUNT_PAIRS = Exercise(
    reference=count_pairs,
    steps=STEPS,
    cases=count_pairs_cases,
    points=2,
    verified="Each pair of neighbours counts, in its order, as often as it occurs.",
    hints=[
        "A text of n tokens has n − 1 pairs of neighbours: `zip(tokens, tokens[1:])` runs over them.",
        "Fast is one number for each pair, and `torch.bincount` over these. In a table that is read row by row, which "
        "number has the entry at row `first`, column `second`?",
        "`first * vocab_size + second`. With `minlength=vocab_size**2` what does not occur is counted, too, and "
        "`.view(vocab_size, vocab_size)` makes the table.",
    ],
    mistakes=MISTAKES,
)
