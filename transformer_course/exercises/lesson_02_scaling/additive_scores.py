"""Additive attention: scores from a small network instead of a dot product."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.additive import additive_scores


def from_queries(queries, w_q):
    """multiply the queries by `w_q` → the projected queries: W_q q"""
    return queries @ w_q.mT


def from_keys(keys, w_k):
    """multiply the keys by `w_k` → the projected keys: W_k k"""
    return keys @ w_k.mT


def sums(from_queries, from_keys):
    """add every projected key to every projected query → the sums: W_q q + W_k k for every pair"""
    return from_queries[:, :, None, :] + from_keys[:, None, :, :]


def hidden(sums):
    """take the tanh of the sums → the hidden vectors: tanh of the sums"""
    return torch.tanh(sums)


def scores(hidden, w):
    """take the dot product of each hidden vector with `w` → the scores"""
    return hidden @ w


STEPS = InSteps(from_queries, from_keys, sums, hidden, scores, reference=additive_scores)


def additive_scores_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def inputs(batch: int, n_query: int, n_key: int, d_q: int, d_k: int, d_h: int) -> dict[str, Tensor]:
        return {
            "queries": normal(rng, batch, n_query, d_q),
            "keys": normal(rng, batch, n_key, d_k),
            "w_q": normal(rng, d_h, d_q),
            "w_k": normal(rng, d_h, d_k),
            "w": normal(rng, d_h),
        }

    loud = inputs(1, 2, 3, 2, 2, 4)
    loud["queries"][0, 0] *= 400.0
    return [
        Case(inputs(1, 1, 2, 2, 1, 3), "one query of width 2, 2 keys of width 1"),
        Case(inputs(1, 2, 2, 3, 3, 4), "2 queries, 2 keys, both of width 3"),
        Case(inputs(1, 3, 3, 3, 3, 3), "3 queries, 3 keys, everything of width 3"),
        Case(loud, "one query with very large entries, 3 keys"),
        Case(inputs(2, 3, 5, 4, 6, 7), "a batch of 2: 3 queries of width 4, 5 keys of width 6"),
        Case(inputs(3, 23, 29, 11, 13, 17), "a batch of 3: 23 queries of width 11, 29 keys of width 13"),
    ]


MISTAKES = [
    Mistake(
        "mean_over_the_width",
        STEPS.but(scores=lambda hidden, w: (hidden * w).mean(dim=-1)),
        summary="you take the mean over d_h instead of the sum",
        message=(
            "{summary}, so every score is d_h times too small: for w = [1, 1] and tanh(…) = [0.5, 0.25], you get 0.375 "
            "instead of 0.75. Which operation adds up the products without dividing?"
        ),
        hints=["Does w · tanh(W_q q + W_k k) divide the sum of the products by anything?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(sums=lambda from_queries, from_keys: from_queries + from_keys),
        summary="you add key i only to query i",
        message=(
            "{summary}, so you get one score per query, or an error if there are 3 queries and 5 keys. You should add "
            "every key to every query. What shapes do the tensors that you add have?"
        ),
        hints=["How many scores are there for 3 queries and 5 keys?"],
    ),
    Mistake(
        "dot_products",
        STEPS.but(scores=lambda from_queries, from_keys: from_queries @ from_keys.mT),
        STEPS.but(scores=lambda from_queries, from_keys, w: (from_queries * w) @ from_keys.mT),
        summary="you take dot products of the projected queries and keys",
        message=(
            "{summary}: for W_q q = 2 and W_k k = 3, you multiply 2 by 3, but the formula w · tanh(W_q q + W_k k) "
            "takes the tanh of 2 + 3. Where should your code add a query and a key?"
        ),
        hints=["Where is the plus sign of w · tanh(W_q q + W_k k) in your code? Where is the tanh?"],
    ),
    Mistake(
        "tanh_before_adding",
        STEPS.but(
            from_queries=lambda from_queries: from_queries.tanh(),
            from_keys=lambda from_keys: from_keys.tanh(),
            hidden=lambda sums: sums,
        ),
        summary="you apply tanh to the projected queries and keys separately before adding them",
        message=(
            "{summary}. Each score is then a query term plus a key term, so every query ranks the keys in the same "
            "order. What should you apply tanh to?"
        ),
        hints=["In tanh(W_q q + W_k k), which comes first, the sum or the tanh?"],
    ),
    Mistake(
        "forgets_w",
        STEPS.but(scores=lambda hidden: hidden.sum(dim=-1)),
        summary="you never use `w`",
        message=(
            "{summary}, so each score is the plain sum of a hidden vector's entries. `w` should determine how much "
            "each entry counts. What does the formula do with `w` after the tanh?"
        ),
        hints=["What is `w` multiplied by in w · tanh(W_q q + W_k k)?"],
    ),
    Mistake(
        "w_before_tanh",
        STEPS.but(hidden=lambda sums, w: torch.tanh(sums * w), scores=lambda hidden: hidden.sum(dim=-1)),
        summary="you multiply by `w` before the tanh",
        message=(
            "{summary}, so `w` is inside the tanh, and no entry can add more than 1 to a score, however large its "
            "weight. Where is `w` in w · tanh(W_q q + W_k k)?"
        ),
        hints=["For w = 10 and W_q q + W_k k = 1, compare 10 · tanh(1) with tanh(10 · 1). Which one do you compute?"],
    ),
]


EXERCISE = Exercise(
    reference=additive_scores,
    steps=STEPS,
    may_cut_gradients=True,
    cases=additive_scores_cases,
    points=3,
    verified="You score every query against every key, even if their widths differ.",
    hints=[
        "Read the formula from the inside: `w_q` and `w_k` bring a query and a key to the same width. What shape "
        "should the tensor of all W_q q have?",
        "`w_q` has shape (d_h, d_q), and the queries are rows. What should you do to `w_q` so that a matrix product "
        "has shape (batch, n_query, d_h)? (`.mT` swaps the last two dimensions.) The keys work in the same way.",
        "To add every key to every query, give the projected queries the shape (batch, n_query, 1, d_h) and the keys "
        "(batch, 1, n_key, d_h), with `[:, :, None, :]` and `[:, None, :, :]`. Broadcasting forms all the sums.",
        "Take the tanh of the sums, then the dot product with `w` over the last dimension: `@ w`.",
    ],
    messages={
        "call_left_out_hidden": Wording(
            "{summary}, so each score is a query term plus a key term, and every query ranks the keys in the same "
            "order. Which function does the formula apply to the sum?",
            summary="you never apply tanh to the sums",
            hints=["If a score is a query term plus a key term, can two queries prefer different keys?"],
        ),
        "inputs_exchanged_sums: from_keys": Wording(
            "{summary}, so row i holds the scores of key i instead of query i. The scores should have shape (batch, "
            "n_query, n_key). Where should you insert the new dimension of the queries, and where that of the keys?",
            summary="you put the keys in dim 1 and the queries in dim 2 of the sums",
            hints=["For 3 queries and 5 keys, what shape should the scores have? What shape do yours have?"],
        ),
        "function_scores: §.softmax(dim=-1)": Wording(
            "{summary}, which turns the scores into weights: a single key always gets 1, whatever its score. That step "
            "comes later; here, return the scores themselves.",
            summary="you apply a softmax to the scores",
            hints=["Is there a softmax in w · tanh(W_q q + W_k k)?"],
        ),
        "not_transposed_from_keys": Wording(
            "You multiply the keys by `w_k` without transposing it. `w_k` has shape (d_h, d_k), so your code crashes, "
            "or gives wrong scores if d_k = d_h. What should you do to `w_k` first?",
            summary="you don't transpose `w_k`",
            hints=["In (n_key, d_k) @ (d_h, d_k), which sizes would have to be equal?"],
        ),
        "not_indexed_sums: from_queries": Wording(
            "{summary}, so broadcasting lines up queries with keys instead of forming all pairs. Print the shapes of "
            "the two tensors that you add. Which dimension of each tensor should have length 1?",
            summary="you don't add a dimension for the keys to the projected queries",
            hints=["For 3 queries and 5 keys, how many sums should there be for each batch entry?"],
        ),
        "not_transposed_from_queries": Wording(
            "You multiply the queries by `w_q` without transposing it. `w_q` has shape (d_h, d_q), so your code "
            "crashes, or gives wrong scores if d_q = d_h. What should you do to `w_q` first?",
            summary="you don't transpose `w_q`",
            hints=["In (n_query, d_q) @ (d_h, d_q), which sizes would have to be equal?"],
        ),
        "values_exchanged_w_q": Wording(
            "You swap `w_q` and `w_k`. Your code crashes if queries and keys have different widths; if they have the "
            "same width, your scores are wrong. Which matrix should project the queries?",
            summary="you swap `w_q` and `w_k`",
            hints=["`w_q` has shape (d_h, d_q). Is d_q the width of the queries or of the keys?"],
        ),
        "wrong_input_from_keys: w_q": Wording(
            "You use `w_q` for the keys as well as the queries. Your code crashes if queries and keys have different "
            "widths; if they have the same width, your scores are wrong. Which matrix should project the keys?",
            summary="you multiply the keys by `w_q` instead of `w_k`",
            hints=["What shapes do `w_q` and `w_k` have? Which matrix fits keys of width d_k?"],
        ),
        "operator_sums: (from_queries[:, :, None, :]) * (from_keys[:, None, :, :])": Wording(
            "You multiply each projected query by each projected key: for W_q q = 2 and W_k k = 3, you take the tanh "
            "of 6 instead of 5. Which operation is between W_q q and W_k k in the formula?",
            summary="you multiply the projected queries and keys instead of adding them",
            hints=["This kind of attention is called *additive*. What does it add?"],
        ),
        "moved_hidden: scores": Wording(
            "You take the tanh of the whole score, so every score is between −1 and 1. Which comes first in w · "
            "tanh(…), the tanh or the product with w?",
            summary="you take the tanh of the whole score",
            hints=["In w · tanh(W_q q + W_k k), can a score be larger than 1?"],
        ),
    },
    mistakes=MISTAKES,
)
