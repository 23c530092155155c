"""Scores by a small network instead of a dot product."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.additive import additive_scores


def from_queries(queries, w_q):
    """project the queries by `w_q` → W_q q for every query"""
    return queries @ w_q.mT


def from_keys(keys, w_k):
    """project the keys by `w_k` → W_k k for every key"""
    return keys @ w_k.mT


def sums(from_queries, from_keys):
    """add every projected key to every projected query → W_q q + W_k k for every pair"""
    return from_queries[:, :, None, :] + from_keys[:, None, :, :]


def hidden(sums):
    """take the tanh → the hidden vectors: tanh of the sums"""
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
        Case(loud, "one query of very large numbers, 3 keys"),
        Case(inputs(2, 3, 5, 4, 6, 7), "a batch of 2: 3 queries of width 4, 5 keys of width 6"),
        Case(inputs(3, 23, 29, 11, 13, 17), "a batch of 3: 23 queries of width 11, 29 keys of width 13"),
    ]


MISTAKES = [
    Mistake(
        "mean_over_the_width",
        STEPS.but(scores=lambda hidden, w: (hidden * w).mean(dim=-1)),
        summary="the mean over d_h is taken, not the sum",
        message="{summary}: every score is divided by d_h. A dot product is a sum.",
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(sums=lambda from_queries, from_keys: from_queries + from_keys),
        summary="query i is added to key i only",
        message=(
            "{summary}: one score each, or a crash as soon as their numbers differ. Every query has to meet every key. "
            "Look at the shapes that are added."
        ),
        hints=["How many scores are there for 3 queries and 5 keys?"],
    ),
    Mistake(
        "dot_products",
        STEPS.but(scores=lambda from_queries, from_keys: from_queries @ from_keys.mT),
        STEPS.but(scores=lambda from_queries, from_keys, w: (from_queries * w) @ from_keys.mT),
        summary="the projected queries and keys are multiplied, as in a dot product",
        message="{summary}. The formula adds the two, inside a tanh.",
        hints=["Compare with w · tanh(W_q q + W_k k)."],
    ),
    Mistake(
        "tanh_before_adding",
        STEPS.but(
            from_queries=lambda from_queries: from_queries.tanh(),
            from_keys=lambda from_keys: from_keys.tanh(),
            hidden=lambda sums: sums,
        ),
        summary="the tanh is taken of queries and keys before they are added",
        message=(
            "The best key is the same for every query: the tanh is taken of each side before the two are added, so a "
            "score falls apart into a part of the query and a part of the key. Look at what the tanh should see."
        ),
        hints=["In tanh(W_q q + W_k k), which happens first?"],
    ),
    Mistake(
        "forgets_w",
        STEPS.but(scores=lambda hidden: hidden.sum(dim=-1)),
        summary="`w` is not used",
        message=(
            "The entries of each hidden vector are added up as they are: {summary}. It says how much each of them "
            "counts, and is what the network learns."
        ),
        hints=["Does `w` occur in the code? What does it do in w · tanh(…)?"],
    ),
    Mistake(
        "w_before_tanh",
        STEPS.but(hidden=lambda sums, w: torch.tanh(sums * w), scores=lambda hidden: hidden.sum(dim=-1)),
        summary="the sums are multiplied by `w` before the tanh",
        message="The sums are multiplied by `w` inside the tanh. In the formula, `w` comes after it.",
        hints=["In w · tanh(…), what is inside the tanh?"],
    ),
]


EXERCISE = Exercise(
    reference=additive_scores,
    steps=STEPS,
    may_cut_gradients=True,
    cases=additive_scores_cases,
    points=3,
    verified="Every query meets every key, and their widths may differ.",
    hints=[
        "Read the formula from the inside: a query and a key are brought to the same width first. Which shape should "
        "all the W_q q together have?",
        "`w_q` has the shape (d_h, d_q), and the queries are rows. What has to happen to `w_q`, so that a matrix "
        "product gives (batch, n_query, d_h)? (`.mT` swaps the last two axes.) The keys go likewise.",
        "Every query meets every key: give the queries the shape (batch, n_query, 1, d_h) and the keys (batch, 1, "
        "n_key, d_h), with `[:, :, None, :]` and `[:, None, :, :]`, and broadcasting forms all the sums.",
        "tanh of the sums, then the dot product with `w` along the last axis: `@ w`.",
    ],
    messages={
        "not_indexed_sums: from_queries": (
            "The axes of length 1 that form the pairs are in the wrong places: the batch comes first, and has "
            "to stay there on both sides. Look at where these axes are put in."
        ),
        "not_transposed_from_queries": (
            "`w_q` has the shape (d_h, d_q), and `w_k` (d_h, d_k): one of them stands to the right of a "
            "product as it is, so that a width meets d_h. That crashes, or, where the two are equal, is "
            "silently wrong. Look at the shapes of both sides."
        ),
        "values_exchanged_w_q": (
            "`w_q` and `w_k` have changed places. That crashes where the widths differ; where they do not, it "
            "is silently wrong."
        ),
        "wrong_input_from_keys: w_q": (
            "Queries and keys go through the same matrix. That crashes where their widths differ; where they "
            "do not, it is silently wrong."
        ),
        "operator_sums: (from_queries[:, :, None, :]) * (from_keys[:, None, :, :])": (
            "Query and key are multiplied inside the tanh. This kind of attention is called additive: look at "
            "the sign between them."
        ),
        "moved_hidden: scores": (
            "Every score is squeezed between -1 and 1: the tanh stands round the whole score. Look at the "
            "order: which comes first, tanh or w?"
        ),
    },
    mistakes=MISTAKES,
)
