"""What goes wrong when the width of the keys is looked for: another length is taken for d_k."""

import torch

from transformer_lab.course.exercise import Mistake


def _divided(queries, keys, values, by):
    return torch.softmax(queries @ keys.mT / by, dim=-1) @ values


def root_of_the_number_of_keys(queries, keys, values):
    return _divided(queries, keys, values, keys.shape[-2] ** 0.5)


def root_of_the_number_of_queries(queries, keys, values):
    return _divided(queries, keys, values, queries.shape[-2] ** 0.5)


def root_of_the_first_length(queries, keys, values):
    return _divided(queries, keys, values, len(keys) ** 0.5)


def root_of_the_first_length_of_the_queries(queries, keys, values):
    return _divided(queries, keys, values, len(queries) ** 0.5)


def root_of_the_second_length(queries, keys, values):
    return _divided(queries, keys, values, keys.shape[1] ** 0.5)


def root_of_the_second_length_of_the_queries(queries, keys, values):
    return _divided(queries, keys, values, queries.shape[1] ** 0.5)


def root_of_d_v(queries, keys, values):
    return _divided(queries, keys, values, values.shape[-1] ** 0.5)


def a_fixed_width(queries, keys, values):
    return _divided(queries, keys, values, 64**0.5)


def the_width_of_the_experiment(queries, keys, values):
    return _divided(queries, keys, values, 512**0.5)


def the_width_of_the_last_loop(queries, keys, values):
    return _divided(queries, keys, values, 1024**0.5)


def a_width_from_nowhere(queries, keys, values):
    return torch.softmax(queries @ keys.mT / d_k**0.5, dim=-1) @ values  # type: ignore[name-defined]  # noqa: F821


MISTAKES = [
    Mistake(
        "root_of_the_number_of_keys",
        [root_of_the_number_of_keys],
        says=(
            "The divisor is the root of the number of keys. How many keys there are has nothing to do with the size of a "
            "single score: look at which length is taken."
        ),
        hints=[
            "How many products are added up in one score?",
            "`shape[-2]` counts vectors, `shape[-1]` is their width.",
            "d_k is `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "root_of_the_number_of_queries",
        [root_of_the_number_of_queries],
        says=(
            "The divisor is the root of the number of queries. A score does not know how many other queries there are: "
            "look at which length is taken."
        ),
        hints=[
            "How many products are added up in one score?",
            "`shape[-2]` counts vectors, `shape[-1]` is their width.",
            "d_k is `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "root_of_the_first_length",
        [root_of_the_first_length, root_of_the_first_length_of_the_queries],
        says=(
            "The divisor is the root of the *first* length: `len(…)` and `shape[0]` count the vectors of a table, or the "
            "tables of a batch. Neither changes the size of a single score. Look at which length is taken."
        ),
        hints=[
            "How many products are added up in one score?",
            "Of keys of shape (7, 3, 4), `len` is 7. Which of the three numbers is d_k, and where does it stand?",
            "d_k is the last one: `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "root_of_the_second_length",
        [root_of_the_second_length, root_of_the_second_length_of_the_queries],
        says=(
            "Right for one table; with a batch in front, `shape[1]` counts vectors, because it is counted from the front. "
            "Look at how the width is found."
        ),
        hints=[
            "Of keys of shape (7, 3, 4), `shape[1]` is 3. Which of the numbers is d_k?",
            "Which index means the last length, however many stand in front?",
            "`queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "root_of_d_v",
        [root_of_d_v],
        says=(
            "The divisor is the root of the width of the *values*. It often equals that of the keys, and then nobody "
            "notices, but the values take no part in the scores."
        ),
        hints=[
            "Which vectors are multiplied in a score?",
            "How many products are added up in q·k?",
            "Take the width from the queries: `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "a_fixed_width",
        [a_fixed_width, the_width_of_the_experiment, the_width_of_the_last_loop],
        says=(
            "The divisor is the same number whatever the width of the vectors: a fixed one, or one that another cell of "
            "the notebook has left behind. Look at where the divisor comes from."
        ),
        hints=[
            "Does every name in the function stand for an argument, or for something made inside it?",
            "The width has to be read off the arguments, at every call.",
            "`d_k = queries.shape[-1]`, inside the function.",
        ],
    ),
    Mistake(
        "a_width_from_nowhere",
        [a_width_from_nowhere],
        says=(
            "`d_k` is not the name of anything: the function is given queries, keys and values, and the width has to be "
            "found in them."
        ),
        hints=[
            "Which argument knows how wide the vectors are?",
            "`queries.shape` holds all its lengths. At which end stands the width?",
            "First line of the function: `d_k = queries.shape[-1]`.",
        ],
    ),
]
