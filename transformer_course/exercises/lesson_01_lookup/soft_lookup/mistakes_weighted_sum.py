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
        hints=[
            "Which width should the result have, that of the keys or that of the values?",
            "In a dict, does one get the key back, or what is stored under it?",
            "Multiply the weights by `values`.",
        ],
    ),
    Mistake(
        "only_the_weights",
        STEPS.but(found=lambda weights: weights),
        does="the weights are handed back, and no values",
        says="These are the weights, one number per key. The values have not been mixed yet.",
        hints=[
            "Do the values occur in the code at all?",
            "How many numbers should come out: as many as there are keys, or as many as a value has entries?",
            "Multiply the weights by the values: `weights @ values`.",
        ],
    ),
    Mistake(
        "values_not_added",
        STEPS.but(mixture=lambda weighted: weighted),
        does="the weighted values are not added up",
        says=(
            "Each value has been multiplied by its weight, but they are not added up: one row per key comes out. Look "
            "at the shape."
        ),
        hints=[
            "How many vectors should come out of one lookup?",
            "A weighted average is a *sum* of weight times value.",
            "Add along the axis of the keys, `dim=0`, or use a matrix product.",
        ],
    ),
    Mistake(
        "adds_over_the_width",
        STEPS.but(axis=lambda: -1),
        STEPS.but(axis=lambda: (0, 1)),
        does="the sum runs along the width of the values",
        says=(
            "One number per key comes out, or a single one: the sum runs along the width, so the entries of each "
            "value are added to each other. The *values* should be added. Look at the axis of the sum."
        ),
        hints=[
            "How many numbers should come out for values of width 5?",
            "The weighted values have the shape (n, d_v). Which of the two axes should be gone at the end?",
            "Add along the axis of the keys: `dim=0`.",
        ],
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
        hints=[
            "Broadcasting lines shapes up from the right: (n,) and (n, d_v). Which axes meet?",
            "Each weight should meet a whole row of `values`. With which shape of the weights does it?",
            "`weights[:, None] * values`, added up over the keys; or a matrix product, which does both.",
        ],
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
        hints=[
            "(n, d_v) @ (n,): which two numbers would have to be equal?",
            "The axis of the keys has to meet the axis of the keys.",
            "`weights @ values`: (n,) @ (n, d_v) gives (d_v,).",
        ],
    ),
    Mistake(
        "matrix_product_of_a_column",
        STEPS.but(weighted=lambda column, values: column @ values),
        does="a matrix product meets the weights as a column, (n, 1)",
        says=(
            "A matrix product meets the weights as a column: (n, 1) does not fit (n, d_v), and it crashes. Look at "
            "the shape of the weights, and at which product is meant."
        ),
        hints=[
            "In `a @ b`, which two lengths have to be equal? Are they, in (n, 1) and (n, d_v)?",
            "A row of weights fits: (n,) or (1, n). A column is right for multiplying entry by entry.",
            "`weights @ values`, without an extra axis.",
        ],
    ),
    Mistake(
        "first_pair_left_out",
        STEPS.but(keys=lambda keys: keys[1:], values=lambda values: values[1:]),
        STEPS.but(weighted=lambda weighted: weighted[1:]),
        STEPS.but(mixture=lambda weighted: sum(weighted[1:])),
        does="the first key and its value are left out",
        says="The value of the first key never takes part. Look at where the counting begins.",
        hints=[
            "What comes out if only the first key matches?",
            "The first place has the number 0.",
            "`range(n)` goes from 0 to n - 1, `range(1, n)` misses place 0.",
        ],
    ),
    Mistake(
        "last_pair_left_out",
        STEPS.but(keys=lambda keys: keys[:-1], values=lambda values: values[:-1]),
        STEPS.but(weighted=lambda weighted: weighted[:-1]),
        STEPS.but(mixture=lambda weighted: sum(weighted[:-1])),
        does="the last key and its value are left out",
        says="The value of the last key never takes part. Look at where the counting ends.",
        hints=[
            "What comes out if only the last key matches?",
            "`range(n)` ends at n - 1 by itself.",
            "There is nothing to subtract from n.",
        ],
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
        hints=[
            "How many of the values does the result depend on?",
            "In a loop: start from zeros before it, and add to them in each turn.",
            "One product does without a loop: `weights @ values`.",
        ],
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
        hints=[
            "What is `len(query)` for a query of width 2? How many keys are there?",
            "The number of keys is the first length in the shape of `keys`, and of `values`.",
            "`len(keys)`; or no counting at all: `weights @ values`.",
        ],
    ),
    Mistake(
        "no_tensor",
        STEPS.but(found=lambda found: found.tolist()),
        STEPS.but(found=lambda found: found.numpy()),
        does="a list or an array comes out, not a tensor",
        says="The numbers come as a list, or as an array of numpy. A tensor is asked for: only that can be trained.",
        hints=[
            "What is the type of the result?",
            "Where is the tensor left?",
            "Compute with the tensors themselves: `weights @ values` is one.",
        ],
    ),
    Mistake(
        "weights_returned_too",
        STEPS.but(found=lambda found, weights: (found, weights)),
        STEPS.but(found=lambda found, weights: (weights, found)),
        does="the weights are handed back beside what is found",
        says="A pair comes out: what is found, and the weights. Only what is found is asked for.",
        hints=[
            "What does `type(...)` say of the result?",
            "A comma behind `return` makes a tuple.",
            "Return the weighted average alone.",
        ],
    ),
    Mistake(
        "function_of_the_mixture",
        STEPS.but(found=lambda found: found.softmax(dim=-1)),
        STEPS.but(found=lambda found: found.tanh()),
        STEPS.but(found=lambda found: found / found.norm()),
        does="the weighted average is put through a further function, such as a softmax",
        says=(
            "Something more is done to the weighted average: a softmax, a `tanh`, a division by its length. The "
            "weighted average itself is asked for."
        ),
        hints=[
            "With a single key, its value should come back unchanged. Does it?",
            "Score, weigh, mix: nothing comes after that.",
            "Return the weighted average as it is.",
        ],
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
        hints=[
            "With a single key, its value should be found. Is it?",
            "Which sum in the code is not that of the weighted average?",
        ],
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
