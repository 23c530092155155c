"""Scores by a small network instead of a dot product."""

from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_02_scaling.additive_scores.answer import STEPS
from transformer_course.exercises.lesson_02_scaling.additive_scores.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_lab.attention.additive import additive_scores


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


ADDITIVE_SCORES = Exercise(
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
    told={
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
