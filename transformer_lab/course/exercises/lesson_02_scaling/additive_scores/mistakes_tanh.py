"""What goes wrong in additive scores after the sum of query and key: with tanh, and with w."""

import torch

from transformer_lab.course.exercise import Mistake


def _hidden(queries, keys, w_q, w_k):
    return (queries @ w_q.mT)[:, :, None, :] + (keys @ w_k.mT)[:, None, :, :]


def no_tanh(queries, keys, w_q, w_k, w):
    return _hidden(queries, keys, w_q, w_k) @ w


def tanh_at_the_end(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_q, w_k) @ w)


def tanh_before_adding(queries, keys, w_q, w_k, w):
    return (torch.tanh(queries @ w_q.mT)[:, :, None, :] + torch.tanh(keys @ w_k.mT)[:, None, :, :]) @ w


def multiplies_instead_of_adding(queries, keys, w_q, w_k, w):
    return torch.tanh((queries @ w_q.mT)[:, :, None, :] * (keys @ w_k.mT)[:, None, :, :]) @ w


def relu_instead_of_tanh(queries, keys, w_q, w_k, w):
    return torch.relu(_hidden(queries, keys, w_q, w_k)) @ w


def forgets_w(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_q, w_k)).sum(dim=-1)


def weighed_but_not_added(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_q, w_k)) * w


def w_on_the_left(queries, keys, w_q, w_k, w):
    return w @ torch.tanh(_hidden(queries, keys, w_q, w_k))


def keeps_the_axis(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_q, w_k)) @ w[:, None]


def weights_instead_of_scores(queries, keys, w_q, w_k, w):
    return torch.softmax(torch.tanh(_hidden(queries, keys, w_q, w_k)) @ w, dim=-1)


MISTAKES = [
    Mistake(
        "no_tanh",
        [no_tanh],
        says=(
            "The tanh is missing. Without it a score is (something of the query) + (something of the key): the best key is "
            "the same for every query."
        ),
        hints=[
            "Compare with the formula: w · tanh(W_q q + W_k k).",
            "Between the sum and the product with `w` a step is missing.",
            "`torch.tanh` of the sums.",
        ],
    ),
    Mistake(
        "tanh_at_the_end",
        [tanh_at_the_end],
        says=(
            "Every score is squeezed between -1 and 1: the tanh stands round the whole score. Look at the order: which "
            "comes first, tanh or w?"
        ),
        hints=[
            "In w · tanh(…), what is inside the tanh?",
            "The tanh works on vectors of width d_h, before `w` makes one number of them.",
            "tanh of the sums, then `@ w`.",
        ],
    ),
    Mistake(
        "tanh_before_adding",
        [tanh_before_adding],
        says=(
            "The best key is the same for every query: the tanh is taken of each side before the two are added, so a score "
            "falls apart into a part of the query and a part of the key. Look at what the tanh should see."
        ),
        hints=[
            "In tanh(W_q q + W_k k), which happens first?",
            "Query and key have to meet *inside* the tanh.",
            "Add first, then tanh.",
        ],
    ),
    Mistake(
        "multiplies_instead_of_adding",
        [multiplies_instead_of_adding],
        says=(
            "Query and key are multiplied inside the tanh. This kind of attention is called additive: look at the sign "
            "between them."
        ),
        hints=[
            "Compare with w · tanh(W_q q + W_k k).",
            "Broadcasting works the same for + as for *.",
            "Add.",
        ],
    ),
    Mistake(
        "relu_instead_of_tanh",
        [relu_instead_of_tanh],
        says="ReLU stands where the formula has tanh. It can work as attention too, but it is not what was asked for.",
        hints=[
            "Which function stands in the formula?",
            "It maps to between -1 and 1.",
            "`torch.tanh`.",
        ],
    ),
    Mistake(
        "forgets_w",
        [forgets_w],
        says=(
            "The entries of each hidden vector are added up as they are: `w` is not used. It says how much each of them "
            "counts, and is what the network learns."
        ),
        hints=[
            "Does `w` occur in the code? What does it do in w · tanh(…)?",
            "A dot product with `w`: multiply entry by entry by `w`, then add.",
            "`@ w` in place of the sum.",
        ],
    ),
    Mistake(
        "weighed_but_not_added",
        [weighed_but_not_added],
        says=(
            "A whole vector comes out for every pair: its entries have been multiplied by those of `w`, but nothing adds "
            "them up. Look at the shape."
        ),
        hints=[
            "How many numbers should come out for each pair of query and key?",
            "In w · tanh(…) the dot is a dot product: multiply, then add along the width.",
            "`@ w` does both.",
        ],
    ),
    Mistake(
        "w_on_the_left",
        [w_on_the_left],
        says=(
            "`w @ …` meets the second-to-last axis of what stands on its right, that of the keys. That crashes, or, where "
            "the numbers happen to fit, mixes keys with each other. Look at which side `w` stands on."
        ),
        hints=[
            "The hidden vectors have the shape (batch, n_query, n_key, d_h). Which axis should be gone at the end?",
            "In a product with a vector on the right, the *last* axis of the left side goes.",
            "tanh of the sums, then `@ w`.",
        ],
    ),
    Mistake(
        "keeps_the_axis",
        [keeps_the_axis],
        says=(
            "The numbers are right, but each lies in an axis of its own, of length 1. Look at the shape, and at that of "
            "`w`."
        ),
        hints=[
            "Print the shape of the result. Which axis should not be there?",
            "With `w` as a column, of shape (d_h, 1), `@` leaves an axis of length 1 behind; so does `keepdim=True`.",
            "`w` is a vector of width d_h: `@ w` takes the last axis away.",
        ],
    ),
    Mistake(
        "weights_instead_of_scores",
        [weights_instead_of_scores],
        says="These are weights: they add up to 1. The scores before the softmax are asked for.",
        hints=[
            "Is there a softmax in the code?",
            "The function is called additive_*scores*.",
            "Return what goes into the softmax.",
        ],
    ),
]
