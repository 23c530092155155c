"""What goes wrong in additive scores before tanh: with the two matrices, and with the pairs of query and key."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.additive_scores.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    Mistake(
        "pairs_from_the_front",
        STEPS.but(sums=lambda from_queries, from_keys: from_queries[:, None] + from_keys[None]),
        does="the pairs of query and key are formed along the wrong axes",
        says=(
            "The axes of length 1 that form the pairs are in the wrong places: the batch comes first, and has to stay "
            "there on both sides. Look at where these axes are put in."
        ),
        hints=attention_mistakes.PAIRS_FROM_THE_FRONT["hints"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(sums=lambda from_queries, from_keys: from_queries + from_keys),
        does="query i is added to key i only",
        says=(
            "{does}: one score each, or a crash as soon as their numbers differ. Every query has to meet every key. "
            "Look at the shapes that are added."
        ),
        hints=["How many scores are there for 3 queries and 5 keys?"],
    ),
    Mistake(
        "matrices_not_transposed",
        STEPS.but(from_queries=lambda queries, w_q: queries @ w_q, from_keys=lambda keys, w_k: keys @ w_k),
        STEPS.but(from_keys=lambda keys, w_k: keys @ w_k),
        STEPS.but(from_queries=lambda queries, w_q: queries @ w_q),
        does="a matrix is not transposed before its product",
        says=(
            "`w_q` has the shape (d_h, d_q), and `w_k` (d_h, d_k): one of them stands to the right of a product as it "
            "is, so that a width meets d_h. That crashes, or, where the two are equal, is silently wrong. Look at the "
            "shapes of both sides."
        ),
        hints=["(n_query, d_q) @ (d_h, d_q): which two numbers have to be equal in a matrix product?"],
    ),
    Mistake(
        "matrices_on_the_left",
        STEPS.but(from_queries=lambda queries, w_q: w_q @ queries, from_keys=lambda keys, w_k: w_k @ keys),
        STEPS.but(from_keys=lambda keys, w_k: w_k @ keys).attempt,
        STEPS.but(from_queries=lambda queries, w_q: w_q @ queries).attempt,
        does="a matrix stands on the left of the queries or keys",
        says=(
            "With a matrix on the left, its width meets the *number* of queries or keys. That crashes, or, where the "
            "two are equal, mixes the vectors with each other. Look at the shapes of both sides."
        ),
        hints=["(d_h, d_q) @ (n_query, d_q): which two numbers have to be equal in a matrix product?"],
    ),
    Mistake(
        "queries_as_columns",
        STEPS.but(from_queries=lambda queries, w_q: w_q @ queries.mT, from_keys=lambda keys, w_k: w_k @ keys.mT),
        STEPS.but(
            sums=lambda queries, keys, w_q, w_k: (w_q @ queries.mT)[:, :, :, None] + (w_k @ keys.mT)[:, :, None, :]
        ),
        does="the projected queries and keys stand in columns",
        says=(
            "W_q q is computed for every query, but as columns: its shape is (batch, d_h, n_query), and what follows "
            "takes the width for the last axis. Look at the order of the axes before the sum."
        ),
        hints=["On which axis do the hidden widths lie after this product, and on which should they?"],
    ),
    Mistake(
        "matrices_swapped",
        STEPS.but(from_queries=lambda queries, w_k: queries @ w_k.mT, from_keys=lambda keys, w_q: keys @ w_q.mT),
        does="`w_q` and `w_k` have changed places",
        says="{does}. That crashes where the widths differ; where they do not, it is silently wrong.",
        hints=["Which matrix has d_q columns?"],
    ),
    Mistake(
        "one_matrix_for_both",
        STEPS.but(from_keys=lambda keys, w_q: keys @ w_q.mT),
        STEPS.but(from_queries=lambda queries, w_k: queries @ w_k.mT),
        does="queries and keys go through the same matrix",
        says="{does}. That crashes where their widths differ; where they do not, it is silently wrong.",
        hints=["Do `w_q` and `w_k` both occur in the code?"],
    ),
    Mistake(
        "not_projected",
        STEPS.but(from_queries=lambda queries: queries),
        STEPS.but(from_keys=lambda keys: keys),
        STEPS.but(from_queries=lambda queries: queries, from_keys=lambda keys: keys),
        does="queries or keys are not projected",
        says=("Queries or keys are added as they come: a matrix is not used. Look at what happens before the sum."),
        hints=["Do `w_q` and `w_k` both occur in the code?"],
    ),
    Mistake(
        "a_key_left_out",
        STEPS.but(keys=lambda keys: keys[:, :-1]),
        STEPS.but(keys=lambda keys: keys[:, 1:]),
        does="the first or the last key is left out",
        says="One key takes no part: the first, or the last. Look at the slices.",
        hints=["How many keys are there, and how many scores does each query get?"],
    ),
    Mistake(
        "rows_are_keys",
        STEPS.but(scores=lambda scores: scores.mT),
        STEPS.but(sums=lambda from_queries, from_keys: from_queries[:, None, :, :] + from_keys[:, :, None, :]),
        does="the table of scores has one row per key",
    ),
    Mistake(
        "subtracts_the_keys",
        STEPS.but(from_keys=lambda from_keys: -from_keys),
        STEPS.but(from_queries=lambda from_queries: -from_queries),
        does="query and key are subtracted, not added",
    ),
    Mistake(
        "multiplies_instead_of_adding",
        STEPS.but(sums=lambda from_queries, from_keys: from_queries[:, :, None, :] * from_keys[:, None, :, :]),
        does="query and key are multiplied, not added",
        says=(
            "Query and key are multiplied inside the tanh. This kind of attention is called additive: look at the sign "
            "between them."
        ),
        hints=["Compare with w · tanh(W_q q + W_k k)."],
    ),
    Mistake(
        "dot_products",
        STEPS.but(scores=lambda from_queries, from_keys: from_queries @ from_keys.mT),
        STEPS.but(scores=lambda from_queries, from_keys, w: (from_queries * w) @ from_keys.mT),
        STEPS.but(scores=lambda from_queries, from_keys: from_queries.tanh() @ from_keys.tanh().mT),
        STEPS.but(scores=lambda from_queries, from_keys, w: (from_queries * w) @ from_keys.mT.tanh()).attempt,
        STEPS.but(scores=lambda from_queries, from_keys, w: ((from_queries * w) @ from_keys.mT).tanh()).attempt,
        STEPS.but(scores=lambda from_queries, from_keys: (from_queries @ from_keys.mT).tanh()).attempt,
        does="the projected queries and keys are multiplied, as in a dot product",
        says="{does}. The formula adds the two, inside a tanh.",
        hints=["Compare with w · tanh(W_q q + W_k k)."],
    ),
]
