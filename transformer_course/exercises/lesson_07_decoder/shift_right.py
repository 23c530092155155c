"""The decoder's input in training: the labels, shifted right by one position."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def shift_right(tokens: Int[Tensor, "batch n"], bos_id: int) -> Int[Tensor, "batch n"]:
    """Turn the labels into the decoder's input: prepend ``bos_id`` to every row and drop its last token."""
    begin = torch.full_like(tokens[:, :1], bos_id)
    return torch.cat([begin, tokens[:, :-1]], dim=1)


def begin(tokens, bos_id):
    """create a column of bos tokens → the column of bos, (batch, 1)"""
    return torch.full((tokens.shape[0], 1), bos_id)


def rest(tokens):
    """drop the last token of each row → all tokens but the last, (batch, n − 1)"""
    return tokens[:, :-1]


def shifted(begin, rest):
    """put bos in front of each row → the decoder's input: bos, then all tokens but the last"""
    return torch.cat([begin, rest], dim=1)


STEPS = InSteps(begin, rest, shifted, reference=shift_right)


def shift_right_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def draw(*shape: int) -> Tensor:
        """Draw tokens from 10 to 99 such that neighboring tokens always differ."""
        steps = torch.randint(1, 90, shape, generator=rng)
        return 10 + steps.cumsum(dim=0).cumsum(dim=1) % 90

    padded = draw(2, 5)
    padded[0, 3], padded[0, 4:] = 2, 0
    padded[1, 1], padded[1, 2:] = 2, 0
    return [
        Case({"tokens": draw(1, 3), "bos_id": 1}, "one row of 3 tokens"),
        Case({"tokens": torch.tensor([[8, 5, 5, 8]]), "bos_id": 5}, "a bos_id of 5, which is among the tokens"),
        Case({"tokens": torch.tensor([[7, 4, 9], [6, 8, 3]]), "bos_id": 7}, "a row that begins with the bos_id"),
        Case({"tokens": draw(3, 1), "bos_id": 2}, "3 rows of a single token"),
        Case({"tokens": padded, "bos_id": 3}, "2 rows of different lengths, each ending in 2 and padded with 0"),
        Case({"tokens": draw(4, 4), "bos_id": 0}, "a bos_id of 0, and as many rows as columns"),
        Case({"tokens": draw(11, 17), "bos_id": 9}, "11 rows of 17 tokens"),
    ]


def bos_in_front_of_first(tokens, bos_id):
    """Replace only the very first token in the batch with BOS."""
    first = torch.arange(tokens.numel()).view(tokens.shape) == 0
    return tokens.masked_fill(first, bos_id)


