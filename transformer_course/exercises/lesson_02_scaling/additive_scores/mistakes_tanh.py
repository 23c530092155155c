"""What goes wrong in additive scores after the sum of query and key: with tanh, and with w."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.additive_scores.answer import STEPS

MISTAKES = [
    Mistake(
        "tanh_before_adding",
        STEPS.but(
            from_queries=lambda from_queries: from_queries.tanh(),
            from_keys=lambda from_keys: from_keys.tanh(),
            hidden=lambda sums: sums,
        ),
        does="the tanh is taken of queries and keys before they are added",
        says=(
            "The best key is the same for every query: the tanh is taken of each side before the two are added, so a "
            "score falls apart into a part of the query and a part of the key. Look at what the tanh should see."
        ),
        hints=["In tanh(W_q q + W_k k), which happens first?"],
    ),
    Mistake(
        "forgets_w",
        STEPS.but(scores=lambda hidden: hidden.sum(dim=-1)),
        STEPS.but(scores=lambda hidden: hidden.mean(dim=-1)),
        does="`w` is not used",
        says=(
            "The entries of each hidden vector are added up or averaged as they are: {does}. It says how much each of "
            "them counts, and is what the network learns."
        ),
        hints=["Does `w` occur in the code? What does it do in w · tanh(…)?"],
    ),
    Mistake(
        "w_before_tanh",
        STEPS.but(hidden=lambda sums, w: torch.tanh(sums * w), scores=lambda hidden: hidden.sum(dim=-1)),
        does="the sums are multiplied by `w` before the tanh",
        says="The sums are multiplied by `w` inside the tanh. In the formula, `w` comes after it.",
        hints=["In w · tanh(…), what is inside the tanh?"],
    ),
    Mistake(
        "scaled_as_well",
        STEPS.but(scores=lambda scores, w: scores / len(w) ** 0.5),
        STEPS.but(scores=lambda scores, keys: scores / keys.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5).attempt,
        does="the scores are divided by a root",
        says="The scores are divided by the root of a width. There is no such division in additive attention.",
        hints=["Compare with the formula: w · tanh(W_q q + W_k k)."],
    ),
]
