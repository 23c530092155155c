"""What goes wrong when dot products are made cosines: with the lengths that are divided by."""

import torch
from torch.nn.functional import normalize

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def lengths_left_in(queries, keys, values, temperature):
    return torch.softmax(queries @ keys.mT / temperature, dim=-1) @ values


def only_the_queries_normalised(queries, keys, values, temperature):
    return torch.softmax(normalize(queries, dim=-1) @ keys.mT / temperature, dim=-1) @ values


def only_the_keys_normalised(queries, keys, values, temperature):
    return torch.softmax(queries @ normalize(keys, dim=-1).mT / temperature, dim=-1) @ values


def normalises_across_vectors(queries, keys, values, temperature):
    cosines = normalize(queries, dim=-2) @ normalize(keys, dim=-2).mT
    return torch.softmax(cosines / temperature, dim=-1) @ values


def normalises_the_second_axis(queries, keys, values, temperature):
    return torch.softmax(normalize(queries) @ normalize(keys).mT / temperature, dim=-1) @ values


def one_length_for_all(queries, keys, values, temperature):
    cosines = (queries / queries.norm()) @ (keys / keys.norm()).mT
    return torch.softmax(cosines / temperature, dim=-1) @ values


def forgets_keepdim(queries, keys, values, temperature):
    cosines = (queries / queries.norm(dim=-1)) @ (keys / keys.norm(dim=-1)).mT
    return torch.softmax(cosines / temperature, dim=-1) @ values


def forgets_keepdim_of_the_scores(queries, keys, values, temperature):
    cosines = queries @ keys.mT / (queries.norm(dim=-1) * keys.norm(dim=-1))
    return torch.softmax(cosines / temperature, dim=-1) @ values


def lengths_of_keys_in_a_column(queries, keys, values, temperature):
    lengths = queries.norm(dim=-1, keepdim=True) * keys.norm(dim=-1, keepdim=True)
    return torch.softmax(queries @ keys.mT / lengths / temperature, dim=-1) @ values


def lengths_of_keys_in_a_column_one_by_one(queries, keys, values, temperature):
    cosines = queries @ keys.mT / queries.norm(dim=-1, keepdim=True) / keys.norm(dim=-1, keepdim=True)
    return torch.softmax(cosines / temperature, dim=-1) @ values


def lengths_of_keys_in_a_column_first(queries, keys, values, temperature):
    lengths = keys.norm(dim=-1, keepdim=True) * queries.norm(dim=-1, keepdim=True)
    return torch.softmax(queries @ keys.mT / lengths / temperature, dim=-1) @ values


def pairs_from_the_front(queries, keys, values, temperature):
    cosines = torch.cosine_similarity(queries[:, None], keys[None], dim=-1)
    return torch.softmax(cosines / temperature, dim=-1) @ values


def query_i_with_key_i(queries, keys, values, temperature):
    return torch.softmax(torch.cosine_similarity(queries, keys, dim=-1) / temperature, dim=-1) @ values


def query_i_with_key_i_along_axis_one(queries, keys, values, temperature):
    return torch.softmax(torch.cosine_similarity(queries, keys) / temperature, dim=-1) @ values


MISTAKES = [
    Mistake(
        "lengths_left_in",
        [lengths_left_in],
        says="This is the plain dot product: long vectors still get large scores. Nothing has been normalised.",
        hints=[
            "Make a key 10 times longer. Should its cosine with a query change?",
            "cos = q·k / (‖q‖ ‖k‖).",
            "Divide queries and keys by their lengths: `x.norm(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "only_the_queries_normalised",
        [only_the_queries_normalised],
        says="The queries have length 1, the keys still have their own: a long key gets a large score for every query.",
        hints=[
            "How many lengths are in the denominator of the cosine?",
            "Make a key 10 times longer and look at its weight.",
            "Normalise the keys as well.",
        ],
    ),
    Mistake(
        "only_the_keys_normalised",
        [only_the_keys_normalised],
        says="The keys have length 1, the queries still have their own: a long query is sharper than a short one.",
        hints=[
            "How many lengths are in the denominator of the cosine?",
            "Make a query 10 times longer and look at its weights.",
            "Normalise the queries as well.",
        ],
    ),
    Mistake(
        "normalises_across_vectors",
        [normalises_across_vectors],
        says=(
            "The vectors do not have length 1: the normalisation runs across the vectors, not along each one. Look at its "
            "axis."
        ),
        hints=[
            "What is the norm of each row of the normalised keys?",
            "A vector's entries lie along the last axis.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "normalises_the_second_axis",
        [normalises_the_second_axis],
        says=(
            "Right for one table; with a batch in front, the vectors do not have length 1. The axis is counted from the "
            "front: it is number 1, which `normalize` takes when none is named. Look at the axis of the normalisation."
        ),
        hints=[
            "Of keys of shape (7, 3, 4), which length belongs to axis 1, and which is the width?",
            "A negative number counts from the end, where the width always is.",
            "Name the axis: `dim=-1`.",
        ],
    ),
    Mistake(
        "one_length_for_all",
        [one_length_for_all],
        says=(
            "All vectors are divided by one number, the norm of the whole tensor, so long ones stay longer than the "
            "others. Look at what `.norm()` takes together."
        ),
        hints=[
            "How many lengths do 3 keys have? How many numbers does `keys.norm()` give?",
            "Named an axis, `norm` gives one number per vector.",
            "`keys.norm(dim=-1, keepdim=True)`, and the same for the queries.",
        ],
    ),
    Mistake(
        "forgets_keepdim",
        [forgets_keepdim, forgets_keepdim_of_the_scores],
        says=(
            "The lengths meet the wrong axis: `norm(dim=-1)` leaves one number per vector, in a shape that broadcasting "
            "lines up from the right. That crashes, or divides by the lengths of other vectors. Look at the shapes."
        ),
        hints=[
            "Keys of shape (3, 4), lengths of shape (3,): which axes meet?",
            "(3, 4) and (3, 1) fit: each row meets its own length.",
            "`norm(dim=-1, keepdim=True)` leaves the axis in place with length 1.",
        ],
    ),
    Mistake(
        "lengths_of_keys_in_a_column",
        [lengths_of_keys_in_a_column, lengths_of_keys_in_a_column_one_by_one, lengths_of_keys_in_a_column_first],
        says=(
            "The lengths of the keys stand in a column, of shape (n_key, 1), but the keys are the *columns* of the scores. "
            "That crashes, or divides by the lengths of other keys. Look at the shapes."
        ),
        hints=[
            "The scores have the shape (n_query, n_key). Which shape must the lengths of the keys have to meet the "
            "last axis?",
            "It is (1, n_key): the column has to become a row.",
            "Transpose them with `.mT`; or divide the keys by their lengths before the product.",
        ],
    ),
    attention_mistakes.pairs_from_the_front(pairs_from_the_front),
    Mistake(
        "query_i_with_key_i",
        [query_i_with_key_i, query_i_with_key_i_along_axis_one],
        says=(
            "Query i is compared with key i only: `cosine_similarity` pairs row i with row i. It crashes as soon as their "
            "numbers differ. Every query has to meet every key."
        ),
        hints=[
            "How many cosines are there between 2 queries and 3 keys?",
            "Of vectors of length 1, the cosine is the dot product; and all dot products at once are a matrix product.",
            "`queries @ keys.mT` of normalised queries and keys; or give `cosine_similarity` all the pairs, "
            "`queries[..., :, None, :]` and `keys[..., None, :, :]`.",
        ],
    ),
]
