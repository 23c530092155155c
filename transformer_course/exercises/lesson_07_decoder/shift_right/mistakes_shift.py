"""What goes wrong when labels are shifted: which way, how far, and what falls off."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.shift_right.answer import STEPS


def _in_place(tokens, bos_id):
    tokens[:, 1:] = tokens[:, :-1].clone()
    tokens[:, 0] = bos_id
    return tokens


def _over_itself(tokens, bos_id):
    tokens[:, 1:] = tokens[:, :-1]
    tokens[:, 0] = bos_id
    return tokens


MISTAKES = [
    Mistake(
        "shifts_left",
        STEPS.but(rest=lambda tokens: tokens[:, 1:], shifted=lambda begin, rest: torch.cat([rest, begin], dim=1)),
        STEPS.but(shifted=lambda tokens: torch.cat([tokens[:, 1:], tokens[:, -1:]], dim=1)),
        STEPS.but(shifted=lambda tokens: F.pad(tokens[:, 1:], (0, 1))),
        STEPS.but(shifted=lambda tokens: tokens[:, 1:]),
        STEPS.but(shifted=lambda tokens: tokens.roll(-1, dims=1)),
        STEPS.but(shifted=lambda tokens, begin: torch.cat([begin, tokens.roll(-1, dims=1)[:, 1:]], dim=1)),
        does="the tokens move to the left",
        says="{does}: each position is fed the token *after* the one that it should predict. Which way is right?",
        hints=["Put the input above the labels. What does the first position know, and what should it predict?"],
    ),
    Mistake(
        "cuts_off_a_row",
        STEPS.but(rest=lambda tokens: tokens[:-1]),
        does="the last *row* is dropped",
        says="{does}: a whole sentence. What should fall off is the last token of each row. Look at which axis is cut.",
        hints=["The shape of the tokens is (batch, n). Which of the two does `tokens[:-1]` cut?"],
    ),
    Mistake(
        "goes_round",
        STEPS.but(begin=lambda tokens: tokens[:, -1:]),
        STEPS.but(shifted=lambda tokens: tokens.roll(1)),
        does="a last token comes round to the front, where bos should be",
        says=(
            "Nothing falls off: the last token of a row comes round to the front of it, or of the next one, as with "
            "`roll`. Bos should be there. How a text ends is given away."
        ),
        hints=["What does the first position read?"],
    ),
    Mistake(
        "writes_into_the_tokens",
        STEPS.but(shifted=_in_place),
        does="the tokens that were given are overwritten",
        says=(
            "What comes out is right, but the labels that were given are changed as well: the loss then compares the "
            "model with its own input. Nothing that is handed over should be written to."
        ),
        hints=["After the call, print `tokens`. What has become of the labels?"],
    ),
    Mistake(
        "overtakes_itself",
        STEPS.but(shifted=_over_itself),
        does="tokens are overwritten before they have moved on",
        says=(
            "It writes into the very table from which it still reads, and torch refuses that. Look for a second table."
        ),
        hints=["After the first position is written, what is left of the token that stood there?"],
    ),
    Mistake(
        "down_the_batch",
        STEPS.but(shifted=lambda tokens, bos_id: torch.cat([torch.full_like(tokens[:1], bos_id), tokens[:-1]])),
        STEPS.but(shifted=lambda tokens: tokens.roll(1, dims=0)),
        STEPS.but(shifted=lambda begin, tokens: torch.cat([begin, tokens.roll(1, dims=0)[:, 1:]], dim=1)),
        STEPS.but(tokens=lambda tokens: tokens.roll(1, dims=0)),
        does="whole rows move down",
        says=(
            "{does}: each sentence is fed another one. What should move are the tokens of each row. Look at which axis "
            "is cut."
        ),
        hints=["The shape of the tokens is (batch, n). Which of the two counts the positions?"],
    ),
]
