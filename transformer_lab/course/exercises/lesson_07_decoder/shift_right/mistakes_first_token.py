"""What goes wrong with the token in front."""

import torch
from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake


def _begin(tokens, bos_id):
    return torch.full_like(tokens[:, :1], bos_id)


def bos_at_the_end(tokens, bos_id):
    return torch.cat([tokens[:, :-1], _begin(tokens, bos_id)], dim=1)


def bos_behind_everything(tokens, bos_id):
    return torch.cat([tokens, _begin(tokens, bos_id)], dim=1)


def bos_over_the_first(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens[:, 1:]], dim=1)


def bos_written_over_the_first(tokens, bos_id):
    tokens[:, 0] = bos_id
    return tokens


def zero_in_front(tokens, bos_id):
    return F.pad(tokens, (1, -1))


def one_in_front(tokens, bos_id):
    return F.pad(tokens, (1, -1), value=1)


def bos_under_the_rows(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens[:, :-1]], dim=0)


def bos_under_the_rows_by_default(tokens, bos_id):
    return torch.cat([torch.full((len(tokens), 1), bos_id), tokens[:, :-1]])


def floats(tokens, bos_id):
    return torch.cat([torch.ones(len(tokens), 1) * bos_id, tokens[:, :-1]], dim=1)


def a_table_of_floats(tokens, bos_id):
    shifted = torch.zeros(tokens.shape)
    shifted[:, 0] = bos_id
    shifted[:, 1:] = tokens[:, :-1]
    return shifted


def bos_is_no_tensor(tokens, bos_id):
    return torch.cat([bos_id, tokens[:, :-1]], dim=1)


def bos_without_axes(tokens, bos_id):
    return torch.cat([torch.tensor([bos_id]), tokens[:, :-1]], dim=1)


def bos_for_every_row_in_one_axis(tokens, bos_id):
    return torch.cat([torch.full((len(tokens),), bos_id), tokens[:, :-1]], dim=1)


def bos_of_no_axes(tokens, bos_id):
    return torch.cat([torch.tensor(bos_id), tokens[:, :-1]], dim=1)


def bos_in_a_list(tokens, bos_id):
    return torch.cat([[bos_id], tokens[:, :-1]], dim=1)  # type: ignore[list-item]


def bos_for_every_column(tokens, bos_id):
    return torch.cat([torch.full((tokens.shape[1], 1), bos_id), tokens[:, :-1]], dim=1)


def bos_for_one_row(tokens, bos_id):
    return torch.cat([torch.tensor([[bos_id]]), tokens[:, :-1]], dim=1)


MISTAKES = [
    Mistake(
        "bos_at_the_end",
        [bos_at_the_end, bos_behind_everything],
        says="Bos stands at the end. It says that a text begins, so it should be the first thing that the decoder reads.",
        hints=[
            "What should the first position read, when nothing has been written yet?",
            "In which order are the two pieces put side by side?",
            "The column of bos comes first: `torch.cat([begin, rest], dim=1)`.",
        ],
    ),
    Mistake(
        "bos_over_the_first",
        [bos_over_the_first, bos_written_over_the_first],
        says=(
            "Bos replaces the first token, and all others stay where they are: from the second position on, the decoder "
            "is fed what it should say."
        ),
        hints=[
            "For the labels `[5, 6, 7]`, what comes out, and what should?",
            "Every token has to move one place, and only the last one has no place left.",
            "All but the last: `tokens[:, :-1]`.",
        ],
    ),
    Mistake(
        "zero_in_front",
        [zero_in_front, one_in_front],
        says="What stands in front is a fixed number, and not `bos_id`. It is right only if they happen to be equal.",
        hints=[
            "Where does `bos_id` occur in the code?",
            "`F.pad` fills with 0 unless it is told with what.",
            "`value=bos_id`, or a column made by `torch.full`.",
        ],
    ),
    Mistake(
        "bos_under_the_rows",
        [bos_under_the_rows, bos_under_the_rows_by_default],
        says="The two pieces are put one below the other instead of side by side. Look at the axis of `torch.cat`.",
        hints=[
            "Which axis does `torch.cat` take if none is named?",
            "Side by side means along the axis of the positions.",
            "`dim=1`.",
        ],
    ),
    Mistake(
        "floats",
        [floats, a_table_of_floats],
        says=(
            "The numbers are right, but they are floats. Tokens are used as indices, so they have to stay whole numbers. "
            "Look at how the new table or column is made."
        ),
        hints=[
            "What does `.dtype` say of each piece?",
            "`torch.ones` and `torch.zeros` make floats unless they are told otherwise.",
            "`torch.full((batch, 1), bos_id)` makes whole numbers of a whole number; `torch.zeros_like(tokens)` "
            "keeps the type.",
        ],
    ),
    Mistake(
        "bos_is_no_tensor",
        [bos_is_no_tensor, bos_without_axes, bos_for_every_row_in_one_axis, bos_of_no_axes, bos_in_a_list],
        says=(
            "`torch.cat` joins tensors, all with the same number of axes. Bos comes as a plain number or list, or with "
            "too few axes."
        ),
        hints=[
            "What is the shape of each of the pieces that are joined?",
            "A column of bos has the shape (batch, 1).",
            "`torch.full((batch, 1), bos_id)`.",
        ],
    ),
    Mistake(
        "bos_for_one_row",
        [bos_for_one_row],
        says=(
            "What holds bos has a single row, so it works for a single row of tokens. Each row of the batch needs one: "
            "they stand in a column."
        ),
        hints=[
            "With 3 rows, how many bos are needed, and which shape is that?",
            "The number of rows is `tokens.shape[0]`.",
            "`torch.full((batch, 1), bos_id)`.",
        ],
    ),
    Mistake(
        "bos_for_every_column",
        [bos_for_every_column],
        says=(
            "There are as many bos as *columns*, so it works only for as many rows. Each row needs one. Look at which axis "
            "is measured."
        ),
        hints=[
            "With 3 rows of 5 tokens, how many bos are needed?",
            "`tokens` has the shape (batch, n). Which of the two is `tokens.shape[1]`?",
            "`torch.full((tokens.shape[0], 1), bos_id)`.",
        ],
    ),
]
