"""What goes wrong when an output is divided among its heads."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.head_contributions.answer import STEPS


def merged(heads):
    return heads.transpose(1, 2).flatten(2)


def split(output, n_heads, width):
    return output.reshape(*output.shape[:2], n_heads, width).transpose(1, 2)


def without_head(heads, w_o):
    whole, others = merged(heads) @ w_o.T, []
    for i in range(heads.shape[1]):
        silenced = heads.clone()
        silenced[:, i] = 0
        others.append(merged(silenced) @ w_o.T)
    return whole, torch.stack(others, dim=1)


def in_a_table_too_wide(heads, terms, w_o):
    table = terms.new_zeros(*terms.shape[:-1], w_o.shape[1])
    table += terms
    return table


MISTAKES = [
    Mistake(
        "every_other_column",
        STEPS.but(own=lambda heads: lambda head: slice(head, None, heads.shape[1])),
        does="the features of the merged vector are dealt out in turn: head 0 gets 0, h, 2h and so on",
        says=(
            "The columns of w_o are dealt out in turn: head 0 gets columns 0, h, 2h … Each head owns d_k "
            "neighbouring columns. Look at how the columns of one head are chosen."
        ),
        hints=["In the merged vector, where do the numbers of head 0 stand?"],
    ),
    Mistake(
        "the_whole_output",
        STEPS.but(terms=lambda heads, w_o: merged(heads) @ w_o.T),
        STEPS.but(contributions=lambda scaled: scaled.sum(dim=1)),
        does="the terms of all heads are added up",
        says="This is the output of all heads together. What each head adds is asked for: one more axis.",
        hints=["The shape asked for is (batch, n_heads, n, d_out). Which is it now?"],
    ),
    Mistake(
        "the_whole_output_for_every_head",
        STEPS.but(scaled=lambda terms: terms.sum(dim=1, keepdim=True).expand_as(terms)),
        STEPS.but(scaled=lambda terms: terms.mean(dim=1, keepdim=True).expand_as(terms)),
        does="every head gets the whole output, or an equal share of it",
        says=(
            "Every head is said to give the same: the whole output, or an equal part of it. What each adds by itself "
            "is asked for."
        ),
        hints=["Are the terms of two heads different?"],
    ),
    Mistake(
        "all_other_heads",
        STEPS.but(terms=lambda heads, w_o: without_head(heads, w_o)[1]),
        STEPS.but(terms=lambda heads, w_o: without_head(heads, w_o)[1] - without_head(heads, w_o)[0][:, None]),
        STEPS.but(terms=lambda heads, w_o: without_head(heads, w_o)[1] / max(heads.shape[1] - 1, 1)).attempt,
        does="the output without a head, or its change, stands for what the head adds",
        says=(
            "This is made of the output without a head, which the *other* heads give. What a head adds is its own part."
        ),
        hints=["If all heads but one were 0, what would the output be?"],
    ),
    Mistake(
        "side_by_side",
        STEPS.but(contributions=lambda scaled: scaled.transpose(1, 2).flatten(2)),
        STEPS.but(contributions=lambda scaled: scaled.flatten(1, 2)).attempt,
        does="the terms are joined along an axis they have, without one of their own",
        says=(
            "The terms are joined along an axis they have. Each head should keep an axis of its own. Look at what "
            "joins them."
        ),
        hints=["The shape asked for is (batch, n_heads, n, d_out). Which is it now?"],
    ),
    Mistake(
        "the_output_cut_into_heads",
        STEPS.but(terms=lambda heads, w_o: split(merged(heads) @ w_o.T, heads.shape[1], -1)),
        STEPS.but(
            terms=lambda heads, w_o: split(merged(heads) @ w_o.T, heads.shape[1], len(w_o) // heads.shape[1])
        ).attempt,
        does="the whole output is cut into as many pieces as there are heads",
        says=(
            "The whole output is computed and then cut into pieces. But every head adds to *every* feature of the "
            "output: w_o has mixed them already. Look at what is cut, and when."
        ),
        hints=["How wide is what one head adds? The shape asked for is (batch, n_heads, n, d_out)."],
    ),
    Mistake(
        "cut_before_it_is_turned",
        STEPS.but(terms=lambda heads, w_o: heads @ w_o.reshape(heads.shape[1], heads.shape[3], -1)),
        does="w_o is cut into heads row by row, as if it had a row for each feature of the merged vector",
        says=(
            "w_o is cut into heads row by row, as if it had a row for each feature of the merged vector. It has a "
            "*column* for each, so every head gets numbers of other heads. Look at what comes before the cut."
        ),
        hints=["`w_o` has the shape (d_out, d_merged). Which of its numbers does head 0 get, and which should it get?"],
    ),
    Mistake(
        "w_o_not_cut",
        STEPS.but(terms=lambda heads, w_o: heads @ w_o.T),
        STEPS.but(terms=lambda heads, w_o: heads @ w_o),
        does="a head meets the whole of w_o",
        says=(
            "A head is d_k wide, and w_o has a column for each feature of *all* heads: the product crashes, or means "
            "nothing. Look at the shapes on both sides of it."
        ),
        hints=["How many columns has w_o, and how many numbers has one head at one position?"],
    ),
    Mistake(
        "as_wide_as_the_heads_together",
        STEPS.but(contributions=in_a_table_too_wide),
        does="the result is made as wide as all heads together, not as wide as the output",
        says=(
            "The result is made as wide as all heads together. An output may have another width: that is the number of "
            "*rows* of w_o. It crashes where the two differ. Look at where the last size comes from."
        ),
        hints=["`w_o` has the shape (d_out, d_merged). Which of the two is the width of the result?"],
    ),
]
