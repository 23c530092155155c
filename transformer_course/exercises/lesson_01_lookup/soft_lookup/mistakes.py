"""What goes wrong when one query is looked up: with its scores, and with how its weights mix the values."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.soft_lookup.answer import STEPS

MISTAKES = [
    Mistake(
        "scaled_too_early",
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1] ** 0.5),
        does="the scores are divided by √d",
        says="{does}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked for.",
        hints=["Compare with `similarity`. Is anything divided there?"],
    ),
    Mistake(
        "hard_lookup",
        STEPS.but(weights=lambda scores: F.one_hot(scores.argmax(), len(scores)).float()),
        does="the key with the largest score gets all of the weight",
        says="{does}, so a single value comes out, as from a dictionary. A soft lookup mixes all of them.",
        hints=["Do values other than that of the best key play a part in the result?"],
    ),
    Mistake(
        "values_on_the_left",
        STEPS.but(mixture=lambda weights, values: values @ weights),
        STEPS.but(mixture=lambda weights, values: weights @ values.mT),
        does="a matrix product pairs the n weights with the *width* of the values",
        says=(
            "The product pairs the n weights with the *width* of the values. That crashes, or, where the numbers "
            "happen to fit, mixes the entries of each value instead of the values. Look at the order of the product."
        ),
        hints=["(n, d_v) @ (n,): which two numbers would have to be equal?"],
    ),
    Mistake(
        "only_one_value",
        STEPS.but(mixture=lambda weighted: weighted[-1]),
        STEPS.but(mixture=lambda weighted: weighted[0]),
        does="only one of the weighted values arrives",
        says="{does}, the last or the first: in a loop, each turn may throw away what the one before it found.",
        hints=["How many of the values does the result depend on?"],
    ),
]
