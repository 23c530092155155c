"""What goes wrong with the token in front."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.shift_right.answer import STEPS


def _bos_over_the_first_row(tokens, bos_id):
    shifted = tokens.roll(1, dims=1)
    shifted[0] = bos_id
    return shifted


MISTAKES = [
    Mistake(
        "bos_at_the_end",
        STEPS.but(shifted=lambda begin, rest: torch.cat([rest, begin], dim=1)),
        does="bos stands at the end",
    ),
    Mistake(
        "bos_over_the_first",
        STEPS.but(rest=lambda tokens: tokens[:, 1:]),
        does="the first token of each row is dropped and not the last",
    ),
    Mistake(
        "fixed_number_in_front",
        STEPS.but(bos_id=lambda: 0),
        STEPS.but(bos_id=lambda: 1),
        STEPS.but(bos_id=lambda: 2),
        STEPS.but(bos_id=lambda: -1),
        does="a fixed number takes the place of `bos_id`",
        says="What stands in front is a fixed number, and not `bos_id`. It is right only if they happen to be equal.",
        hints=["Where does `bos_id` occur in the code?"],
    ),
    Mistake(
        "first_token_twice",
        STEPS.but(begin=lambda tokens: tokens[:, :1]),
        does="the first token of each row stands in place of bos",
        says="The first token of each row stands there twice, where bos should be in front: it gives itself away.",
        hints=["What does the first position read, and what should it predict?"],
    ),
    Mistake(
        "two_bos",
        STEPS.but(begin=lambda begin: torch.cat([begin, begin], dim=1)),
        does="two bos stand in front",
        says="{does}, so that there is one position more than there are labels.",
        hints=["The shape asked for is that of the tokens. Which is it now?"],
    ),
    Mistake(
        "bos_in_the_second_column",
        STEPS.but(
            shifted=lambda shifted, begin: torch.cat([begin, begin, shifted[:, 2:]], dim=1)[:, : shifted.shape[1]]
        ),
        does="bos stands in the second column, too",
        says=(
            "The second column holds bos as well, in place of the first token of each row. Look at the position from "
            "which tokens are taken."
        ),
        hints=["Which token stands at position 1 of the result? It should be that of position 0."],
    ),
    Mistake(
        "bos_over_the_first_row",
        STEPS.but(shifted=_bos_over_the_first_row),
        does="bos is written into the first row and not into the first column",
        says=(
            "Bos is written into the first *row*: a whole sentence is lost, and the other rows have none. Look at "
            "the index."
        ),
        hints=["How many bos does a batch of 3 rows need, and where?"],
    ),
    Mistake(
        "bos_under_the_rows",
        STEPS.but(shifted=lambda begin, rest: torch.cat([begin, rest], dim=0)),
        does="the two pieces are put one below the other",
        says="The two pieces are put one below the other instead of side by side. Look at the axis of `torch.cat`.",
        hints=["Which axis does `torch.cat` take if none is named?"],
    ),
    Mistake(
        "bos_in_no_column",
        STEPS.but(begin=lambda bos_id: bos_id),
        STEPS.but(begin=lambda bos_id: torch.tensor([bos_id])),
        STEPS.but(begin=lambda bos_id: torch.tensor(bos_id)),
        STEPS.but(begin=lambda bos_id: [bos_id]),
        does="bos comes as a plain number or list, or with too few axes",
        says=(
            "`torch.cat` joins tensors, all with the same number of axes. Bos comes as a plain number or list, or with "
            "too few axes."
        ),
        hints=["What is the shape of each of the pieces that are joined?"],
    ),
    Mistake(
        "size_is_no_tuple",
        STEPS.but(begin=lambda tokens, bos_id: torch.full(len(tokens), bos_id)),  # type: ignore[call-overload]
        does="`torch.full` is given a number in place of a shape",
    ),
    Mistake(
        "bos_for_one_row",
        STEPS.but(begin=lambda bos_id: torch.tensor([[bos_id]])),
        does="there is a bos for a single row",
    ),
    Mistake(
        "bos_in_the_first_row_only",
        STEPS.but(begin=lambda begin, tokens: torch.cat([begin[:1], tokens[1:, -1:]])),
        STEPS.but(begin=lambda begin: torch.cat([begin[:1], 0 * begin[1:]])),
        does="only the first row gets a bos",
        says="{does}. Every row of the batch begins with one. Look at what is written where.",
        hints=["What stands in front of the second row?"],
    ),
    Mistake(
        "bos_for_every_column",
        STEPS.but(begin=lambda tokens, bos_id: torch.full((tokens.shape[1], 1), bos_id)),
        STEPS.but(begin=lambda tokens, bos_id: torch.full_like(tokens, bos_id)),
        does="what holds bos is not one column with a row for each row of tokens",
        says=(
            "What holds bos should have one row for each row of tokens, and one column; its shape is another. Look "
            "at which axis is measured."
        ),
        hints=["With 3 rows of 5 tokens, how many bos are needed, and in which shape?"],
    ),
    Mistake(
        "shifts_twice",
        STEPS.but(shifted=lambda tokens, bos_id: F.pad(tokens, (2, -2), value=bos_id)),
        STEPS.but(shifted=lambda tokens, bos_id: F.pad(tokens, (2, 0), value=bos_id)[:, : tokens.shape[1]]),
        does="the tokens move by two positions",
        says=(
            "{does}: the one that should predict a token has not read the one just before it. Look at how many bos "
            "there are."
        ),
        hints=["For the labels `[5, 6, 7]`, what comes out, and what should?"],
    ),
]
