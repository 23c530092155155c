"""What goes wrong when many queries are looked up at once."""

import torch

from transformer_lab.attention.dot_product import soft_lookup
from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def _weights(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=-1)


def attention_without_softmax(queries, keys, values):
    return queries @ keys.mT @ values


def attention_over_queries(queries, keys, values):
    return torch.softmax(queries @ keys.mT, dim=-2) @ values


def attention_axis_from_the_front(queries, keys, values):
    return torch.softmax(queries @ keys.mT, dim=1) @ values


def attention_along_the_first_axis(queries, keys, values):
    return torch.softmax(queries @ keys.mT, dim=0) @ values


def attention_to_the_keys(queries, keys, values):
    return _weights(queries, keys) @ keys


def only_the_weights(queries, keys, values):
    return _weights(queries, keys)


def only_the_best(queries, keys, values):
    best = (queries @ keys.mT).argmax(dim=-1, keepdim=True)
    return torch.take_along_dim(values, best, dim=-2)


def weights_transposed(queries, keys, values):
    return _weights(queries, keys).mT @ values


def keys_ask_the_queries(queries, keys, values):
    return _weights(keys, queries) @ values


def values_on_the_left(queries, keys, values):
    return values @ _weights(queries, keys)


def values_transposed(queries, keys, values):
    return values.mT @ _weights(queries, keys)


def weights_times_values_transposed(queries, keys, values):
    return _weights(queries, keys) @ values.mT


def entry_by_entry(queries, keys, values):
    return _weights(queries, keys) * values


def entry_by_entry_behind(queries, keys, values):
    return values * _weights(queries, keys)


def one_table_at_a_time(queries, keys, values):
    return torch.stack([torch.softmax(keys @ query, dim=0) @ values for query in queries])


def one_table_at_a_time_by_the_library(queries, keys, values):
    return torch.stack([soft_lookup(query, keys, values) for query in queries])


def one_table_at_a_time_by_sums(queries, keys, values):
    rows = [torch.softmax((keys * query).sum(dim=-1), dim=-1) @ values for query in queries]
    return torch.stack(rows)


def one_lookup_for_all(queries, keys, values):
    return torch.softmax(keys @ queries, dim=0) @ values


def one_lookup_for_all_by_the_library(queries, keys, values):
    return soft_lookup(queries, keys, values)


def one_lookup_for_all_by_sums(queries, keys, values):
    return torch.softmax((keys * queries).sum(dim=-1), dim=-1) @ values


def attention_without_transpose(queries, keys, values):
    return torch.softmax(queries @ keys, dim=-1) @ values


def attention_that_transposes_the_batch(queries, keys, values):
    return torch.softmax(queries @ keys.permute(*reversed(range(keys.dim()))), dim=-1) @ values


def attention_that_swaps_the_first_axes(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(0, 1), dim=-1) @ values


def attention_that_swaps_axes_one_and_two(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(1, 2), dim=-1) @ values


def attention_that_transposes_one_table(queries, keys, values):
    return torch.softmax(queries @ keys.t(), dim=-1) @ values


def attention_of_pairs_from_the_front(queries, keys, values):
    return torch.softmax((queries[:, None] * keys[None]).sum(dim=-1), dim=-1) @ values


def attention_for_batches_only(queries, keys, values):
    return torch.bmm(torch.softmax(torch.bmm(queries, keys.mT), dim=-1), values)


def attention_with_a_softmax_too_many(queries, keys, values):
    return torch.softmax(_weights(queries, keys), dim=-1) @ values


def attention_scaled_too_early(queries, keys, values):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-1) @ values


