"""What goes wrong when labels are shifted: which way, and what falls off."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.shift_right.answer import STEPS

MISTAKES = [
    Mistake(
        "shifts_left",
        STEPS.but(rest=lambda tokens: tokens[:, 1:], shifted=lambda begin, rest: torch.cat([rest, begin], dim=1)),
        STEPS.but(shifted=lambda tokens: tokens[:, 1:]),
        STEPS.but(shifted=lambda tokens: tokens.roll(-1, dims=1)),
        does="the tokens move to the left",
        says="{does}: each position is fed the token *after* the one that it should predict. Which way is right?",
        hints=["Put the input above the labels. What does the first position know, and what should it predict?"],
    ),
    Mistake(
        "first_token_overwritten",
        STEPS.but(rest=lambda tokens: tokens[:, 1:]),
        does="bos takes the place of the first token, and all others stay where they are",
        says=(
            "{does}: nothing is shifted. From the second position on, each is fed the very token that it should "
            "predict."
        ),
        hints=["Write it down for the labels 5, 6, 7. Where should the 5 stand in the input?"],
    ),
    Mistake(
        "goes_round",
        STEPS.but(begin=lambda tokens: tokens[:, -1:]),
        STEPS.but(shifted=lambda tokens: tokens.roll(1)),
        does="a last token comes round to the front, where bos should be",
        says="{does}, as with `roll`. How a text ends is given away.",
    ),
    Mistake(
        "bos_twice",
        STEPS.but(begin=lambda begin: begin.repeat(1, 2)),
        does="each row gets bos twice",
        says="{does}, and so is longer than its labels by one token. Look at what is put together.",
    ),
    Mistake(
        "cuts_off_a_row",
        STEPS.but(rest=lambda tokens: tokens[:-1]),
        does="the last *row* is dropped",
        says="{does}: a whole sentence. What should fall off is the last token of each row. Look at which axis is cut.",
    ),
    Mistake(
        "down_the_batch",
        STEPS.but(shifted=lambda tokens, bos_id: torch.cat([torch.full_like(tokens[:1], bos_id), tokens[:-1]])),
        STEPS.but(shifted=lambda tokens: tokens.roll(1, dims=0)),
        STEPS.but(shifted=lambda begin, tokens: torch.cat([begin, tokens.roll(1, dims=0)[:, 1:]], dim=1)),
        does="whole rows move down",
        says="{does}: each sentence is fed another one. What should move are the tokens of each row.",
    ),
]
