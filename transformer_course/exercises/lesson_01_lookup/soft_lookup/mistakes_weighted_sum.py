"""What goes wrong when one query is looked up: with how its weights mix the values."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.soft_lookup.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded
from transformer_course.exercises.shared.single_query_mistakes import of_the_sum

MISTAKES = [
    Mistake(
        "mixes_the_keys",
        STEPS.but(weighted=lambda column, keys: column * keys),
        does="the keys are mixed, not the values",
        says="The keys are mixed. They have done their work once the weights are known; the values are handed over.",
        hints=["Which width should the result have, that of the keys or that of the values?"],
    ),
    Mistake(
        "only_the_weights",
        STEPS.but(found=lambda weights: weights),
        does="the weights are handed back, and no values",
        says="These are the weights, one number per key. The values have not been mixed yet.",
        hints=["Do the values occur in the code at all?"],
    ),
    Mistake(
        "values_not_added",
        STEPS.but(mixture=lambda weighted: weighted),
        does="the weighted values are not added up",
    ),
    Mistake(
        "adds_over_the_width",
        STEPS.but(axis=lambda: -1),
        STEPS.but(axis=lambda: (0, 1)),
        does="the sum runs along the width of the values",
    ),
    *of_the_sum(STEPS, "mixture", 0, "values", "keys"),
    Mistake(
        "weights_along_the_width",
        STEPS.but(weighted=lambda weights, values: weights * values),
        does="the n weights meet the *width* of the values",
        says=(
            "Broadcasting lines the n weights up with the *width* of the values. That crashes, or, where the numbers "
            "happen to fit, weighs entries instead of values. Look at the two shapes."
        ),
        hints=["Broadcasting lines shapes up from the right: (n,) and (n, d_v). Which axes meet?"],
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
        "matrix_product_of_a_column",
        STEPS.but(weighted=lambda column, values: column @ values),
        does="a matrix product meets the weights as a column, (n, 1)",
        says=(
            "A matrix product meets the weights as a column: (n, 1) does not fit (n, d_v), and it crashes. Look at "
            "the shape of the weights, and at which product is meant."
        ),
        hints=["In `a @ b`, which two lengths have to be equal? Are they, in (n, 1) and (n, d_v)?"],
    ),
    Mistake(
        "first_pair_left_out",
        STEPS.but(keys=lambda keys: keys[1:], values=lambda values: values[1:]),
        STEPS.but(weighted=lambda weighted: weighted[1:]),
        STEPS.but(mixture=lambda weighted: sum(weighted[1:])),
        does="the first key and its value are left out",
        says="The value of the first key never takes part. Look at where the counting begins.",
        hints=["What comes out if only the first key matches?"],
    ),
    Mistake(
        "last_pair_left_out",
        STEPS.but(keys=lambda keys: keys[:-1], values=lambda values: values[:-1]),
        STEPS.but(weighted=lambda weighted: weighted[:-1]),
        STEPS.but(mixture=lambda weighted: sum(weighted[:-1])),
        does="the last key and its value are left out",
        says="The value of the last key never takes part. Look at where the counting ends.",
        hints=["What comes out if only the last key matches?"],
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
    Mistake(
        "as_many_keys_as_entries",
        STEPS.but(mixture=lambda weighted, query: sum(weighted[i] for i in range(len(query)))),
        STEPS.but(weighted=lambda weighted, query: weighted[: len(query)]),
        does="as many values are added as the query has *entries*",
        says=(
            "{does}: some are left out, or a loop runs past the end. There is one for each key. Look at what is "
            "counted."
        ),
        hints=["What is `len(query)` for a query of width 2? How many keys are there?"],
    ),
    Mistake(
        "weights_returned_too",
        STEPS.but(found=lambda found, weights: (found, weights)),
        STEPS.but(found=lambda found, weights: (weights, found)),
        does="the weights are handed back beside what is found",
        says="A pair comes out: what is found, and the weights. Only what is found is asked for.",
        hints=["What does `type(...)` say of the result?"],
    ),
    Mistake(
        "something_added",
        STEPS.but(found=lambda found, values: found + values.mean(dim=0)),
        STEPS.but(found=lambda found, values, scores: found + values[scores.argmax()]),
        STEPS.but(found=lambda found, values: found + values[-1]),
        STEPS.but(found=lambda found, values: found + values[0]).attempt,
        STEPS.but(found=lambda found, query: found + query).attempt,
        does="something is added to the weighted average",
        says="Something is added to the weighted average of the values. The weighted average alone is asked for.",
        hints=["With a single key, its value should be found. Is it?"],
    ),
    rounded(STEPS, "weights", "found"),
    *of_the_result(
        STEPS,
        "result_transposed",
        "function_of_the_result",
        "result_in_a_list",
        "only_the_first_result",
    ),
]
