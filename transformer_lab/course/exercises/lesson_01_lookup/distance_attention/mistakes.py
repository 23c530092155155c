"""What goes wrong when keys are weighed by nearness."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def _squared(queries, keys):
    return (queries[..., :, None, :] - keys[..., None, :, :]).square().sum(dim=-1)


def far_away_wins(queries, keys, values):
    return torch.softmax(_squared(queries, keys) / 2, dim=-1) @ values


def forgets_the_half(queries, keys, values):
    return torch.softmax(-_squared(queries, keys), dim=-1) @ values


def forgets_the_square(queries, keys, values):
    return torch.softmax(-_squared(queries, keys).sqrt() / 2, dim=-1) @ values


def forgets_the_square_and_the_half(queries, keys, values):
    return torch.softmax(-_squared(queries, keys).sqrt(), dim=-1) @ values


def still_dot_products(queries, keys, values):
    return torch.softmax(queries @ keys.mT, dim=-1) @ values


def never_divided(queries, keys, values):
    return torch.exp(-_squared(queries, keys) / 2) @ values


def distance_over_queries(queries, keys, values):
    return torch.softmax(-_squared(queries, keys) / 2, dim=-2) @ values


def distance_axis_from_the_front(queries, keys, values):
    return torch.softmax(-_squared(queries, keys) / 2, dim=1) @ values


def only_the_weights(queries, keys, values):
    return torch.softmax(-_squared(queries, keys) / 2, dim=-1)


def query_i_with_key_i(queries, keys, values):
    squared = (queries - keys).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def key_i_with_query_i(queries, keys, values):
    squared = (keys - queries).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def pairs_from_the_front(queries, keys, values):
    squared = (queries[:, None] - keys[None]).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def pairs_from_the_front_turned_round(queries, keys, values):
    squared = (keys[None] - queries[:, None]).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def pairs_behind_one_batch_axis(queries, keys, values):
    squared = (queries[:, :, None] - keys[:, None]).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def rows_are_keys(queries, keys, values):
    return torch.softmax(-_squared(keys, queries) / 2, dim=-1) @ values


def rows_are_keys_and_share_out(queries, keys, values):
    return torch.softmax(-_squared(keys, queries) / 2, dim=-2) @ values


MISTAKES = [
    Mistake(
        "far_away_wins",
        [far_away_wins],
        says="The keys that are farthest away get the largest weights. Look at the sign of the scores.",
        hints=[
            "What is the score of a key that equals the query? Is it the largest or the smallest?",
            "A softmax prefers large scores.",
            "Put a minus in front of the distances.",
        ],
    ),
    Mistake(
        "forgets_the_half",
        [forgets_the_half],
        says="The scores are twice as large as asked for, so the weights are too sharp. Look for the factor ½.",
        hints=[
            "Compare the score of two points at distance 2 with −½·2².",
            "Expand −½‖q − k‖²: the middle term should be exactly q·k.",
            "Divide the squared distance by 2.",
        ],
    ),
    Mistake(
        "forgets_the_square",
        [forgets_the_square, forgets_the_square_and_the_half],
        says="The scores grow with the distance itself, not with its square. Look at where the root is taken.",
        hints=[
            "`norm` and `cdist` take a root at the end.",
            "What is asked for is ‖q − k‖², without a root.",
            "Square the distance, or never take the root.",
        ],
    ),
    Mistake(
        "still_dot_products",
        [still_dot_products],
        says=(
            "The scores are still dot products: a key far away in the direction of the query beats one that lies on top of "
            "it. Look at the scores."
        ),
        hints=[
            "Which formula is asked for? Does a difference of query and key occur in the code?",
            "‖q − k‖² is the sum of the squares of the entries of q − k.",
            "For every pair: subtract, square, add along the width, and take minus one half of it as the score.",
        ],
    ),
    Mistake(
        "never_divided",
        [never_divided],
        says=(
            "The weights are positive and fall with the distance, but do not add up to 1: far from all keys, the output "
            "goes to 0. A step is missing."
        ),
        hints=[
            "Print the sum of each row of the weights.",
            "`exp` of the scores is only the first half of a softmax.",
            "`torch.softmax(scores, dim=-1)` in place of the exponential.",
        ],
    ),
    attention_mistakes.softmax_over_the_queries(distance_over_queries),
    attention_mistakes.axis_from_the_front(distance_axis_from_the_front),
    attention_mistakes.only_the_weights(only_the_weights),
    Mistake(
        "query_i_with_key_i",
        [query_i_with_key_i, key_i_with_query_i],
        says=(
            "Query i is compared with key i only: one number each, or a crash as soon as their numbers differ. Every query "
            "has to meet every key. Look at the shapes that are subtracted."
        ),
        hints=[
            "How many distances are there between 2 queries and 3 keys?",
            "Broadcasting forms all pairs if each side has length 1 where the other has its own: (n_query, 1, d) and "
            "(1, n_key, d).",
            "`queries[..., :, None, :] - keys[..., None, :, :]`, then square and add along the last axis.",
        ],
    ),
    attention_mistakes.pairs_from_the_front(
        pairs_from_the_front, also=[pairs_from_the_front_turned_round, pairs_behind_one_batch_axis]
    ),
    Mistake(
        "rows_are_keys",
        [rows_are_keys, rows_are_keys_and_share_out],
        says=(
            "The table of distances has one row per key and one column per query. That crashes in the last product, or, "
            "for as many keys as queries, gives nonsense. Look at which side gets which extra axis."
        ),
        hints=[
            "What shape does the table have for 2 queries and 3 keys? It should be (2, 3).",
            "The queries should vary along the second-to-last axis of the table, the keys along the last.",
            "`queries[..., :, None, :]` and `keys[..., None, :, :]`.",
        ],
    ),
]
