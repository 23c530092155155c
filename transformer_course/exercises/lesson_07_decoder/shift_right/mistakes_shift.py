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


def _one_token_everywhere(tokens, bos_id):
    return torch.full_like(tokens, bos_id)


def _one_token_behind_bos(begin, tokens):
    return torch.cat([begin, tokens[:, :1].expand(-1, tokens.shape[1] - 1)], dim=1)


MISTAKES = [
    Mistake(
        "not_shifted",
        STEPS.but(shifted=lambda tokens: tokens),
        does="the tokens come back as they are",
    ),
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
        "keeps_the_last",
        STEPS.but(rest=lambda tokens: tokens),
        does="no token is dropped",
    ),
    Mistake(
        "drops_the_last_without_bos",
        STEPS.but(shifted=lambda rest: rest),
        does="bos is missing",
    ),
    Mistake(
        "drops_two",
        STEPS.but(rest=lambda tokens: tokens[:, :-2]),
        STEPS.but(rest=lambda tokens: tokens[:, 1:-1]),
        does="two tokens of each row are dropped",
        says="{does}, so that there is one position fewer than there are labels.",
        hints=["The shape asked for is that of the tokens. Which is it now?"],
    ),
    Mistake(
        "cuts_off_a_row",
        STEPS.but(rest=lambda tokens: tokens[:-1]),
        does="the last *row* is dropped",
        says="{does}: a whole sentence. What should fall off is the last token of each row. Look at which axis is cut.",
        hints=["The shape of the tokens is (batch, n). Which of the two does `tokens[:-1]` cut?"],
    ),
    Mistake(
        "only_the_last",
        STEPS.but(rest=lambda tokens: tokens[:, -1]),
        STEPS.but(rest=lambda tokens: tokens[:, -1:]),
        does="of each row, only the last token is kept",
        says="The last token is kept and all others are dropped. It should be the other way round. Look at the colons.",
        hints=["What does `[5, 6, 7][-1]` give, and what `[5, 6, 7][:-1]`?"],
    ),
    Mistake(
        "drops_the_end",
        STEPS.but(rest=lambda rest: rest.masked_fill(rest == 2, 0)),
        STEPS.but(tokens=lambda tokens: tokens.masked_fill(tokens == 2, 0)),
        STEPS.but(shifted=lambda shifted: shifted.masked_fill(shifted == 2, 0)),
        does="the end, token 2, is taken out wherever it stands",
        says="{does}. Only the last *position* of each row falls off; in a row that is padded, that is padding.",
        hints=["For the labels `[5, 6, 2, 0, 0]`, what comes out, and what should?"],
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
        "down_the_batch",
        STEPS.but(shifted=lambda tokens, bos_id: torch.cat([torch.full_like(tokens[:1], bos_id), tokens[:-1]])),
        STEPS.but(shifted=lambda tokens: tokens.roll(1, dims=0)),
        STEPS.but(tokens=lambda tokens: tokens.roll(1, dims=0)),
        does="whole rows move down",
        says=(
            "{does}: each sentence is fed another one. What should move are the tokens of each row. Look at which axis "
            "is cut."
        ),
        hints=["The shape of the tokens is (batch, n). Which of the two counts the positions?"],
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
        "one_token_everywhere",
        STEPS.but(shifted=_one_token_everywhere),
        STEPS.but(shifted=_one_token_behind_bos),
        does="a single token fills the row behind the first position",
        says=(
            "A single token fills the row. In a loop from left to right that reads from the table into which it "
            "writes, what was just written is copied on and on."
        ),
        hints=["After the first position is written, what is left of the token that stood there?"],
    ),
    Mistake(
        "input_and_labels",
        STEPS.but(shifted=lambda shifted, tokens: (shifted, tokens)),
        STEPS.but(shifted=lambda tokens: (tokens[:, :-1], tokens[:, 1:])),
        does="two tables come out, inputs and labels",
        says="{does}. Only the input is asked for; the labels are the tokens that were given.",
        hints=["What shape is asked for?"],
    ),
]
