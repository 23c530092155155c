"""What goes wrong when labels are shifted: which way, how far, and what falls off."""

import torch
from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake


def _begin(tokens, bos_id):
    return torch.full_like(tokens[:, :1], bos_id)


def not_shifted(tokens, bos_id):
    return tokens


def copied_and_not_shifted(tokens, bos_id):
    return tokens.clone()


def shifts_left(tokens, bos_id):
    return torch.cat([tokens[:, 1:], _begin(tokens, bos_id)], dim=1)


def shifts_left_and_repeats_the_last(tokens, bos_id):
    return torch.cat([tokens[:, 1:], tokens[:, -1:]], dim=1)


def shifts_left_and_pads(tokens, bos_id):
    return F.pad(tokens[:, 1:], (0, 1))


def drops_the_first(tokens, bos_id):
    return tokens[:, 1:]


def rolls_to_the_left(tokens, bos_id):
    shifted = tokens.roll(-1, dims=1)
    shifted[:, -1] = bos_id
    return shifted


def keeps_the_last(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens], dim=1)


def drops_the_last_without_bos(tokens, bos_id):
    return tokens[:, :-1]


def shifts_twice(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), _begin(tokens, bos_id), tokens[:, :-2]], dim=1)


def shifts_twice_by_padding(tokens, bos_id):
    return F.pad(tokens, (2, -2), value=bos_id)


def cuts_off_a_row(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens[:-1]], dim=1)


def only_the_last(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens[:, -1]], dim=1)


def only_the_last_column(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens[:, -1:]], dim=1)


def drops_the_end(tokens, bos_id):
    return torch.cat([_begin(tokens, bos_id), tokens[:, :-1].masked_fill(tokens[:, :-1] == 2, 0)], dim=1)


def goes_round(tokens, bos_id):
    return tokens.roll(1, dims=1)


def down_the_batch(tokens, bos_id):
    return torch.cat([torch.full_like(tokens[:1], bos_id), tokens[:-1]], dim=0)


def writes_into_the_tokens(tokens, bos_id):
    tokens[:, 1:] = tokens[:, :-1].clone()
    tokens[:, 0] = bos_id
    return tokens


def writes_backwards_into_the_tokens(tokens, bos_id):
    for i in range(tokens.shape[1] - 1, 0, -1):
        tokens[:, i] = tokens[:, i - 1]
    tokens[:, 0] = bos_id
    return tokens


def overtakes_itself(tokens, bos_id):
    tokens[:, 1:] = tokens[:, :-1]
    tokens[:, 0] = bos_id
    return tokens


def overtakes_itself_in_a_loop(tokens, bos_id):
    shifted = tokens.clone()
    shifted[:, 0] = bos_id
    for i in range(1, tokens.shape[1]):
        shifted[:, i] = shifted[:, i - 1]
    return shifted


def overtakes_itself_in_the_tokens(tokens, bos_id):
    for i in range(1, tokens.shape[1]):
        tokens[:, i] = tokens[:, i - 1]
    tokens[:, 0] = bos_id
    return tokens


def lists_of_tokens(tokens, bos_id):
    return [[bos_id, *row[:-1]] for row in tokens.tolist()]