MISTAKES = [
    Mistake(
        "bos_twice",
        STEPS.but(begin=lambda begin: begin.repeat(1, 2)),
        summary="you add bos to each row twice",
        message=(
            "{summary}, so the input is one token longer than the labels. How many bos tokens should each row have?"
        ),
        hints=["For the labels [5, 6, 7] and bos 1, which three tokens should the decoder read?"],
    ),
    Mistake(
        "shifts_left",
        STEPS.but(rest=lambda tokens: tokens[:, 1:], shifted=lambda begin, rest: torch.cat([rest, begin], dim=1)),
        STEPS.but(shifted=lambda tokens: tokens[:, 1:]),
        STEPS.but(shifted=lambda tokens: tokens.roll(-1, dims=1)),
        summary="you shift the tokens to the left",
        message=(
            "{summary}, so each position reads the token *after* the one that it should predict. In which "
            "direction should the tokens move?"
        ),
        hints=["For the labels [5, 6, 7], position 0 should predict 5. Which token may it read?"],
    ),
    Mistake(
        "goes_round",
        STEPS.but(begin=lambda tokens: tokens[:, -1:]),
        STEPS.but(shifted=lambda tokens: tokens.roll(1)),
        summary="you put the last token of a row in front instead of bos",
        message=(
            "You put the last token of a row in front, as `roll` does: for the labels [5, 6, 7], the decoder begins "
            "with 7. Which token should it read at position 0?"
        ),
        hints=["When the decoder generates, which token does it have before it predicts the first one?"],
    ),
    Mistake(
        "cuts_off_a_row",
        STEPS.but(rest=lambda tokens: tokens[:-1]),
        summary="you drop the last *row* instead of the last token of each row",
        message="{summary}, so a whole sentence is missing. Along which dimension do you slice?",
        hints=["You have 2 rows of 3 tokens. What shape should remain when the last token of each row is dropped?"],
    ),
    Mistake(
        "down_the_batch",
        STEPS.but(shifted=lambda tokens, bos_id: torch.cat([torch.full_like(tokens[:1], bos_id), tokens[:-1]])),
        STEPS.but(shifted=lambda tokens: tokens.roll(1, dims=0)),
        STEPS.but(shifted=lambda begin, tokens: torch.cat([begin, tokens.roll(1, dims=0)[:, 1:]], dim=1)),
        summary="you shift whole rows down",
        message=(
            "{summary}, so each sentence reads the tokens of another sentence in the batch. Along which dimension "
            "should the tokens move?"
        ),
        hints=["For the two rows [5, 6, 7] and [8, 9, 4] and bos 1, what should the decoder read in the second row?"],
    ),
    Mistake(
        "rolls_to_the_left",
        STEPS.but(shifted=lambda begin, tokens: torch.cat([begin, tokens.roll(-1, dims=1)[:, 1:]], dim=1)),
        summary="you roll the tokens to the left before you put bos in front",
        message=(
            "{summary}: for the labels [5, 6, 7], position 1 reads 7 instead of 5. In which direction should the "
            "tokens move?"
        ),
        hints=["What is `torch.tensor([5, 6, 7]).roll(-1)`, and what is `.roll(1)`?"],
    ),
    Mistake(
        "bos_in_the_first_row_only",
        STEPS.but(shifted=lambda tokens, bos_id: bos_in_front_of_first(tokens.roll(1, dims=1), bos_id)),
        summary="you write bos into the first row only",
        message=("{summary}, so every other row begins with its own last token. Which entries should you set to bos?"),
        hints=["With 2 rows of tokens, how many entries should be bos? How do you select a whole column?"],
    ),
]


EXERCISE = Exercise(
    reference=shift_right,
    steps=STEPS,
    cases=shift_right_cases,
    points=2,
    verified="Every position reads only the tokens before the one that it should predict.",
    hints=[
        "Take one row with the labels [5, 6, 7], and bos 1. Which three tokens should the decoder read?",
        "Join two pieces side by side: a column of bos, one for each row, and all columns but the last.",
        "`tokens[:, :-1]` is all but the last column. `torch.full((batch, 1), bos_id)` is a column of bos, and "
        "`torch.cat([a, b], dim=1)` puts two tables side by side.",
    ],
    messages={
        "slice_rest: tokens[:, 1:]": Wording(
            "{summary}. From the second position on, each position reads the token that it should predict. Which "
            "token should you drop from each row?",
            summary="you replace the first token with bos instead of shifting the row",
            hints=["For the labels [5, 6, 7], at which position of the input should the 5 be?"],
        ),
        "left_out_rest": Wording(
            "{summary}, so the input is one token longer than the labels. Which token of a row does the decoder never "
            "need to read?",
            summary="you keep the last token of each row",
            hints=["For the labels [5, 6, 7] and bos 1, which three tokens should the decoder read?"],
        ),
        "parts_exchanged_begin: (1, tokens.shape[0])": (
            Wording(
                "You make one row of bos, of shape (1, batch), but each row of the batch needs its own bos in front. "
                "What shape should the bos tokens have?",
                summary="you make a row of bos instead of a column",
                hints=["For 3 rows of tokens, what shape should the bos tokens in front of them have?"],
            )
        ),
    },
    mistakes=MISTAKES,
)
