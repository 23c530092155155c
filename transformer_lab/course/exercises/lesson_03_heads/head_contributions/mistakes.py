"""What goes wrong when an output is divided among its heads."""

import torch

from transformer_lab.course.exercise import Mistake


def rows_of_w_o(heads, w_o):
    return heads @ w_o.reshape(heads.shape[1], heads.shape[3], -1)


def slices_the_rows_of_w_o(heads, w_o):
    d_k = heads.shape[3]
    return torch.stack([heads[:, i] @ w_o[i * d_k : (i + 1) * d_k] for i in range(heads.shape[1])], dim=1)


def slices_the_rows_of_w_o_and_transposes(heads, w_o):
    d_k = heads.shape[3]
    return torch.stack([heads[:, i] @ w_o[i * d_k : (i + 1) * d_k].T for i in range(heads.shape[1])], dim=1)


def every_other_column(heads, w_o):
    return heads @ w_o.T.reshape(heads.shape[3], heads.shape[1], -1).transpose(0, 1)


def the_first_columns_for_everybody(heads, w_o):
    return heads @ w_o[:, : heads.shape[3]].T


def the_whole_output(heads, w_o):
    return heads.transpose(1, 2).flatten(2) @ w_o.T


def the_whole_output_for_every_head(heads, w_o):
    return the_whole_output(heads, w_o).unsqueeze(1).expand(-1, heads.shape[1], -1, -1)


def shares_of_the_whole_output(heads, w_o):
    return the_whole_output_for_every_head(heads, w_o) / heads.shape[1]


def heads_behind_positions(heads, w_o):
    per_head = w_o.T.reshape(heads.shape[1], heads.shape[3], -1)
    return (heads @ per_head).transpose(1, 2)


def heads_before_batch(heads, w_o):
    d_k = heads.shape[3]
    return torch.stack([heads[:, i] @ w_o[:, i * d_k : (i + 1) * d_k].T for i in range(heads.shape[1])])


MISTAKES = [
    Mistake(
        "rows_of_w_o",
        [rows_of_w_o, slices_the_rows_of_w_o, slices_the_rows_of_w_o_and_transposes],
        says=(
            "The numbers of w_o are dealt out row by row, so that each head meets numbers of other heads, and the sum "
            "over the heads is not the output. The heads own *columns* of w_o."
        ),
        hints=[
            "In merged @ w_o.T, does a column of w_o meet one number of the merged vector, or do all of them?",
            "`reshape` reads row by row. What has to happen first, so that the columns come to lie in a row?",
            "Transpose w_o before cutting it.",
        ],
    ),
    Mistake(
        "every_other_column",
        [every_other_column],
        says=(
            "The columns of w_o are dealt out in turn: head 0 gets columns 0, h, 2h … Each head owns neighbouring "
            "columns. Look at the two numbers the columns are cut into."
        ),
        hints=[
            "In the merged vector, where do the numbers of head 0 stand?",
            "Cutting an axis into (a, b) makes a pieces of b neighbours each.",
            "Cut into (n_heads, d_k), in this order.",
        ],
    ),
    Mistake(
        "the_first_columns_for_everybody",
        [the_first_columns_for_everybody],
        says="Every head is sent through the columns of head 0. Each has columns of its own.",
        hints=[
            "Does the slice of w_o depend on the head?",
            "Head i owns columns i·d_k to (i + 1)·d_k − 1.",
            "Loop over the heads, or cut w_o into n_heads pieces.",
        ],
    ),
    Mistake(
        "the_whole_output",
        [the_whole_output],
        says="This is the output of all heads together. What each head adds is asked for: one more axis.",
        hints=[
            "The shape asked for is (batch, n_heads, n, d_out). Which is it now?",
            "The product with w_o is a sum over all merged features. Which of its terms belong to head i?",
            "Multiply each head by its own columns of w_o, and do not add up.",
        ],
    ),
    Mistake(
        "the_whole_output_for_every_head",
        [the_whole_output_for_every_head, shares_of_the_whole_output],
        says="Every head is said to give the whole output. Together they would give n_heads times as much.",
        hints=[
            "Add up the result over the heads: is that the output?",
            "If all heads but one were 0, what would the output be?",
            "Multiply each head by its own columns of w_o.",
        ],
    ),
    Mistake(
        "heads_behind_positions",
        [heads_behind_positions],
        says="The numbers are right, but heads and positions have changed places.",
        hints=[
            "The shape asked for is (batch, n_heads, n, d_out). Which is it now?",
            "`torch.stack` takes a `dim`.",
            "The heads are axis 1.",
        ],
    ),
    Mistake(
        "heads_before_batch",
        [heads_before_batch],
        says="The numbers are right, but the heads stand in front of the batch. Look at the order of the axes.",
        hints=[
            "The shape asked for is (batch, n_heads, n, d_out). Which is it now?",
            "`torch.stack` puts the new axis in front unless it is told where.",
            "`dim=1`.",
        ],
    ),
]
