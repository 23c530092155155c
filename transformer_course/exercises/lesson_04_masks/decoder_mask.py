"""What a decoder may attend to: real tokens, up to itself."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_04_masks.padding_mask import VOCAB_SIZE, draw_padded, real
from transformer_course.exercises.shared import mask_mistakes, padding_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def decoder_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position look at the real tokens up to itself."""
    n = tokens.shape[1]
    real = (tokens != pad_id)[:, None, None, :]  # what may be attended to: (batch, 1, 1, n)
    not_later = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril()  # (n, n)
    return real & not_later


def keys(real):
    """add axes of length 1 for heads and queries → the keys that are real: (batch, 1, 1, n)"""
    return real[:, None, None, :]


def n(tokens):
    """count the tokens of a sentence → the number of tokens of a sentence: the length of the second axis"""
    return tokens.shape[1]


def diagonal():
    """choose the last diagonal that stays → the number of the last diagonal that stays: 0, the main one"""
    return 0


def not_later(n, diagonal):
    """make a triangle of that size → the keys that do not come later: the lower triangle of an n × n matrix"""
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def sign():
    """join the two by *and* → the sign that joins the two: `&`, which means and"""
    return torch.logical_and


def both(keys, not_later, sign):
    """broadcast them together → the keys that are real and do not come later: (batch, 1, n, n)"""
    return sign(keys, not_later)


def mask(both):
    """leave it as it is: True and False → the mask: that matrix, as it is"""
    return both


STEPS = InSteps(real, keys, n, diagonal, not_later, sign, both, mask, reference=decoder_mask)


def decoder_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    pad = int(torch.randint(2, VOCAB_SIZE - 1, (), generator=rng))

    def case(pad_id: int, rows: list[tuple[int, int]], length: int, shows: str) -> Case:
        return Case({"tokens": draw_padded(rng, pad_id, rows, length, zero=pad_id != 0), "pad_id": pad_id}, shows)

    return [
        case(0, [(0, 1)], 3, "one sentence of 3 tokens, the last of them padding"),
        case(0, [(0, 0), (0, 1)], 2, "2 sentences, one of them padded"),
        case(0, [(0, 0), (0, 1), (0, 0), (0, 0)], 1, "4 sentences of one token, which may be padding"),
        case(pad, [(0, 0), (0, 2), (0, 1)], 4, "a pad_id that is not 0"),
        case(pad, [(0, 1), (0, 2)], 3, "2 sentences, both of them padded"),
        case(pad, [(2, 0), (0, 1), (0, 7)], 7, "padding in front as well, and a sentence of nothing else"),
        case(pad, [(0, i) for i in torch.randperm(11, generator=rng).tolist()], 13, "11 sentences of 13 tokens"),
    ]


MISTAKES = [
    Mistake(
        "either_will_do",
        STEPS.but(sign=lambda: torch.logical_or),
        summary="it is enough that one of the two conditions holds",
        message=(
            "A key may be attended to if it is real *or* not later: every real token of the future is visible, and so "
            "is padding in the past. Look at how the two are joined."
        ),
        hints=["What does the first row of the first sentence say?"],
    ),
    Mistake(
        "padding_forgotten",
        STEPS.but(keys=lambda keys: torch.ones_like(keys)),
        STEPS.but(both=lambda not_later: not_later[None, None]),
        summary="padding is not hidden",
        message=(
            "This is the causal mask alone: `pad_id` has no effect, so padding may be attended to. Look for its mask."
        ),
        hints=["For a sentence that ends in padding, what does the last column say?"],
    ),
    Mistake(
        "tokens_for_their_number",
        STEPS.but(n=lambda tokens: tokens),
        summary="the tokens are handed on where their number is needed",
        message="It crashes: the causal mask is made from the tokens themselves, where it needs their number.",
        hints=["Print what you hand to `causal_mask`. What does its signature ask for?"],
    ),
    *padding_mistakes.which_tokens(STEPS),
]


EXERCISE = Exercise(
    reference=decoder_mask,
    steps=STEPS,
    cases=decoder_mask_cases,
    points=2,
    verified="A key may be attended to if it is a real token *and* does not come later.",
    hints=[
        "There are both halves: `parts.padding_mask(tokens, pad_id)` and `parts.causal_mask(n)`. What shapes do they "
        "have?",
        "(batch, 1, 1, n) and (n, n) are broadcast together. What comes out?",
        "A key may be attended to if the first says so *and* the second does. For tensors of booleans, `&` means and.",
    ],
    messages={
        "inverted_mask": mask_mistakes.INVERTED_MESSAGE,
        "call_left_out_not_later: torch.ones(n, n, dtype=torch.bool)": (
            "This is the padding mask alone: every position may attend to the tokens that come later. Look for the "
            "causal mask."
        ),
        "inverted_not_later": (
            "The two halves speak different languages: for padding True means may attend, for the future it "
            "means forbidden. So only the future is visible."
        ),
    },
    mistakes=MISTAKES,
)
