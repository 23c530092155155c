"""Score keys by their dot product with a query."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_01_lookup.similarity.answer import STEPS, similarity
from transformer_course.exercises.lesson_01_lookup.similarity.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def similarity_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d: int, shows: str) -> Case:
        return Case({"query": normal(rng, d), "keys": normal(rng, n, d)}, shows)

    # Can be done in the head: the scores are 5 and -2.
    readable = {"query": torch.tensor([2.0, -1.0]), "keys": torch.tensor([[3.0, 1.0], [1.0, 4.0]])}
    return [
        Case(readable, "2 keys of width 2, in whole numbers"),
        case(2, 3, "2 keys of width 3"),
        case(3, 3, "3 keys of width 3"),
        case(1, 5, "one key of width 5"),
        case(5, 1, "5 keys of width 1"),
        case(301, 64, "301 keys of width 64"),
    ]


SIMILARITY = Exercise(
    reference=similarity,
    steps=STEPS,
    may_cut_gradients=True,
    cases=similarity_cases,
    points=1,
    verified="Right for one key and for 301, narrow or wide.",
    hints=[
        "Work one case out by hand: query [1, 2] and a single key [3, 4]. Which products are added up?",
        "Every key is one row of `keys`. One number per row should come out.",
        "Multiply `keys` by `query` (broadcasting lines the widths up), then add along the last axis; or find the one "
        "matrix product that does both.",
    ],
    told={
        "axis_sums: products.sum(dim=0)": (
            "The sum runs over the keys instead of over the width, so different keys are mixed into one "
            "number. Look at the axis along which the sum is taken."
        ),
        "sibling_sums: products.mean(dim=axis)": (
            "All the scores are too small by one factor, the width: the products are averaged. A dot product "
            "adds them up."
        ),
        "slice_row": (
            "The query stands as a column, so that its entries are lined up with the *keys*. That crashes, "
            "or, where there are as many keys as entries, multiplies the wrong numbers. Look at its shape."
        ),
    },
    mistakes=MISTAKES,
)