MISTAKES = [
    Mistake(
        "not_shifted",
        [not_shifted, copied_and_not_shifted],
        says=(
            "The decoder is fed exactly what it should say. Each position only has to repeat its own input, so the loss "
            "falls to almost nothing, and the model cannot write: at its turn, there is nothing to repeat."
        ),
        hints=[
            "Put the input above the labels. What does the first position know, and what should it say?",
            "When position t has to say token t, it may know bos and the tokens before t.",
            "Bos comes first, and then all tokens but the last.",
        ],
    ),
    Mistake(
        "shifts_left",
        [shifts_left, shifts_left_and_repeats_the_last, shifts_left_and_pads, drops_the_first, rolls_to_the_left],
        says=(
            "The tokens move to the left: each position is fed the token *after* the one that it should say. Which way "
            "is right?"
        ),
        hints=[
            "Put the input above the labels. What does the first position know, and what should it say?",
            "What has been written before the first token? Only bos.",
            "Bos in front, and the last token dropped.",
        ],
    ),
    Mistake(
        "keeps_the_last",
        [keeps_the_last],
        says="Bos is in front, but nothing was dropped: there is one position more than there are labels.",
        hints=[
            "The shape asked for is that of the tokens. Which is it now?",
            "Nothing comes after the last token, so who would use it as an input?",
            "Take `tokens[:, :-1]`: all but the last column.",
        ],
    ),
    Mistake(
        "drops_the_last_without_bos",
        [drops_the_last_without_bos],
        says="The last token is dropped, but bos is missing: there is one position fewer than there are labels.",
        hints=[
            "The shape asked for is that of the tokens. Which is it now?",
            "What is the input of the position that should say the first token?",
            "A column of bos goes in front: `torch.full((batch, 1), bos_id)`.",
        ],
    ),
    Mistake(
        "shifts_twice",
        [shifts_twice, shifts_twice_by_padding],
        says=(
            "The tokens move by two places: the position that should say a token has not read the one just before it. Look "
            "at how many bos there are."
        ),
        hints=[
            "For the labels `[5, 6, 7]`, what comes out, and what should?",
            "One bos, and only the last token dropped.",
            "`tokens[:, :-1]`, with one column in front.",
        ],
    ),
    Mistake(
        "cuts_off_a_row",
        [cuts_off_a_row],
        says=(
            "The last *row* is dropped: a whole sentence. What should fall off is the last token of each row. Look at "
            "which axis is cut."
        ),
        hints=[
            "The shape of the tokens is (batch, n). Which of the two does `tokens[:-1]` cut?",
            "Before the comma stand the rows, behind it the columns.",
            "`tokens[:, :-1]` is all but the last column.",
        ],
    ),
    Mistake(
        "only_the_last",
        [only_the_last, only_the_last_column],
        says="The last token is kept and all others are dropped. It should be the other way round. Look at the colons.",
        hints=[
            "What does `[5, 6, 7][-1]` give, and what `[5, 6, 7][:-1]`?",
            "Behind the comma, a colon has to stand in front of the -1.",
            "`tokens[:, :-1]` is all but the last column.",
        ],
    ),
    Mistake(
        "drops_the_end",
        [drops_the_end],
        says=(
            "The end, token 2, is taken out wherever it stands. Only the last *place* of each row falls off; in a row that "
            "is padded, that is padding."
        ),
        hints=[
            "For the labels `[5, 6, 2, 0, 0]`, what comes out, and what should?",
            "The function is not told which token is the end, and does not need to know.",
            "Take `tokens[:, :-1]` as it is.",
        ],
    ),
    Mistake(
        "goes_round",
        [goes_round],
        says=(
            "`roll` lets nothing fall off: the last token comes back in front, where bos should be. That gives away "
            "how the text ends."
        ),
        hints=[
            "What does the first position read?",
            "The column that came round has to be replaced.",
            "After `shifted = tokens.roll(1, dims=1)`, which is a copy, write bos into `shifted[:, 0]`.",
        ],
    ),
    Mistake(
        "down_the_batch",
        [down_the_batch],
        says=(
            "Whole rows move down: each sentence is fed another one. What should move are the tokens of each row. Look at "
            "which axis is cut."
        ),
        hints=[
            "The shape of the tokens is (batch, n). Which of the two counts the positions?",
            "`tokens[:-1]` is all but the last *row*.",
            "`tokens[:, :-1]` is all but the last column; put them side by side with `dim=1`.",
        ],
    ),
    Mistake(
        "writes_into_the_tokens",
        [writes_into_the_tokens, writes_backwards_into_the_tokens],
        says=(
            "What comes out is right, but the labels that were given are changed as well: the loss then compares the model "
            "with its own input. Nothing that is handed over should be written to."
        ),
        hints=[
            "After the call, print `tokens`. What has become of the labels?",
            "`b = a` copies nothing; `a.clone()` does.",
            "Make a new table, with `torch.cat`, or write into `tokens.clone()`.",
        ],
    ),
    Mistake(
        "overtakes_itself",
        [overtakes_itself, overtakes_itself_in_a_loop, overtakes_itself_in_the_tokens],
        says=(
            "It writes into the table from which it still reads. Torch refuses that, or, in a loop from left to right, "
            "what was just written is copied on and on."
        ),
        hints=[
            "After the first step, what is left of the token that stood at position 1?",
            "Read from the one table and write to another.",
            "`torch.cat` makes a new table of two pieces.",
        ],
    ),
    Mistake(
        "lists_of_tokens",
        [lists_of_tokens],
        says="The numbers are right, but they come as lists. A tensor is asked for.",
        hints=[
            "What does `type(...)` say of the result?",
            "Slices of tensors are tensors, and whole columns can be moved at once.",
            "`torch.cat` of a column of bos and `tokens[:, :-1]`, with `dim=1`.",
        ],
    ),
]