MISTAKES = [
    attention_mistakes.scores_instead_of_weights(attention_without_softmax),
    attention_mistakes.softmax_over_the_queries(attention_over_queries),
    attention_mistakes.axis_from_the_front(attention_axis_from_the_front),
    attention_mistakes.first_axis(attention_along_the_first_axis),
    attention_mistakes.only_the_weights(only_the_weights),
    attention_mistakes.values_on_the_left(
        values_on_the_left, also=[values_transposed, weights_times_values_transposed]
    ),
    attention_mistakes.keys_not_transposed(attention_without_transpose),
    attention_mistakes.transposes_the_batch(
        attention_that_transposes_the_batch, also=[attention_that_transposes_one_table]
    ),
    attention_mistakes.swaps_axes_from_the_front(
        attention_that_swaps_the_first_axes, also=[attention_that_swaps_axes_one_and_two]
    ),
    attention_mistakes.pairs_from_the_front(attention_of_pairs_from_the_front),
    Mistake(
        "attention_for_batches_only",
        [attention_for_batches_only],
        says=(
            "`torch.bmm` wants tables with exactly one axis in front. It crashes where there is none, or more than one. "
            "Look for a product that takes any number."
        ),
        hints=[
            "How many axes have the queries of the case that crashes?",
            "Which sign multiplies the matrices on the last two axes, whatever stands in front?",
            "`queries @ keys.mT`, and `weights @ values`.",
        ],
    ),
    Mistake(
        "attention_with_a_softmax_too_many",
        [attention_with_a_softmax_too_many],
        says=(
            "The weights are nearly the same for all keys: a softmax is taken of something that has been through one "
            "already. Look at what makes weights of scores."
        ),
        hints=[
            "`parts.attention_weights` gives weights. What do their rows add up to?",
            "How many times does a softmax run on the way from the scores to the output?",
            "`parts.attention_weights(queries, keys) @ values`.",
        ],
    ),
    Mistake(
        "attention_to_the_keys",
        [attention_to_the_keys],
        says="The keys are mixed, not the values. The keys only decide *how much*; what is handed over are the values.",
        hints=[
            "Do the values occur in the code at all?",
            "The output has the width of the values.",
            "Weights times `values`.",
        ],
    ),
    Mistake(
        "only_the_best",
        [only_the_best],
        says=(
            "Each query gets the value of its best key only: a hard lookup. No gradient can tell the other keys to "
            "come closer. Every value should take part."
        ),
        hints=[
            "Where does the code choose instead of weighing?",
            "Replace argmax by something soft.",
            "softmax over the keys, then weights times values.",
        ],
    ),
    Mistake(
        "weights_transposed",
        [weights_transposed],
        says=(
            "The weights are the wrong way round: keys and queries have changed places in the last product. It crashes "
            "as soon as their numbers differ. Look at what stands in front of `values`."
        ),
        hints=[
            "(n_key, n_query) @ (n_key, d_v): which numbers have to be equal?",
            "Each *row* of the weights should hold one query's weights.",
            "Leave the transposition of the weights out.",
        ],
    ),
    Mistake(
        "keys_ask_the_queries",
        [keys_ask_the_queries],
        says=(
            "The keys ask, and the queries answer: the two have changed places in the weights. It crashes as soon as their "
            "numbers differ. Look at the order in which queries and keys are handed over."
        ),
        hints=[
            "What shape do the weights have for 2 queries and 3 keys? It should be (2, 3).",
            "`attention_weights` takes the queries first, and gives one row for each of them.",
            "`parts.attention_weights(queries, keys)`.",
        ],
    ),
    Mistake(
        "entry_by_entry",
        [entry_by_entry, entry_by_entry_behind],
        says=(
            "Weights and values are multiplied entry by entry. That crashes, or, where the numbers happen to fit, adds "
            "nothing up: no output is a mixture of values. Look at the last product."
        ),
        hints=[
            "How do (n_query, n_key) and (n_key, d_v) become (n_query, d_v)? Which axis is gone at the end?",
            "A mixture is a *sum* of weight times value, over all the keys.",
            "`@` does both, the products and the sums.",
        ],
    ),
    attention_mistakes.one_table_at_a_time(
        one_table_at_a_time, also=[one_table_at_a_time_by_the_library, one_table_at_a_time_by_sums]
    ),
    Mistake(
        "one_lookup_for_all",
        [one_lookup_for_all, one_lookup_for_all_by_the_library, one_lookup_for_all_by_sums],
        says=(
            "`soft_lookup` looks a single query up: handed a whole table of them, it crashes. Look at the shapes that it "
            "was written for."
        ),
        hints=[
            "`soft_lookup` takes a query of shape (d,). What is the shape of `queries`?",
            "The first steps are there for many queries already: `parts.attention_weights(queries, keys)`.",
            "These weights, `@`, the values.",
        ],
    ),
    Mistake(
        "attention_scaled_too_early",
        [attention_scaled_too_early],
        says=(
            "The scores are divided by √d: usual in Transformers, and the subject of lesson 02. Here the plain dot "
            "products are asked for."
        ),
        hints=[
            "The formula of this lesson is softmax(q kᵀ) v.",
            "Is there a square root in the code, or `F.scaled_dot_product_attention`?",
            "Leave the division out for now.",
        ],
    ),
]
