"""What goes wrong when every key is weighed for every query."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def raw_scores(queries, keys):
    return queries @ keys.mT


def softmax_over_queries(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=-2)


def axis_from_the_front(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=1)


def first_axis(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=0)


def sums_over_everything(queries, keys):
    exponentials = torch.exp(queries @ keys.mT)
    return exponentials / exponentials.sum()


def divides_by_the_sum(queries, keys):
    scores = queries @ keys.mT
    return scores / scores.sum(dim=-1, keepdim=True)


def divides_by_the_sum_of_all(queries, keys):
    scores = queries @ keys.mT
    return scores / scores.sum()


def keys_by_queries(queries, keys):
    return torch.softmax(keys @ queries.mT, dim=-1)


def table_turned_at_the_end(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=-1).mT


def all_axes_turned_at_the_end(queries, keys):
    scores = queries @ keys.mT
    return torch.softmax(scores.permute(*reversed(range(scores.dim()))), dim=-1)


def all_axes_turned_after_the_softmax(queries, keys):
    weights = torch.softmax(queries @ keys.mT, dim=-1)
    return weights.permute(*reversed(range(weights.dim())))


def one_table_at_a_time(queries, keys):
    return torch.stack([torch.softmax(keys @ query, dim=-1) for query in queries])


def one_table_at_a_time_by_sums(queries, keys):
    return torch.stack([torch.softmax((keys * query).sum(dim=-1), dim=-1) for query in queries])


def query_i_with_key_i(queries, keys):
    return torch.softmax((keys * queries).sum(dim=-1), dim=-1)


def query_i_with_key_i_turned_round(queries, keys):
    return torch.softmax((queries * keys).sum(dim=-1), dim=-1)


def query_i_with_key_i_not_weighed(queries, keys):
    return (keys * queries).sum(dim=-1)


def no_transpose(queries, keys):
    return torch.softmax(queries @ keys, dim=-1)


def no_transpose_keys_first(queries, keys):
    return torch.softmax(keys @ queries, dim=-1)


def no_transpose_not_weighed(queries, keys):
    return queries @ keys


def no_transpose_keys_first_not_weighed(queries, keys):
    return keys @ queries


def transposes_the_batch(queries, keys):
    return torch.softmax(queries @ keys.permute(*reversed(range(keys.dim()))), dim=-1)


def transposes_tables_only(queries, keys):
    return torch.softmax(queries @ keys.t(), dim=-1)


def swaps_the_first_two_axes(queries, keys):
    return torch.softmax(queries @ keys.transpose(0, 1), dim=-1)


def swaps_axes_one_and_two(queries, keys):
    return torch.softmax(queries @ keys.transpose(1, 2), dim=-1)


def reshapes_the_keys(queries, keys):
    return torch.softmax(queries @ keys.reshape(keys.shape[-1], keys.shape[-2]), dim=-1)


def reshapes_the_keys_from_the_front(queries, keys):
    return torch.softmax(queries @ keys.reshape(keys.shape[1], keys.shape[0]), dim=-1)


def reshapes_every_table(queries, keys):
    return torch.softmax(queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2]), dim=-1)


def scaled_too_early(queries, keys):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-1)


MISTAKES = [
    Mistake(
        "raw_scores",
        [raw_scores],
        says="These are the scores: rows do not add up to 1 yet. One step is missing.",
        hints=[
            "Print the row sums of what is returned.",
            "Which function turns a row of scores into weights?",
            "A softmax over the last axis, that of the keys: `dim=-1`.",
        ],
    ),
    attention_mistakes.softmax_over_the_queries(softmax_over_queries),
    attention_mistakes.axis_from_the_front(axis_from_the_front),
    attention_mistakes.first_axis(first_axis),
    Mistake(
        "sums_over_everything",
        [sums_over_everything],
        says=(
            "Only the whole table adds up to 1: the sum in the division runs over all queries together. Each row should "
            "add up to 1 by itself. Look at what is summed."
        ),
        hints=[
            "Print `weights.sum(dim=-1)`.",
            "`.sum()` without an axis adds up everything there is.",
            "`parts.softmax` does it row by row; by hand it is `.sum(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "divides_by_the_sum",
        [divides_by_the_sum, divides_by_the_sum_of_all],
        says=(
            "Some weights are negative, and others far above 1: the scores themselves are divided by their sum. Scores may "
            "be negative, weights may not. Look at how the scores become weights."
        ),
        hints=[
            "What happens to the scores 1 and -1?",
            "Which function of the lesson makes weights of scores of either sign?",
            "`parts.softmax(scores)`.",
        ],
    ),
    Mistake(
        "keys_by_queries",
        [keys_by_queries, table_turned_at_the_end, all_axes_turned_at_the_end, all_axes_turned_after_the_softmax],
        says=(
            "The table has one row per *key*. It should have one row per query. Look at the order of the product, and for "
            "a transposition at the end."
        ),
        hints=[
            "What shape comes out for 2 queries and 3 keys? Which is asked for?",
            "In `a @ b`, the rows of the result are the rows of a.",
            "The queries go on the left, the transposed keys on the right: `queries @ keys.mT`, and no other turning.",
        ],
    ),
    Mistake(
        "query_i_with_key_i",
        [query_i_with_key_i, query_i_with_key_i_turned_round, query_i_with_key_i_not_weighed],
        says=(
            "Query i is compared with key i only: one number each, or a crash as soon as there are more keys than queries. "
            "Every query has to meet every key."
        ),
        hints=[
            "How many scores are there for 2 queries and 3 keys?",
            "`*` pairs row i with row i. Which product pairs every row with every column?",
            "A matrix product: the queries, times the keys turned into columns, `keys.mT`.",
        ],
    ),
    attention_mistakes.one_table_at_a_time(one_table_at_a_time, also=[one_table_at_a_time_by_sums]),
    attention_mistakes.keys_not_transposed(
        no_transpose, also=[no_transpose_keys_first, no_transpose_not_weighed, no_transpose_keys_first_not_weighed]
    ),
    attention_mistakes.transposes_the_batch(transposes_the_batch, also=[transposes_tables_only]),
    attention_mistakes.swaps_axes_from_the_front(swaps_the_first_two_axes, also=[swaps_axes_one_and_two]),
    attention_mistakes.reshapes_the_keys(
        reshapes_the_keys, also=[reshapes_the_keys_from_the_front, reshapes_every_table]
    ),
    Mistake(
        "scaled_too_early",
        [scaled_too_early],
        says=(
            "The scores are divided by √d. That is lesson 02, and a good idea, but here the plain dot products are asked "
            "for."
        ),
        hints=[
            "The formula of this lesson is softmax(q kᵀ).",
            "Is there a square root in the code?",
            "Leave the division out for now.",
        ],
    ),
]
