"""What goes wrong when one query is looked up: with how its weights mix the values."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.soft_lookup.answer import STEPS

MISTAKES = [
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
        says=(
            "Only one value arrives, weighted: the last, if each turn of a loop throws away what the one before it "
            "found, or the first, if a loop is left in its first turn."
        ),
        hints=["How many of the values does the result depend on?"],
    ),
]
