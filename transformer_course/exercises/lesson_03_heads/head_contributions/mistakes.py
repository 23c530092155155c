"""What goes wrong when an output is divided among its heads."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.head_contributions.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result


def merged(heads):
    return heads.transpose(1, 2).flatten(2)


def split(output, n_heads, width):
    return output.reshape(*output.shape[:2], n_heads, width).transpose(1, 2)


def rows_by_reshape(heads, w_o):
    return heads @ w_o.reshape(heads.shape[1], heads.shape[3], -1)


def rows_by_reshape_and_turned(heads, w_o):
    return heads @ w_o.reshape(heads.shape[1], -1, heads.shape[3]).mT


def transposed_rows(heads, w_o, own):
    return torch.stack([heads[:, i] @ w_o[own(i)].T for i in range(heads.shape[1])], dim=1)


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
        "rows_of_w_o",
        STEPS.but(columns=lambda w_o: w_o),
        STEPS.but(terms=rows_by_reshape),
        STEPS.but(terms=rows_by_reshape_and_turned),
        STEPS.but(terms=transposed_rows),
        does="the rows of w_o are dealt out to the heads, not its columns",
        says=(
            "The numbers of w_o are dealt out row by row, so that each head meets numbers of other heads, and the sum "
            "over the heads is not the output. The heads own *columns* of w_o."
        ),
        hints=["In merged @ w_o.T, does a column of w_o meet one number of the merged vector, or do all of them?"],
    ),
    Mistake(
        "pieces_not_transposed",
        STEPS.but(
            terms=lambda heads, w_o, own: torch.stack(
                [heads[:, i] @ w_o[:, own(i)] for i in range(heads.shape[1])], dim=1
            )
        ).attempt,
        says="The columns of w_o that belong to a head meet it as they are. Look at which axes the product pairs.",
        hints=[
            "What are the shapes of a head and of its columns of w_o?",
            "The merged vector meets `w_o.T`, not `w_o`.",
            "Transpose the piece: `.T`.",
        ],
    ),
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
        "the_first_columns_for_all",
        STEPS.but(own=lambda heads: lambda head: slice(0, heads.shape[3])),
        STEPS.but(own=lambda heads: lambda head: slice(-heads.shape[3], None)),
        does="every head meets the same columns of w_o",
        says="Every head is sent through the same columns of w_o, those of one head. Each has columns of its own.",
        hints=["Does the slice of w_o depend on the head?"],
    ),
    Mistake(
        "slices_overlap",
        STEPS.but(own=lambda heads: lambda head: slice(head, head + heads.shape[3])),
        does="the columns of each head begin only one after those of the head before it",
        says=(
            "The slices of w_o overlap: each begins only one column after the one before it. Look at where a slice "
            "begins."
        ),
        hints=["With 3 heads of width 2, which columns does head 1 own?"],
    ),
    Mistake(
        "slices_one_late",
        STEPS.but(own=lambda heads: lambda head: slice(head * heads.shape[3] + 1, (head + 1) * heads.shape[3] + 1)),
        does="the columns of each head begin one too late",
        says=(
            "Each slice of w_o begins one column too late: column i·d_k is left out, and the first of the next head is "
            "taken. Look at where a slice begins."
        ),
        hints=["With 3 heads of width 2, which columns does head 0 own?"],
    ),
    Mistake(
        "columns_in_reverse",
        STEPS.but(own=lambda own, heads: lambda head: own(heads.shape[1] - 1 - head)),
        does="the columns of w_o are dealt out from the last head to the first",
        says=(
            "The first head meets the columns of the last one, and the other way round. Look at the order of the heads."
        ),
        hints=["In the merged vector, where do the numbers of head 0 stand?"],
    ),
    Mistake(
        "another_head",
        STEPS.but(heads=lambda heads: heads.roll(1, 1)),
        STEPS.but(heads=lambda heads: heads.roll(-1, 1)),
        STEPS.but(heads=lambda heads: heads[:, :1].expand_as(heads)),
        STEPS.but(heads=lambda heads: heads.flip(1)),
        does="columns of w_o meet another head than the one that owns them",
        says=(
            "The columns of w_o meet another head than the one that owns them: the first, a neighbour, or all in "
            "reverse order. Look at the index of the head."
        ),
        hints=["Which head does `heads[:, i - 1]` take for i = 0?"],
    ),
    Mistake(
        "a_head_left_out",
        STEPS.but(heads=lambda heads: heads[:, :-1]),
        STEPS.but(heads=lambda heads: heads[:, 1:]),
        does="the first or the last head is left out",
        hints=["How many heads does the result have?"],
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
        "all_heads_so_far",
        STEPS.but(scaled=lambda terms: terms.cumsum(dim=1)),
        does="each term holds those of the heads before it as well",
        says="{does}: the sum grows from head to head. Look at what is kept for a head.",
        hints=["Add up the result over the heads: is that the output?"],
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
        "divided_on_the_way",
        STEPS.but(scaled=lambda terms: terms / terms.shape[1]),
        STEPS.but(scaled=lambda terms, heads: terms / heads.shape[3] ** 0.5),
        STEPS.but(scaled=lambda terms, heads: terms / heads.shape[3]).attempt,
        STEPS.but(scaled=lambda terms: terms / max(terms.shape[1] - 1, 1)).attempt,
        STEPS.but(scaled=lambda terms: terms * terms.shape[1]).attempt,
        does="the terms are divided, by the number of heads or the width of one",
        says=(
            "The terms are divided, by the number of heads or the root of their width. They should add up to the "
            "output as they are. Look for a division."
        ),
        hints=["Add up the result over the heads: is that the output?"],
    ),
    Mistake(
        "heads_behind_positions",
        STEPS.but(contributions=lambda scaled: scaled.transpose(1, 2)),
        does="heads and positions have changed places",
    ),
    Mistake(
        "heads_before_batch",
        STEPS.but(contributions=lambda scaled: scaled.transpose(0, 1)),
        does="the heads stand in front of the batch",
    ),
    Mistake(
        "heads_last",
        STEPS.but(contributions=lambda scaled: scaled.permute(0, 2, 3, 1)),
        STEPS.but(contributions=lambda scaled: scaled.mT),
        does="the output's features are no longer the last axis",
        says=(
            "The numbers are right, but another axis than that of the features comes last. Look at the order of the "
            "axes."
        ),
        hints=["The shape asked for is (batch, n_heads, n, d_out). Which is it now?"],
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
        "a_list_of_terms",
        STEPS.but(contributions=lambda scaled: list(scaled.unbind(1))),
        does="the terms come as a list of tensors",
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
    *of_the_result(STEPS, "result_with_another_sign", "result_scaled", "result_transposed", "function_of_the_result"),
]
