"""What goes wrong when one query is looked up: with what is compared, and how scores become weights."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.soft_lookup.answer import STEPS

MISTAKES = [
    Mistake(
        "dot_of_a_table",
        STEPS.but(scores=lambda query, keys: torch.dot(keys, query)).attempt,
        STEPS.but(scores=lambda query, keys: torch.mv(query, keys)).attempt,
        STEPS.but(scores=lambda query, keys: torch.mm(keys, query)).attempt,
        STEPS.but(scores=lambda query, keys: torch.mm(query, keys)).attempt,
        says="A product is called that does not take a table and a vector in this order. `keys` is the table.",
        hints=[
            "What does the error say about the number of axes?",
            "`torch.dot` takes two vectors, `torch.mm` two tables, `torch.mv` a table and then a vector.",
            "`parts.similarity(query, keys)`, or `keys @ query`.",
        ],
    ),
    Mistake(
        "adds_over_the_keys",
        STEPS.but(
            scores=lambda query, keys: (keys * query).sum(dim=0), mixture=lambda weights, values: weights @ values
        ),
        STEPS.but(scores=lambda query, keys: (keys * query).sum(dim=0)),
        does="the products of query and keys are added up over the keys, not over the width",
        says=(
            "The products are added up over the keys, so that there is a score for each entry of the width, and none "
            "for a key. Look at the axis of the sum in the scores."
        ),
        hints=["How many scores should there be for 4 keys of width 2?"],
    ),
    Mistake(
        "hard_lookup",
        STEPS.but(weights=lambda scores: F.one_hot(scores.argmax(), len(scores)).float()),
        does="the key with the largest score gets all of the weight",
        says="{does}, so a single value comes out, as from a dictionary. A soft lookup mixes all of them.",
        hints=["Do values other than that of the best key play a part in the result?"],
    ),
    Mistake(
        "scaled_too_early",
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1]),
        does="the scores are divided by a number that grows with the width",
        says="{does}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked for.",
        hints=["Compare with `similarity`. Is anything divided there?"],
    ),
]
