"""What goes wrong in scaled dot-product attention, though the scaling is right."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import attention_mistakes


def _weights(queries, keys):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-1)


def scaled_scores_instead_of_weights(queries, keys, values):
    return queries @ keys.mT / queries.shape[-1] ** 0.5 @ values


def scaled_softmax_over_queries(queries, keys, values):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-2) @ values


def scaled_axis_from_the_front(queries, keys, values):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=1) @ values


def scaled_along_the_first_axis(queries, keys, values):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=0) @ values


def keys_not_transposed(queries, keys, values):
    return torch.softmax(queries @ keys / queries.shape[-1] ** 0.5, dim=-1) @ values


def transposes_the_batch(queries, keys, values):
    turned = keys.permute(*reversed(range(keys.dim())))
    return torch.softmax(queries @ turned / queries.shape[-1] ** 0.5, dim=-1) @ values


def swaps_the_first_two_axes(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(0, 1) / queries.shape[-1] ** 0.5, dim=-1) @ values


def swaps_axes_one_and_two(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5, dim=-1) @ values


def only_the_weights(queries, keys, values):
    return _weights(queries, keys)


def weights_as_well(queries, keys, values):
    return _weights(queries, keys) @ values, _weights(queries, keys)


def values_on_the_left(queries, keys, values):
    return values @ _weights(queries, keys)


def values_transposed(queries, keys, values):
    return _weights(queries, keys) @ values.mT


MISTAKES = [
    attention_mistakes.scores_instead_of_weights(scaled_scores_instead_of_weights),
    attention_mistakes.softmax_over_the_queries(scaled_softmax_over_queries),
    attention_mistakes.axis_from_the_front(scaled_axis_from_the_front),
    attention_mistakes.first_axis(scaled_along_the_first_axis),
    attention_mistakes.keys_not_transposed(keys_not_transposed),
    attention_mistakes.transposes_the_batch(transposes_the_batch),
    attention_mistakes.swaps_axes_from_the_front(swaps_the_first_two_axes, also=[swaps_axes_one_and_two]),
    attention_mistakes.only_the_weights(only_the_weights),
    attention_mistakes.values_on_the_left(values_on_the_left, also=[values_transposed]),
    Mistake(
        "weights_as_well",
        [weights_as_well],
        says=(
            "Two things come back, the output and the weights. That is useful for looking inside, but the output alone is "
            "asked for."
        ),
        hints=[
            "What does the annotation after `->` promise?",
            "Look at the `return`: a comma there makes a pair.",
            "Return the mixed values only: `weights @ values`.",
        ],
    ),
]
